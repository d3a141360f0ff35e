#include "train/loss.h"

#include <algorithm>
#include <vector>

#include "kernels/compute_scope.h"

namespace attn {
namespace {

using torch::autograd::variable_list;

// The loss as it is read, in chunks of rows with the gradient of each, so that the logits of a
// batch (21 GB for the base model) are never stored.
class LossAsRead : public torch::autograd::Function<LossAsRead> {
 public:
  // The model's parameters are arguments so that autograd tracks them.
  static variable_list forward(torch::autograd::AutogradContext* context, const torch::Tensor& x_ND,
                               at::TensorList parameters, const Seq2SeqModel* model,
                               const torch::Tensor& targets_N, cpu::SmoothedTargets targets,
                               bool gradient) {
    constexpr int64_t kLogits = int64_t{1} << 23;  // floats of a chunk
    const ComputeScope scope(ComputeScope::as_read());
    const torch::AutoGradMode grad_mode(gradient);
    const int64_t step = std::max<int64_t>(1, kLogits / model->sizes().target);
    variable_list sums(1 + parameters.size());  // gradients of the parameters, from 1 on
    std::vector<torch::Tensor> dx;
    torch::Tensor loss = torch::zeros({}, x_ND.options().dtype(torch::kFloat64)), nll = loss;
    for (int64_t begin = 0; begin < x_ND.size(0); begin += step) {
      const int64_t rows = std::min(step, x_ND.size(0) - begin);
      const torch::Tensor x = x_ND.narrow(0, begin, rows).detach().requires_grad_(gradient);
      const LossSums part =
          smoothed_loss(model->project(x), targets_N.narrow(0, begin, rows), targets);
      loss = loss + part.loss.detach().to(torch::kFloat64);
      nll = nll + part.nll;
      if (!gradient) continue;
      variable_list inputs{x};
      inputs.insert(inputs.end(), parameters.begin(), parameters.end());
      const variable_list gradients =
          torch::autograd::grad({part.loss}, inputs, /*grad_outputs=*/{}, /*retain_graph=*/false,
                                /*create_graph=*/false, /*allow_unused=*/true);
      dx.push_back(gradients[0]);
      for (size_t i = 1; i < gradients.size(); ++i) {
        if (!gradients[i].defined()) continue;
        sums[i] = sums[i].defined() ? sums[i].add_(gradients[i]) : gradients[i].clone();
      }
    }
    if (!dx.empty()) sums[0] = torch::cat(dx);
    context->save_for_backward(sums);
    const variable_list losses{loss.to(torch::kFloat32), nll};
    context->mark_non_differentiable({losses[1]});
    return losses;
  }

  static variable_list backward(torch::autograd::AutogradContext* context,
                                variable_list gradients) {
    variable_list all = context->get_saved_variables();
    for (torch::Tensor& sum : all) {
      if (sum.defined()) sum = sum * gradients[0];
    }
    all.resize(all.size() + 4);
    return all;
  }
};

}  // namespace

cpu::SmoothedTargets smoothed_targets(const TrainConfig& config, int64_t classes,
                                      int64_t excluded_class) {
  const double epsilon = config.label_smoothing;
  const bool all = config.smoothing == Smoothing::all,
             excludes = config.smoothing == Smoothing::wrong_no_pad && excluded_class >= 0;
  const int64_t others = all ? 0 : excludes ? 2 : 1;  // classes without a share of ε
  const double per_class = epsilon / static_cast<double>(classes - others),
               target_probability = 1.0 - epsilon + (all ? per_class : 0.0);
  return {static_cast<float>(target_probability), static_cast<float>(per_class),
          excludes ? excluded_class : -1, static_cast<float>(config.z_loss)};
}

LossSums smoothed_loss(const torch::Tensor& logits_NV, const torch::Tensor& targets_N,
                       cpu::SmoothedTargets targets) {
  // Formula loss: fast paths loss, gpu_loss.
  const torch::Tensor log_p = logits_NV.to(torch::kFloat32).log_softmax(-1);
  const torch::Tensor at_target_N = log_p.gather(1, targets_N.unsqueeze(1)).squeeze(1);
  torch::Tensor q = torch::full_like(log_p, targets.smoothing_per_class);
  if (targets.excluded >= 0) q.select(1, targets.excluded).zero_();
  q.scatter_(1, targets_N.unsqueeze(1), targets.target_probability);
  torch::Tensor loss = -(q * log_p).sum();
  if (targets.z_loss > 0) {
    loss = loss + targets.z_loss * logits_NV.to(torch::kFloat32).logsumexp(-1).pow(2).sum();
  }
  return {loss, -at_target_N.detach().sum(torch::kFloat64)};
  // End of formula.
}

LossSums output_loss(const Seq2SeqModel& model, const torch::Tensor& x_ND,
                     const torch::Tensor& targets_N, cpu::SmoothedTargets targets) {
  if (!ComputeScope::takes(FastPath::loss)) {
    const bool gradient = torch::GradMode::is_enabled() && x_ND.requires_grad();
    const std::vector<torch::Tensor> parameters = model.parameters();
    const variable_list losses =
        LossAsRead::apply(x_ND, at::TensorList(parameters), &model, targets_N, targets, gradient);
    return {losses[0], losses[1]};
  }
  const auto narrow = ComputeScope::autocast_type(x_ND.device());
  const torch::Tensor x = x_ND.to(narrow.value_or(torch::kFloat32));
  return chunked_smoothed_loss(x, model.embeddings.of_output(), targets_N, targets);
}

}  // namespace attn
