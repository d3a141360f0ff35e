#include "model/prefix_inference.h"

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
    std::vector<int64_t> tokens, second, lengths, last, memory_rows, memory_lengths;
    for (size_t r = 0; r < prefixes_.size(); ++r) {
      const Prefix& prefix = prefixes_[r];
      tokens.insert(tokens.end(), prefix.tokens.begin(), prefix.tokens.end());
      second.insert(second.end(), prefix.second.begin(), prefix.second.end());
      lengths.push_back(static_cast<int64_t>(prefix.tokens.size()));
      last.push_back(static_cast<int64_t>(tokens.size()) - 1);
      const int64_t sentence = rows.sentences[r];
      memory_lengths.push_back(memory_.segments.length(sentence));
      for (int64_t i = 0; i < memory_lengths.back(); ++i) {
        memory_rows.push_back(memory_.segments.offset(sentence) + i);
      }
    }
    const torch::Device device = model_->device();
    const auto on_device = [&](const std::vector<int64_t>& values) {
      return int64_tensor(std::span<const int64_t>(values), device);
    };
    const Memory memory{memory_.rows_MD.index_select(0, on_device(memory_rows)),
                        Segments(memory_lengths, device)};
    const torch::Tensor rows_ND =
        model_->decode(token_sequences(tokens, lengths, device, second), memory);
    return model_->project(rows_ND.index_select(0, on_device(last)));
  }

 private:
  struct Prefix {
    std::vector<int64_t> tokens, second;
  };

  void extend(const StepRows& rows) {
    std::vector<Prefix> extended;
    for (size_t r = 0; r < rows.tokens.size(); ++r) {
      Prefix prefix =
          prefixes_.empty() ? Prefix{} : prefixes_[static_cast<size_t>(rows.parents[r])];
      prefix.tokens.push_back(rows.tokens[r]);
      if (!rows.second.empty()) prefix.second.push_back(rows.second[r]);
      extended.push_back(std::move(prefix));
    }
    prefixes_ = std::move(extended);
  }

  std::shared_ptr<Seq2SeqModel> model_;
  Memory memory_;
  std::vector<Prefix> prefixes_;  // of the rows of the last step
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
