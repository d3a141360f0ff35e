// Scales of residual connections and initial weights that depend on depth or width.
#pragma once

#include "kernels/libtorch.h"
#include "model/transformer/config.h"

namespace attn {

/// DeepNorm (Wang et al. 2022, table 2): LN(α x + F(x)), and β multiplies the initial weights of
/// the feed-forward networks (of a gated one those of the gate and the output), W^V and W^O. 1 and
/// 1 unless norm = deep.
struct DeepScale {
  double alpha = 1.0, beta = 1.0;
};
/// Encoder: α = 0.81 (N⁴M)^(1/16), β = 0.87 (N⁴M)^(-1/16) of N layers, and M of the decoder. This
/// is the paper's form; github.com/microsoft/torchscale (issue 16) divides the initial weights by
/// (N⁴M)^(1/16) / 1.15 instead, a factor of 1.15 for 0.87.
DeepScale encoder_scale(const TransformerConfig& config);
/// Decoder: α = (3M)^(1/4), β = (12M)^(-1/4).
DeepScale decoder_scale(const TransformerConfig& config);

/// Sets the scales of both stacks: DeepNorm's; those of Initialization::depth; with µP the initial
/// variance 1 / inputs of hidden matrices. To be called before the parameters are initialized.
void set_scales(const TransformerConfig& config, torch::nn::Module& encoder,
                torch::nn::Module& decoder);

}  // namespace attn
