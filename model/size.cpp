#include "model/size.h"

namespace attn {

int64_t parameter_count(const ModelConfig& config, const VocabularySizes& sizes) {
  return std::visit([&](const auto& chosen) { return parameter_count(chosen, sizes); },
                    config.options);
}

double forward_flops(const ModelConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths) {
  return std::visit([&](const auto& chosen) { return forward_flops(chosen, sizes, lengths); },
                    config.options);
}

}  // namespace attn
