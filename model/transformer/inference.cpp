#include "model/transformer/inference.h"

#include <utility>

namespace attn {
namespace {

class ModuleSession : public DecodeSession {
 public:
  ModuleSession(std::shared_ptr<TransformerImpl> model, const TokenSequences& source)
      : model_(std::move(model)), state_(model_->start(model_->encode(source))) {}

  torch::Tensor step(const StepRows& rows) override {
    const torch::NoGradGuard no_grad;
    return model_->project(model_->step(state_, rows));
  }

 private:
  std::shared_ptr<TransformerImpl> model_;
  DecoderState state_;
};

}  // namespace

ModuleInference::ModuleInference(std::shared_ptr<TransformerImpl> model)
    : model_(std::move(model)) {}

std::unique_ptr<DecodeSession> ModuleInference::start(const TokenSequences& source) const {
  const torch::NoGradGuard no_grad;
  return std::make_unique<ModuleSession>(model_, source);
}

}  // namespace attn
