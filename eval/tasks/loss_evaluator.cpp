#include "eval/tasks/loss_evaluator.h"

#include <cmath>

namespace attn {
namespace {

constexpr int64_t kChunk = 512;  // rows whose logits exist at a time

// Adds to `sums`, {nll, right ones} in float64 where the model is: a GPU is waited for at the end.
void add_rows(Seq2SeqModel& model, const torch::Tensor& x_ND, const torch::Tensor& targets_N,
              torch::Tensor& sums) {
  for (int64_t begin = 0; begin < x_ND.size(0); begin += kChunk) {
    const int64_t rows = std::min(kChunk, x_ND.size(0) - begin);
    const torch::Tensor logits = model.project(x_ND.narrow(0, begin, rows)).to(torch::kFloat32);
    const torch::Tensor targets = targets_N.narrow(0, begin, rows);
    const torch::Tensor at_target = logits.gather(1, targets.unsqueeze(1)).squeeze(1);
    sums.add_(torch::stack({(logits.logsumexp(1) - at_target).sum(torch::kFloat64),
                            (logits.argmax(1) == targets).sum(torch::kFloat64)}));
  }
}

}  // namespace

LossReport evaluate_loss(Seq2SeqModel& model, std::span<const Batch> batches) {
  const torch::NoGradGuard no_grad;
  model.eval();
  const torch::Device device = model.device();
  LossReport report;
  torch::Tensor sums = torch::zeros({2}, torch::TensorOptions(device).dtype(torch::kFloat64));
  for (const Batch& batch : batches) {
    const TokenSequences source =
        token_sequences(batch.source.tokens, batch.source.lengths, device);
    const TokenSequences target = token_sequences(batch.target_in.tokens, batch.target_in.lengths,
                                                  device, batch.target_in.second);
    const torch::Tensor right_N =
        int64_tensor(std::span<const int64_t>(batch.target_out.tokens), device);
    add_rows(model, model.forward(source, target), right_N, sums);
    report.tokens += batch.target_tokens;
  }
  if (report.tokens > 0) {
    const torch::Tensor read = sums.cpu();
    report.nll = read[0].item<double>() / static_cast<double>(report.tokens);
    report.accuracy = read[1].item<double>() / static_cast<double>(report.tokens);
  }
  report.perplexity = std::exp(report.nll);
  return report;
}

}  // namespace attn
