// One model, or several that search and forced decoding combine into one distribution.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "eval/search/config.h"
#include "model/seq2seq.h"

namespace attn {

/// Models with the same vocabularies, of any architectures, on one device. They must outlive this;
/// cheap to copy.
class Ensemble {
 public:
  /// A single model. Implicit, so that a model can be passed wherever an ensemble is expected.
  Ensemble(Seq2SeqModel& model);
  /// `mean` is used by forced decoding (search: SearchConfig::ensemble). TORCH_CHECKs at least one
  /// member, and that vocabulary sizes and devices are equal.
  Ensemble(std::vector<Seq2SeqModel*> members, EnsembleMean mean);

  std::span<Seq2SeqModel* const> members() const { return members_; }
  torch::Device device() const { return members_.front()->device(); }
  /// The smallest limit of the members, if any has one.
  std::optional<int64_t> max_length() const;
  /// Sets all members to evaluation mode.
  void eval() const;

  /// The members prepared for search as one model. Throws like Seq2SeqModel::require_weight_type().
  std::shared_ptr<const InferenceModel> inference(const SearchConfig& search) const;

  /// Teacher forcing: the final hidden states [N, D] of each member's decoder.
  std::vector<torch::Tensor> forward(const TokenSequences& source,
                                     const TokenSequences& target_in) const;
  /// Logits [count, V], float32, of the rows from `begin` of forward()'s result.
  torch::Tensor project(std::span<const torch::Tensor> rows_ND, int64_t begin, int64_t count) const;

 private:
  std::vector<Seq2SeqModel*> members_;
  EnsembleMean mean_;
};

/// Logits [R, V] whose softmax is the mean of the members' distributions; a single member's logits
/// as they are.
torch::Tensor mean_logits(std::span<const torch::Tensor> logits_RV, EnsembleMean mean);

}  // namespace attn
