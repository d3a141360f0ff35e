#include "eval/tasks/loss_evaluator.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/format.h"
#include "base/stop_signal.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "data/parsing/treebank.h"
#include "eval/tasks/evaluator.h"
#include "model/seq2seq.h"

namespace attn {
namespace {

constexpr int64_t kChunk = 512;  // rows of logits at a time

struct LossReport {
  double nll = 0.0;         ///< -log p per target token
  double perplexity = 0.0;  ///< exp(nll)
  double accuracy = 0.0;    ///< share of targets that are the likeliest class
};

// Adds to `sums`, {nll, correct tokens} in float64 on the device, without synchronization.
void add_rows(const Ensemble& models, std::span<const torch::Tensor> x_ND,
              const torch::Tensor& targets_N, torch::Tensor& sums) {
  for (int64_t begin = 0; begin < targets_N.size(0); begin += kChunk) {
    const int64_t rows = std::min(kChunk, targets_N.size(0) - begin);
    const torch::Tensor logits = models.project(x_ND, begin, rows);
    const torch::Tensor targets = targets_N.narrow(0, begin, rows);
    const torch::Tensor at_target = logits.gather(1, targets.unsqueeze(1)).squeeze(1);
    sums.add_(torch::stack({(logits.logsumexp(1) - at_target).sum(torch::kFloat64),
                            (logits.argmax(1) == targets).sum(torch::kFloat64)}));
  }
}

// Evaluates every batch in float32. Sets the models to evaluation mode.
LossReport evaluate_loss(const Ensemble& models, std::span<const Batch> batches) {
  const torch::NoGradGuard no_grad;
  models.eval();
  const torch::Device device = models.device();
  LossReport report;
  int64_t tokens = 0;
  torch::Tensor sums = torch::zeros({2}, torch::TensorOptions(device).dtype(torch::kFloat64));
  for (const Batch& batch : batches) {
    throw_if_stopped();
    const TokenSequences source = token_sequences(batch.source, device);
    const TokenSequences target = token_sequences(batch.target_in, device);
    const torch::Tensor targets_N = int64_tensor(batch.target_out.tokens, device);
    add_rows(models, models.forward(source, target), targets_N, sums);
    tokens += batch.target_tokens;
  }
  if (tokens > 0) {
    const torch::Tensor read = sums.cpu();
    report.nll = read[0].item<double>() / static_cast<double>(tokens);
    report.accuracy = read[1].item<double>() / static_cast<double>(tokens);
  }
  report.perplexity = std::exp(report.nll);
  return report;
}

// The files of both sides; of trees, those of their linearization.
std::pair<std::string, std::string> encoded_files(const EvaluatorInput& input) {
  const DataConfig& data = input.data;
  if (data.task == Task::translation) {
    return {text_path(input.text, data.source), text_path(input.text, data.target)};
  }
  const LabelSet labels = vocabulary_labels(*input.tokenizers.target, data.tree_form);
  const std::string prefix = tree_text(input.text, data, labels, input.cache);
  return {text_path(prefix, kWordsSuffix), text_path(prefix, kSymbolsSuffix)};
}

// Note on dropped pairs.
std::string left_out_text(int64_t pairs) {
  return pairs == 0 ? ""
                    : "  (" + counted(pairs, "pair") + " dropped: empty, too long or not UTF-8)";
}

class LossEvaluator final : public Evaluator {
 public:
  explicit LossEvaluator(const EvaluatorInput& input) : Evaluator(input) {
    const auto [source, target] = encoded_files(input);
    const EncodedCorpus corpus = load_corpus({.source = source,
                                              .target = target,
                                              .tokenizers = input.tokenizers,
                                              .max_length = 0,
                                              .cache_directory = input.cache,
                                              .threads = torch::get_num_threads()});
    batches_ = sequential_batches(corpus, input.data.batch_tokens);
    left_out_ = corpus.report().lines - corpus.report().kept();
    const Tokenizers& made = input.tokenizers;
    unknown_ = unknown_suffix(corpus.unknown(Side::source, *made.source), "source") +
               unknown_suffix(corpus.unknown(Side::target, *made.target), "target");
  }

  void check(const Seq2SeqModel& model) const override {
    const auto positions = model.max_length();
    if (!positions) return;
    int64_t longest = 0;
    for (const Batch& batch : batches_) {
      longest = std::max({longest, batch.source.longest(), batch.target_in.longest()});
    }
    if (longest <= *positions) return;
    throw DataError("eval: " + name() + ": a sentence has " + std::to_string(longest) +
                    " tokens, EOS included, but the model at most " + std::to_string(*positions) +
                    " positions; increase model.max_positions");
  }

  EvaluationResult run(const Ensemble& models, const std::filesystem::path&) const override {
    const LossReport report = evaluate_loss(models, batches_);
    return {.values = {{"ppl", report.perplexity},
                       {"nll", report.nll},
                       {"accuracy", report.accuracy},
                       {"left_out", static_cast<double>(left_out_)}},
            .line = "perplexity " + decimal(report.perplexity, 3) +
                    format("  accuracy %.2f %%", 100 * report.accuracy) + left_out_text(left_out_) +
                    unknown_,
            .signature = "",
            .selection_metric = report.perplexity};
  }

 private:
  std::vector<Batch> batches_;
  int64_t left_out_ = 0;  // dropped pairs
  std::string unknown_;   // for the log
};

}  // namespace

std::unique_ptr<Evaluator> LossEvaluation::make(const EvaluatorInput& input) const {
  return std::make_unique<LossEvaluator>(input);
}

}  // namespace attn
