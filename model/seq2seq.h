// The interface of encoder-decoder models to training, search, evaluators and benchmarks. A new
// architecture implements it in its own folder and is added to model/config.h, model/size.h and
// model/make_model.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/precision.h"
#include "model/config.h"
#include "model/embedding_matrices.h"
#include "model/segments.h"
#include "model/step_rows.h"

namespace attn {

/// Encoder output: rows [M, ·] of all source sentences, as the model's decode() reads them.
struct Memory {
  torch::Tensor rows_MD;
  Segments segments;
};

/// Incremental decoding of one batch. Not thread-safe.
class DecodeSession {
 public:
  virtual ~DecodeSession() = default;
  /// Logits [R, V] of the next token for each row; valid until the next call.
  virtual torch::Tensor step(const StepRows& rows) = 0;
};

/// A model prepared for search. start() is thread-safe.
class InferenceModel {
 public:
  virtual ~InferenceModel() = default;
  /// Encodes the sources (EOS included). The session must not outlive the inference model.
  virtual std::unique_ptr<DecodeSession> start(const TokenSequences& source) const = 0;
};

/// An encoder-decoder. Batches are ragged rows; a model may use any layout internally.
class Seq2SeqModel : public torch::nn::Module {
 public:
  /// Registers the embeddings, uninitialized. Throws ConfigError for an invalid config.
  Seq2SeqModel(const ModelConfig& config, const VocabularySizes& sizes)
      : embeddings(*this, (config.validate(), config.embedding_sharing()), sizes, config.d_model()),
        model_config_(config),
        sizes_(sizes) {}

  virtual Memory encode(const TokenSequences& source) = 0;
  /// Teacher forcing on the target input (BOS first): the decoder's final hidden states [N, D],
  /// which project() maps to logits.
  virtual torch::Tensor decode(const TokenSequences& target_in, const Memory& memory) = 0;

  /// Whether inference() has packed inference for the options and device of this model.
  virtual bool has_packed_inference() const { return false; }
  /// The options that keep this model from a fast path, in words for the log.
  virtual std::vector<std::string> options_as_read() const { return {}; }
  /// Throws ConfigError if the model or the processor does not support weights of this type in
  /// search.
  void require_weight_type(WeightType weights) const;
  /// The model for search. It may hold copies of the weights: create a new one after an update.
  /// Throws like require_weight_type().
  std::shared_ptr<const InferenceModel> inference(WeightType weights = WeightType::fp32);
  /// A model of the same shapes, whose weights BatchGradient replaces by shared ones.
  std::shared_ptr<Seq2SeqModel> replica() const;

  /// Maximum number of positions of a sentence, if there is a limit.
  std::optional<int64_t> max_length() const { return model_config_.max_length(); }
  /// d_model, as in the paper's learning-rate schedule.
  virtual int64_t width() const { return model_config_.d_model(); }
  /// Factor on the learning rate of hidden matrices (Layer::hidden_matrices), as in µP.
  virtual double hidden_rate() const { return 1.0; }

  /// encode, then decode.
  torch::Tensor forward(const TokenSequences& source, const TokenSequences& target_in);
  /// Rows [N, D] to logits [N, V of the target].
  torch::Tensor project(const torch::Tensor& rows_ND) const;
  torch::Device device() const { return embeddings.of_output().device(); }
  const VocabularySizes& sizes() const { return sizes_; }

  EmbeddingMatrices embeddings;

 protected:
  /// The result of inference(), for a type that is supported.
  virtual std::shared_ptr<const InferenceModel> make_inference(WeightType weights) = 0;

 private:
  ModelConfig model_config_;
  VocabularySizes sizes_;
};

/// A model with weights initialized from torch's default generator. Throws ConfigError for an
/// invalid config.
std::shared_ptr<Seq2SeqModel> make_model(const ModelConfig& config, const VocabularySizes& sizes);

}  // namespace attn
