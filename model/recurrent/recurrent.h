// Recurrent encoder-decoders with attention, the baselines of the Transformer, in two forms. GNMT's
// (Wu et al. 2016): the first decoder layer reads the target and computes the attention query, the
// other layers read its output and the context. Luong's (Luong et al. 2015): the last layer
// computes the query, and its state and context become the attentional vector. Without input
// feeding (published in both) the attention of all target positions is computed at once in
// training. Not as published: the decoder begins at tanh(W · the mean of the memory) in each layer,
// and GNMT's softmax reads tanh(W [state; context; embedding]).
#pragma once

#include <memory>
#include <vector>

#include "kernels/libtorch.h"
#include "model/layers/linear.h"
#include "model/layers/recurrence.h"
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

  /// State of incremental decoding.
  struct State {
    RecurrentAttentionLayerImpl::Memory memory;
    std::vector<RecurrentState> layers;  ///< after the last step; initially one row per sentence
    torch::Tensor fed;                   ///< with input feeding: what the next step is fed
  };
  State start(const Memory& memory);
  /// One decoding step: the pre-softmax rows [R, D].
  torch::Tensor step(State& state, const StepRows& rows);

  std::vector<RecurrentLayer> encoder_layers, decoder_layers;
  std::vector<Linear>
      first_states;  ///< initial states per decoder layer, from the mean of the memory
  RecurrentAttentionLayer attention = nullptr;
  Linear output = nullptr;  ///< top state and context (GNMT: and embedding) to pre-softmax rows

 private:
  std::shared_ptr<const InferenceModel> make_inference(WeightType weights) override;
  using AttentionMemory = RecurrentAttentionLayerImpl::Memory;
  /// Teacher forcing of layers and attention; `first`: their initial states.
  struct Forced {
    const Segments& rows;
    const TimeMajor& time;
    const std::vector<torch::Tensor>& first;
    const AttentionMemory& memory;
  };
  struct Attended {
    torch::Tensor state, context;
    torch::Tensor weights = {};  ///< attention weights of attend_step, [R, M]
  };

  double embedding_scale() const;
  torch::Tensor embed(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N);
  torch::Tensor dropped(const torch::Tensor& x) const;
  /// Initial state of each decoder layer, [B, hidden].
  std::vector<torch::Tensor> first_states_of(const Memory& memory);
  RecurrentState state_of(const torch::Tensor& hidden) const;
  /// Decoder layer i over all rows; `context_NC` is undefined if it reads none.
  torch::Tensor layer_rows(size_t i, const torch::Tensor& x_NI, const torch::Tensor& context_NC,
                           const Forced& forced);
  /// The first layer in GNMT's form, all layers in Luong's, and what they attend to.
  Attended attend_at_once(const torch::Tensor& embedded_ND, const Forced& forced);
  /// One position of each row in the layers and attention of attend_at_once.
  Attended attend_step(const torch::Tensor& in_RI, std::vector<RecurrentState>& layers,
                       const AttentionMemory& memory);
  /// The same with input feeding: position by position. In Luong's form the state returned is the
  /// attentional vector.
  Attended attend_in_sequence(const torch::Tensor& embedded_ND, const Forced& forced);
  torch::Tensor with_fed(const torch::Tensor& embedded_RD, const torch::Tensor& fed_RF) const;
  torch::Tensor output_rows(const torch::Tensor& top, const torch::Tensor& context,
                            const torch::Tensor& embedded);
  bool is_gnmt() const { return config_.decoder == RecurrentDecoder::gnmt; }

  RecurrentConfig config_;
};
TORCH_MODULE(Recurrent);

}  // namespace attn
