// Search with the training modules, sufficient for a new architecture.
#pragma once

#include <memory>
#include <utility>

#include "kernels/fast_path.h"
#include "model/seq2seq.h"

namespace attn {

/// Uses the weights of `Model` without copies. A Model has a type State and, besides the interface
/// of Seq2SeqModel, `State start(const Memory&)` and `torch::Tensor step(State&, const StepRows&)`,
/// which returns the decoder's final hidden states [R, D]. It must be in evaluation mode.
template <class Model>
class StepInference : public InferenceModel {
 public:
  explicit StepInference(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  std::unique_ptr<DecodeSession> start(const TokenSequences& source) const override {
    const torch::NoGradGuard no_grad;
    return std::make_unique<Session>(model_, source);
  }

 private:
  class Session : public DecodeSession {
   public:
    Session(std::shared_ptr<Model> model, const TokenSequences& source)
        : model_(std::move(model)), state_(model_->start(model_->encode(source))) {}

    torch::Tensor step(const StepRows& rows) override {
      const torch::NoGradGuard no_grad;
      return model_->project(model_->step(state_, rows));
    }

   private:
    std::shared_ptr<Model> model_;
    typename Model::State state_;
  };

  std::shared_ptr<Model> model_;
};

/// Search by decode() alone: every step decodes the whole prefix of each row again. Slow, and right
/// for any model. Uses its weights without copies; it must be in evaluation mode.
std::shared_ptr<const InferenceModel> prefix_inference(std::shared_ptr<Seq2SeqModel> model);

/// Search by start() and step(), or by decode() alone where `path`, those of
/// the model, does not follow it.
template <class Model>
std::shared_ptr<const InferenceModel> step_inference(Model& model, FastPath path) {
  auto self = std::static_pointer_cast<Model>(model.shared_from_this());
  if (!follows_formulas(path)) return prefix_inference(std::move(self));
  return std::make_shared<StepInference<Model>>(std::move(self));
}

}  // namespace attn
