#include "model/config.h"

#include <utility>

namespace attn {
namespace {

// The defaults of the alternative at `index`.
template <size_t... I>
ModelConfig::Options defaults_of(size_t index, std::index_sequence<I...>) {
  ModelConfig::Options options;
  ((index == I ? void(options.emplace<I>()) : void()), ...);
  return options;
}

}  // namespace

void ModelConfig::set_architecture(Architecture architecture) {
  if (architecture == this->architecture()) return;
  options = defaults_of(static_cast<size_t>(architecture),
                        std::make_index_sequence<std::variant_size_v<Options>>());
}

void ModelConfig::validate() const {
  std::visit([](const auto& chosen) { chosen.validate(); }, options);
}

std::optional<int64_t> ModelConfig::max_length() const {
  return std::visit([](const auto& chosen) { return chosen.max_length(); }, options);
}

EmbeddingSharing ModelConfig::embedding_sharing() const {
  return std::visit([](const auto& chosen) { return chosen.embedding_sharing; }, options);
}

std::string ModelConfig::muon_conflict() const {
  return std::visit([](const auto& chosen) { return chosen.muon_conflict(); }, options);
}

}  // namespace attn
