#include "model/config.h"

namespace attn {

void ModelConfig::set_architecture(Architecture architecture) {
  if (architecture == this->architecture()) return;
  options = alternative_of<Options>(static_cast<size_t>(architecture));
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
