// Closed forms of parameters and FLOPs, from the config alone. Those of an architecture are in its
// folder's size.cpp.
#pragma once

#include <cstdint>

#include "model/config.h"

namespace attn {

/// Lengths of one sentence pair in tokens, EOS included.
struct PairLengths {
  int64_t source = 0;
  int64_t target = 0;
};

/// Trainable parameters: the column "params" of Table 3.
int64_t parameter_count(const TransformerConfig& config, const VocabularySizes& sizes);
int64_t parameter_count(const RecurrentConfig& config, const VocabularySizes& sizes);
int64_t parameter_count(const ConvolutionalConfig& config, const VocabularySizes& sizes);
int64_t parameter_count(const ByteNetConfig& config, const VocabularySizes& sizes);
inline int64_t parameter_count(const ModelConfig& config, const VocabularySizes& sizes) {
  return std::visit([&](const auto& chosen) { return parameter_count(chosen, sizes); },
                    config.options);
}

/// FLOPs of the matrix products of one forward pass over one pair; a multiply-add counts as two.
/// Causal and restricted self-attention count unmasked positions only, convolutions also their
/// zeros beyond a sentence's ends. Training costs three times this. (Table 2 of the paper counts
/// sustained FLOP/s × time instead.)
double forward_flops(const TransformerConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);
double forward_flops(const RecurrentConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);
double forward_flops(const ConvolutionalConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);
double forward_flops(const ByteNetConfig& config, const VocabularySizes& sizes,
                     const PairLengths& lengths);
inline double forward_flops(const ModelConfig& config, const VocabularySizes& sizes,
                            const PairLengths& lengths) {
  return std::visit([&](const auto& chosen) { return forward_flops(chosen, sizes, lengths); },
                    config.options);
}

}  // namespace attn
