#include "model/step_inference.h"

#include <utility>
#include <vector>

namespace attn {
namespace {

class PrefixSession : public DecodeSession {
 public:
  PrefixSession(std::shared_ptr<Seq2SeqModel> model, const TokenSequences& source)
      : model_(std::move(model)), memory_(model_->encode(source)) {}

  torch::Tensor step(const StepRows& rows) override {
    const torch::NoGradGuard no_grad;
    extend(rows);
    std::vector<int64_t> tokens, lengths, last, memory_rows, memory_lengths;
    for (size_t r = 0; r < prefixes_.size(); ++r) {
      tokens.insert(tokens.end(), prefixes_[r].begin(), prefixes_[r].end());
      lengths.push_back(std::ssize(prefixes_[r]));
      last.push_back(static_cast<int64_t>(tokens.size()) - 1);
      const int64_t sentence = rows.sentences[r];
      memory_lengths.push_back(memory_.segments.length(sentence));
      for (int64_t i = 0; i < memory_lengths.back(); ++i) {
        memory_rows.push_back(memory_.segments.offset(sentence) + i);
      }
    }
    const torch::Device device = model_->device();
    const auto on_device = [&](const std::vector<int64_t>& values) {
      return int64_tensor(values, device);
    };
    const Memory memory{memory_.rows_MD.index_select(0, on_device(memory_rows)),
                        Segments(memory_lengths, device)};
    const torch::Tensor rows_ND = model_->decode(token_sequences(tokens, lengths, device), memory);
    return model_->project(rows_ND.index_select(0, on_device(last)));
  }

 private:
  void extend(const StepRows& rows) {
    std::vector<std::vector<int64_t>> extended;
    for (size_t r = 0; r < rows.tokens.size(); ++r) {
      extended.push_back(prefixes_.empty() ? std::vector<int64_t>()
                                           : prefixes_[static_cast<size_t>(rows.parents[r])]);
      extended.back().push_back(rows.tokens[r]);
    }
    prefixes_ = std::move(extended);
  }

  std::shared_ptr<Seq2SeqModel> model_;
  Memory memory_;
  std::vector<std::vector<int64_t>> prefixes_;  // of the rows of the last step
};

class PrefixInference : public InferenceModel {
 public:
  explicit PrefixInference(std::shared_ptr<Seq2SeqModel> model) : model_(std::move(model)) {}
  std::unique_ptr<DecodeSession> start(const TokenSequences& source) const override {
    const torch::NoGradGuard no_grad;
    return std::make_unique<PrefixSession>(model_, source);
  }

 private:
  std::shared_ptr<Seq2SeqModel> model_;
};

}  // namespace

std::shared_ptr<const InferenceModel> prefix_inference(std::shared_ptr<Seq2SeqModel> model) {
  return std::make_shared<PrefixInference>(std::move(model));
}

}  // namespace attn
