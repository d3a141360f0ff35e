// A recurrent encoder-decoder with attention, the baseline of the Transformer. The encoder is
// bidirectional; the first decoder layer reads the target and computes the attention query, the
// other layers read its output and the context (as in GNMT, Wu et al. 2016, but without feeding
// contexts back into the first layer, so that training computes attention for all positions at
// once).
#pragma once

#include <memory>
#include <vector>

#include "kernels/libtorch.h"
#include "model/layers/embedding_matrices.h"
#include "model/layers/linear.h"
#include "model/recurrent/config.h"
#include "model/recurrent/layers.h"
#include "model/seq2seq.h"

namespace attn {

class RecurrentImpl : public Seq2SeqModel {
 public:
  /// Parameters are initialized from torch's default generator.
  RecurrentImpl(const RecurrentConfig& config, const VocabularySizes& sizes);

  Memory encode(const TokenSequences& source) override;
  torch::Tensor decode(const TokenSequences& target_in, const Memory& memory) override;
  OutputLayer output_layer() const override { return {embeddings.of_output()}; }
  std::shared_ptr<const InferenceModel> inference(const SearchBackend& backend) override;
  std::shared_ptr<Seq2SeqModel> replica() const override;
  int64_t width() const override { return config_.d_model; }

  /// State of incremental decoding.
  struct State {
    RecurrentAttentionLayerImpl::Memory memory;
    std::vector<RecurrentState> layers;  ///< after the last step; initially one row per sentence
  };
  State start(const Memory& memory);
  /// One decoding step: the pre-softmax rows [R, D].
  torch::Tensor step(State& state, const StepRows& rows);

  EmbeddingMatrices embeddings;
  std::vector<RecurrentLayer> encoder_layers, decoder_layers;
  std::vector<Linear>
      first_states;  ///< initial states per decoder layer, from the mean of the memory
  RecurrentAttentionLayer attention = nullptr;
  Linear output = nullptr;  ///< top state, context and embedding to pre-softmax rows

 private:
  torch::Tensor embed(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N);
  torch::Tensor dropped(const torch::Tensor& x) const;
  /// Initial state of each decoder layer, [B, hidden].
  std::vector<torch::Tensor> first_states_of(const Memory& memory);
  torch::Tensor output_rows(const torch::Tensor& top, const torch::Tensor& context,
                            const torch::Tensor& embedded);

  RecurrentConfig config_;
};
TORCH_MODULE(Recurrent);

}  // namespace attn
