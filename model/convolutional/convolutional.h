// ConvS2S (Gehring et al. 2017): gated convolutions on both sides, attention in every decoder
// layer, learned positions, weight normalization. Differences from the published code: the
// pre-softmax projection has neither bias nor weight normalization and may be tied, as in all
// models here, and its input has the width of the embeddings.
#pragma once

#include <memory>
#include <vector>

#include "kernels/libtorch.h"
#include "model/convolutional/config.h"
#include "model/convolutional/layers.h"
#include "model/seq2seq.h"

namespace attn {

class ConvolutionalImpl : public Seq2SeqModel {
 public:
  /// Parameters are initialized from torch's default generator.
  ConvolutionalImpl(const ConvolutionalConfig& config, const VocabularySizes& sizes);

  /// The memory's rows are keys and values side by side, [M, 2 D].
  Memory encode(const TokenSequences& source) override;
  torch::Tensor decode(const TokenSequences& target_in, const Memory& memory) override;

  /// State of incremental decoding: the last inputs of each convolution.
  struct State {
    ConvolutionalMemory memory;
    StepAncestors ancestors;
    std::vector<StepInputs> inputs;  ///< by layer
  };
  State start(const Memory& memory);
  /// One decoding step: the pre-softmax rows [R, D].
  torch::Tensor step(State& state, const StepRows& rows);

  torch::Tensor source_positions, target_positions;  ///< [max_positions, D]
  WeightNormLinear encoder_in = nullptr, encoder_out = nullptr;
  WeightNormLinear decoder_in = nullptr, decoder_out = nullptr;
  std::vector<GatedConvolution> encoder_layers, decoder_layers;
  std::vector<ConvolutionalAttention> attentions;  ///< by decoder layer

 private:
  std::shared_ptr<const InferenceModel> make_inference(WeightType weights) override;
  void reset_parameters();
  double embedding_scale() const;
  torch::Tensor embed(const torch::Tensor& weight_VD, const torch::Tensor& positions_PD,
                      const torch::Tensor& tokens_N, const torch::Tensor& positions_N,
                      const torch::Tensor& features_ND = {});
  torch::Tensor dropped(const torch::Tensor& x) const;
  ConvolutionalMemory split(const Memory& memory) const;
  /// The decoder above the embeddings; `convolved` computes layer i.
  template <class Convolved>
  torch::Tensor decode_rows(const torch::Tensor& embedded_ND, const Segments& rows,
                            const ConvolutionalMemory& memory, Convolved&& convolved);

  ConvolutionalConfig config_;
};
TORCH_MODULE(Convolutional);

}  // namespace attn
