#include "eval/search/ensemble.h"

#include <algorithm>
#include <utility>

namespace attn {
namespace {

class EnsembleSession : public DecodeSession {
 public:
  EnsembleSession(std::vector<std::unique_ptr<DecodeSession>> members, EnsembleMean mean)
      : members_(std::move(members)), mean_(mean) {}

  torch::Tensor step(const StepRows& rows) override {
    const torch::NoGradGuard no_grad;
    std::vector<torch::Tensor> logits_RV;
    for (const auto& member : members_) logits_RV.push_back(member->step(rows));
    return mean_logits(logits_RV, mean_);
  }

 private:
  std::vector<std::unique_ptr<DecodeSession>> members_;
  EnsembleMean mean_;
};

class EnsembleInference : public InferenceModel {
 public:
  EnsembleInference(std::vector<std::shared_ptr<const InferenceModel>> members, EnsembleMean mean)
      : members_(std::move(members)), mean_(mean) {}

  std::unique_ptr<DecodeSession> start(const TokenSequences& source) const override {
    std::vector<std::unique_ptr<DecodeSession>> sessions;
    for (const auto& member : members_) sessions.push_back(member->start(source));
    return std::make_unique<EnsembleSession>(std::move(sessions), mean_);
  }

 private:
  std::vector<std::shared_ptr<const InferenceModel>> members_;
  EnsembleMean mean_;
};

}  // namespace

Ensemble::Ensemble(Seq2SeqModel& model) : members_{&model}, mean_(EnsembleMean::probability) {}

Ensemble::Ensemble(std::vector<Seq2SeqModel*> members, EnsembleMean mean)
    : members_(std::move(members)), mean_(mean) {
  TORCH_CHECK(!members_.empty(), "Ensemble: no members");
  const VocabularySizes& first = members_.front()->sizes();
  for (const Seq2SeqModel* member : members_) {
    const VocabularySizes& sizes = member->sizes();
    TORCH_CHECK(sizes.source == first.source && sizes.target == first.target,
                "Ensemble: vocabularies of ", first.source, " and ", first.target, " tokens, and ",
                sizes.source, " and ", sizes.target);
    TORCH_CHECK(member->device() == device(), "Ensemble: members on different devices");
  }
}

std::optional<int64_t> Ensemble::max_length() const {
  std::optional<int64_t> smallest;
  for (const Seq2SeqModel* member : members_) {
    const auto limit = member->max_length();
    if (limit) smallest = std::min(smallest.value_or(*limit), *limit);
  }
  return smallest;
}

void Ensemble::eval() const {
  for (Seq2SeqModel* member : members_) member->eval();
}

std::shared_ptr<const InferenceModel> Ensemble::inference(const SearchConfig& search) const {
  if (members_.size() == 1) return members_.front()->inference(search.weights);
  std::vector<std::shared_ptr<const InferenceModel>> all;
  for (Seq2SeqModel* member : members_) all.push_back(member->inference(search.weights));
  return std::make_shared<EnsembleInference>(std::move(all), search.ensemble);
}

std::vector<torch::Tensor> Ensemble::forward(const TokenSequences& source,
                                             const TokenSequences& target_in) const {
  std::vector<torch::Tensor> rows_ND;
  for (Seq2SeqModel* member : members_) rows_ND.push_back(member->forward(source, target_in));
  return rows_ND;
}

torch::Tensor Ensemble::project(std::span<const torch::Tensor> rows_ND, int64_t begin,
                                int64_t count) const {
  std::vector<torch::Tensor> logits_NV;
  for (size_t i = 0; i < members_.size(); ++i) {
    const torch::Tensor rows = rows_ND[i].narrow(0, begin, count);
    logits_NV.push_back(members_[i]->project(rows).to(torch::kFloat32));
  }
  return mean_logits(logits_NV, mean_);
}

torch::Tensor mean_logits(std::span<const torch::Tensor> logits_RV, EnsembleMean mean) {
  if (logits_RV.size() == 1) return logits_RV.front();
  std::vector<torch::Tensor> log_probs_RV;
  for (const torch::Tensor& logits : logits_RV) {
    log_probs_RV.push_back(logits.to(torch::kFloat32).log_softmax(-1));
  }
  const torch::Tensor all = torch::stack(log_probs_RV);
  // The softmax normalizes both: the sum of probabilities and the mean of log-probabilities.
  return mean == EnsembleMean::probability ? all.logsumexp(0) : all.mean(0);
}

}  // namespace attn
