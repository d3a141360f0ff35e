// The "model" part of an experiment: one architecture and its options.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

#include "base/enum_names.h"
#include "model/bytenet/config.h"
#include "model/convolutional/config.h"
#include "model/recurrent/config.h"
#include "model/transformer/config.h"
#include "model/vocabulary.h"

namespace attn {

/// In the order of ModelConfig's alternatives.
enum class Architecture { transformer, recurrent, convolutional, bytenet };

template <>
struct EnumNames<Architecture> {
  static constexpr auto values =
      std::to_array<EnumName<Architecture>>({{Architecture::transformer, "transformer"},
                                             {Architecture::recurrent, "recurrent"},
                                             {Architecture::convolutional, "convolutional"},
                                             {Architecture::bytenet, "bytenet"}});
};

/// A union tagged by "architecture", by default the Transformer. Each alternative is a config
/// struct with max_length(), validate(), `d_model`, `embedding_sharing` and muon_conflict().
struct ModelConfig {
  static constexpr std::array kTags = {"architecture"};
  static constexpr bool kTagReplaces = true;
  using Options =
      std::variant<TransformerConfig, RecurrentConfig, ConvolutionalConfig, ByteNetConfig>;

  Options options;

  ModelConfig() = default;
  template <class Chosen>
  requires std::is_constructible_v<Options, Chosen> ModelConfig(const Chosen& config)
      : options(config) {}

  /// The options of the current architecture, which must be Chosen.
  template <class Chosen>
  const Chosen& get() const {
    return std::get<Chosen>(options);
  }
  template <class Chosen>
  Chosen& get() {
    return std::get<Chosen>(options);
  }
  Architecture architecture() const { return static_cast<Architecture>(options.index()); }

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    Architecture architecture = self.architecture();
    visit("architecture", architecture, "model architecture; the other options depend on it");
    if constexpr (!std::is_const_v<Self>) self.set_architecture(architecture);
    std::visit([&](auto& chosen) { chosen.fields(chosen, visit); }, self.options);
  }
  bool operator==(const ModelConfig&) const = default;

  /// Switches to the defaults of `architecture` unless it is set already.
  void set_architecture(Architecture architecture) {
    if (architecture == this->architecture()) return;
    options = alternative_of<Options>(static_cast<size_t>(architecture));
  }
  /// Throws ConfigError naming the first invalid option.
  void validate() const {
    std::visit([](const auto& chosen) { chosen.validate(); }, options);
  }
  /// Maximum number of positions of a sentence, if there is a limit.
  std::optional<int64_t> max_length() const {
    return std::visit([](const auto& chosen) { return chosen.max_length(); }, options);
  }
  /// Width of the embeddings and of the pre-softmax rows.
  int64_t d_model() const {
    return std::visit([](const auto& chosen) { return chosen.d_model; }, options);
  }
  EmbeddingSharing embedding_sharing() const {
    return std::visit([](const auto& chosen) { return chosen.embedding_sharing; }, options);
  }
  /// Why Muon cannot train the model; empty: it can.
  std::string muon_conflict() const {
    return std::visit([](const auto& chosen) { return chosen.muon_conflict(); }, options);
  }
};

}  // namespace attn
