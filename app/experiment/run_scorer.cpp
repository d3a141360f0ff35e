#include "app/experiment/run_scorer.h"

#include <chrono>
#include <string>
#include <utility>

#include "app/experiment/average.h"
#include "app/experiment/run_result.h"
#include "train/checkpoint.h"
#include "train/checkpoint_store.h"
#include "train/weight_average.h"

namespace attn {
namespace {

// Whether an evaluator gives the scores of another one, which may be missing.
bool scores_alike(const EvaluatorConfig* former, EvaluatorConfig config) {
  if (former == nullptr) return false;
  config.every = former->every;
  return write_config(*former) == write_config(config);
}

// A result and the seconds it took.
template <class Work>
std::pair<EvaluationResult, double> timed(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  EvaluationResult result = work();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return {std::move(result), passed.count()};
}

}  // namespace

EvaluationResult RunScorer::score(const Evaluator& evaluator) const {
  const AveragedWeights averaged(parts_.trainer.average());
  return score_weights(evaluator);
}

EvaluationResult RunScorer::score_weights(const Evaluator& evaluator) const {
  return evaluator.run(parts_.model, parts_.directory.output(evaluator.name(), step()));
}

void RunScorer::score_average() const {
  const AverageOutput averaged = average({.run = parts_.directory.path(),
                                          .last = parts_.experiment.train.average_last,
                                          .at_most = true,
                                          .last_step = step()});
  parts_.progress.log(averaged.description());
  load_weights(ModelDirectory(parts_.directory.averaged()).weights(), parts_.model);
  for (const auto& evaluator : parts_.evaluators) {
    const auto [result, seconds] = timed([&] { return score_weights(*evaluator); });
    record("average", *evaluator, result, seconds);
    parts_.progress.log("average  " + evaluator->name() + "  " + result.line + "  (" +
                        duration_text(seconds) + ")");
  }
}

// A resumed run with fewer steps or less patience than before ends at a step that was not known to
// be the last, and its evaluators may have changed.
void RunScorer::score_missing() const {
  const auto scored = results_at(parts_.directory, step());
  // The checkpoint's config, not the run's, which the resume has changed. Without a checkpoint this
  // process made the scores.
  const ModelDirectory checkpoint(checkpoint_path(parts_.directory.checkpoints(), step()));
  const Experiment before =
      checkpoint.has_config() ? load_description(checkpoint) : parts_.experiment;
  for (size_t i = 0; i < parts_.evaluators.size(); ++i) {
    const Evaluator& evaluator = *parts_.evaluators[i];
    const auto found = scored.find(evaluator.name());
    if (found != scored.end() && found->second.text == evaluator.text_key() &&
        scores_alike(find_evaluator(before, evaluator.name()), parts_.experiment.eval[i])) {
      continue;
    }
    const auto [result, seconds] = timed([&] { return score(evaluator); });
    log(evaluator, result, false, seconds);
  }
}

void RunScorer::log(const Evaluator& evaluator, const EvaluationResult& result, bool best,
                    double seconds) const {
  record("eval", evaluator, result, seconds);
  parts_.progress.log("step " + std::to_string(step()) + "  " + evaluator.name() + "  " +
                      result.line + "  (" + duration_text(seconds) +
                      (best ? ", best so far)" : ")"));
}

void RunScorer::record(const char* kind, const Evaluator& evaluator, const EvaluationResult& result,
                       double seconds) const {
  std::vector<MetricField> fields = {{"step", step()}, {"name", evaluator.name()}};
  for (const auto& [key, value] : result.values) fields.emplace_back(key, value);
  if (!result.signature.empty()) fields.emplace_back("signature", result.signature);
  fields.emplace_back("text", evaluator.text_key());
  fields.emplace_back("eval_seconds", seconds);
  parts_.metrics.write(kind, fields);
}

}  // namespace attn
