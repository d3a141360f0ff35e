// The seam between models and everything else: training, search, evaluators and benchmarks know an
// encoder-decoder by these interfaces alone. A new architecture implements them in a folder of its
// own and is named in model/config.h, model/size.cpp and model/make_model.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "kernels/libtorch.h"
#include "model/config.h"
#include "model/search_backend.h"
#include "model/segments.h"
#include "model/step_rows.h"

namespace attn {

/// The encoder's output: rows [M, D] of all source sentences, end to end.
struct Memory {
  torch::Tensor rows_MD;
  Segments segments;
};

/// The pre-softmax projection: logits = rows [N, D] times weight_VDᵀ.
struct OutputLayer {
  torch::Tensor weight_VD;
};

/// Decodes one batch, one position at a time. Not for use by several threads at once.
class DecodeSession {
 public:
  virtual ~DecodeSession() = default;
  /// Logits [R, V] of the next token for each row; valid until the next call.
  virtual torch::Tensor step(const StepRows& rows) = 0;
};

/// A model as search uses it. Several threads may start sessions of one at the same time.
class InferenceModel {
 public:
  virtual ~InferenceModel() = default;
  /// Encodes the sources (EOS included). The session must not outlive the inference model.
  virtual std::unique_ptr<DecodeSession> start(const TokenSequences& source) const = 0;
};

/// An encoder-decoder. Batches are packed rows; how a model lays them out inside is its own affair.
class Seq2SeqModel : public torch::nn::Module {
 public:
  explicit Seq2SeqModel(const VocabularySizes& sizes) : sizes_(sizes) {}

  virtual Memory encode(const TokenSequences& source) = 0;
  /// Teacher forcing: target input (BOS first) to the rows [N, D] that the output layer takes.
  virtual torch::Tensor decode(const TokenSequences& target_in, const Memory& memory) = 0;
  virtual OutputLayer output_layer() const = 0;

  /// Whether inference() has a fast path for this model's options, on the device where it is.
  virtual bool has_packed_inference() const { return false; }
  /// Throws ConfigError where the backend needs a fast path that the model does not have, or
  /// instructions that the processor does not have.
  void require_backend(const SearchBackend& backend) const;
  /// The model for search. A fast path may keep copies of the weights, so make another one when
  /// they have changed. Throws as require_backend.
  virtual std::shared_ptr<const InferenceModel> inference(const SearchBackend& backend) = 0;
  /// A model of the same shapes with weights of its own, for BatchGradient to share weights with.
  virtual std::shared_ptr<Seq2SeqModel> replica() const = 0;

  /// The most positions of a sentence, if there is a limit.
  virtual std::optional<int64_t> max_length() const { return {}; }
  /// d_model of the paper's learning-rate schedule.
  virtual int64_t width() const = 0;

  /// encode, then decode.
  torch::Tensor forward(const TokenSequences& source, const TokenSequences& target_in);
  /// Rows [N, D] to logits [N, V of the target].
  torch::Tensor project(const torch::Tensor& rows_ND) const;
  torch::Device device() const { return output_layer().weight_VD.device(); }
  const VocabularySizes& sizes() const { return sizes_; }

 private:
  VocabularySizes sizes_;
};

/// A model of this config with weights drawn from torch's generator. Throws ConfigError for a
/// config that contradicts itself or the vocabularies.
std::shared_ptr<Seq2SeqModel> make_model(const ModelConfig& config, const VocabularySizes& sizes);

}  // namespace attn
