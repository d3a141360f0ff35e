// ByteNet (Kalchbrenner et al. 2016): dilated convolutions, and a decoder over the encoder output
// position by position instead of attention. The encoder runs over the source, lengthened by zeros
// (dynamic unfolding); target position t reads encoder position t and the tokens before t.
// Differences from the paper: subwords; layer normalization and dropout as in Tensor2Tensor's
// version; a convolution over encoder output and embeddings, concatenated, as the first decoder
// layer (Tensor2Tensor has a ReLU before and a norm after it); and a final norm before the
// projection.
#pragma once

#include <memory>
#include <vector>

#include "kernels/libtorch.h"
#include "model/bytenet/config.h"
#include "model/layers/convolution.h"
#include "model/layers/dropout.h"
#include "model/layers/linear.h"
#include "model/layers/norm.h"
#include "model/seq2seq.h"

namespace attn {

/// The residual block (section 3.6 and figure 3, left): x + dropout(F(x)), where F narrows d_model
/// to `hidden`, convolves and widens again; norm and ReLU before each of the three products.
class ByteNetBlockImpl : public torch::nn::Module {
 public:
  ByteNetBlockImpl(const ByteNetConfig& config, int64_t dilation, bool causal);

  /// [N, D] to [N, D].
  torch::Tensor forward(const torch::Tensor& x_ND, const Segments& rows);
  /// One decoding step, [R, D] to [R, D].
  torch::Tensor step(const torch::Tensor& x_RD, StepInputs& inputs, const StepAncestors& ancestors);

  NormLayer narrow_norm = nullptr, convolution_norm = nullptr, widen_norm = nullptr;
  Linear narrow = nullptr, convolution = nullptr, widen = nullptr;
  Dropout dropout = nullptr;

 private:
  torch::Tensor narrowed(const torch::Tensor& x);
  torch::Tensor widened(const torch::Tensor& x, const torch::Tensor& window);

  ConvolutionShape shape_;
};
TORCH_MODULE(ByteNetBlock);

class ByteNetImpl : public Seq2SeqModel {
 public:
  /// Parameters are initialized from torch's default generator.
  ByteNetImpl(const ByteNetConfig& config, const VocabularySizes& sizes);

  /// The memory's sentences have the unfolded lengths.
  Memory encode(const TokenSequences& source) override;
  torch::Tensor decode(const TokenSequences& target_in, const Memory& memory) override;

  /// State of incremental decoding: the last inputs of each convolution.
  struct State {
    Memory memory;
    StepAncestors ancestors;
    StepInputs join_inputs;
    std::vector<StepInputs> block_inputs;
  };
  State start(const Memory& memory);
  /// One decoding step: the pre-softmax rows [R, D].
  torch::Tensor step(State& state, const StepRows& rows);

  std::vector<ByteNetBlock> encoder_blocks, decoder_blocks;
  Linear join = nullptr;  ///< over encoder output and target embeddings: [D, kernel · 2 D]
  NormLayer encoder_norm = nullptr, decoder_norm = nullptr;  ///< norms of the last blocks' sums

 private:
  std::shared_ptr<const InferenceModel> make_inference(WeightType weights) override;
  void add_blocks(const char* name, bool causal, std::vector<ByteNetBlock>& blocks);
  double embedding_scale() const;
  torch::Tensor embed(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                      const torch::Tensor& features_ND = {});

  ByteNetConfig config_;
  Dropout embedding_dropout_ = nullptr;
};
TORCH_MODULE(ByteNet);

}  // namespace attn
