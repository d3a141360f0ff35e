#include "app/experiment/training_run.h"
#include "app/experiment/test_ledger.h"

#include <chrono>
#include <cmath>
#include <stdexcept>

#include "app/experiment/checkpoint.h"
#include "app/experiment/run_result.h"
#include "app/machine/exit.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/stop_signal.h"
#include "kernels/ops/measure.h"
#include "model/size.h"
#include "train/checkpoint.h"

namespace attn {
namespace fs = std::filesystem;
namespace {

constexpr const char* kScores = "eval";  // kinds of metrics

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Removes the result of the run before its end, which it has not reached yet, and renames its
// average: the checkpoints averaged may be gone.
void remove_former_results(const RunDirectory& run, bool averages, Progress& progress) {
  fs::remove(run.result());
  fs::remove(run.heads());
  const fs::path averaged = run.averaged();
  if (!ModelDirectory(averaged).has_weights()) return;
  const fs::path former = averaged.string() + "-before-the-end";
  fs::remove_all(former);
  fs::rename(averaged, former);
  progress.log("renamed " + averaged.string() + " to " + former.filename().string() +
               ": it was made before the end of the run" +
               (averages ? "" : "; run attn average again"));
}

// "the perplexity of valid is 3.1e+90": why the results of a run say that it diverged; "" if they
// do not.
std::string divergence(const Experiment& experiment, const RunResult& result, int64_t vocabulary) {
  constexpr double kNatsAboveUniform = 10.0;
  for (const EvaluatorConfig& config : experiment.eval) {
    if (config.kind() != EvaluatorKind::loss) continue;
    const auto ppl = result.score(config.name, "ppl");
    if (ppl && std::log(*ppl) <= std::log(vocabulary) + kNatsAboveUniform) continue;
    return "the perplexity of " + config.name + " is " + (ppl ? decimal(*ppl, 2) : "not finite");
  }
  return "";
}

}  // namespace

std::string TrainingRun::options_key(const Evaluator& evaluator) const {
  const EvaluatorConfig& config = *find_evaluator(experiment_, evaluator.name());
  return to_hex(hash_text(scoring_options(config, experiment_.search).dump()));
}

Seq2SeqModel& TrainingRun::scored_model(const Evaluator& evaluator) {
  const bool searches = find_evaluator(experiment_, evaluator.name())->searches();
  if (!searches || !search_model_) return *model_;
  const torch::NoGradGuard no_grad;
  const auto weights = model_->parameters();
  const auto copies = search_model_->parameters();
  for (size_t i = 0; i < weights.size(); ++i) copies[i].copy_(weights[i]);
  search_model_->eval();
  return *search_model_;
}

EvaluationResult TrainingRun::score(const Evaluator& evaluator) {
  const AveragedWeights averaged(trainer_->average());
  return evaluator.run(scored_model(evaluator), directory_.output(evaluator.name(), step()));
}

void TrainingRun::log_scores(const char* kind, const Evaluator& evaluator,
                             const EvaluationResult& result, double seconds, bool best) {
  Json fields = {{"step", step()}, {"name", evaluator.name()}};
  for (const auto& [key, value] : result.values) fields[key] = value;
  if (!result.signature.empty()) fields["signature"] = result.signature;
  fields["text"] = evaluator.text_key();
  fields["options"] = options_key(evaluator);
  fields["eval_seconds"] = seconds;
  metrics_->write(kind, fields);
  count_scoring(*find_evaluator(experiment_, evaluator.name()), experiment_.data,
                evaluator.text_key(), directory_, step());
  const std::string what =
      std::string_view(kind) == kScores ? "step " + std::to_string(step()) : kind;
  progress_->log(what + "  " + evaluator.name() + "  " + result.line + "  (" +
                 duration_text(seconds) + (best ? ", best so far)" : ")"));
}

// Scores what the run yields instead of its last step: the average (train.average_last), which is
// made first, or with early stopping the best checkpoint. The model then has these weights.
void TrainingRun::score_yield(bool again) {
  const bool averages = experiment_.train.average_last > 0;
  if (averages) {
    const int64_t saved = (step() - 1) / experiment_.train.checkpoint_every + 1;
    progress_->log(average({.run = directory_.path(),
                            .last = std::min(experiment_.train.average_last, saved),
                            .at_most = !again,  // then all of them are there, unless removed
                            .last_step = step()}));
  }
  const auto best = best_checkpoint(directory_.checkpoints());
  const fs::path from = averages ? directory_.averaged() : best->checkpoint.path;
  load_weights(ModelDirectory(from).weights(), *model_);
  for (const auto& evaluator : evaluators_) {
    const auto begin = std::chrono::steady_clock::now();
    const auto result =
        evaluator->run(scored_model(*evaluator), directory_.output(evaluator->name(), step()));
    log_scores(averages ? "average" : "best", *evaluator, result, seconds_since(begin));
  }
}

// Scores the step with the evaluators that have no score of it: other evaluators than before, or a
// resumed run with fewer steps or less patience, whose end was not known to be the last.
void TrainingRun::score_missing() {
  std::map<std::string, std::string> scored;  // what was scored last, by name
  for (const Json& record : read_metrics(directory_)) {
    if (record.value("kind", "") != kScores || step_of(record) != step()) continue;
    scored[record.value("name", "")] = record.value("text", "") + record.value("options", "");
  }
  for (const auto& evaluator : evaluators_) {
    if (scored[evaluator->name()] == evaluator->text_key() + options_key(*evaluator)) continue;
    const auto begin = std::chrono::steady_clock::now();
    const auto result = score(*evaluator);
    log_scores(kScores, *evaluator, result, seconds_since(begin));
  }
}

bool TrainingRun::finished() const {
  return is_finished(trainer_->state, experiment_.train) && trainer_->state.evaluation_pending == 0;
}

bool TrainingRun::has_result() const {
  const auto result = finished() ? read_result(directory_) : std::nullopt;
  return result && result->step == step();
}

void TrainingRun::logging_failures(const std::function<void()>& work) const {
  try {
    work();
  } catch (const std::exception&) {
    if (is_rank_zero()) log_failure(directory_.log(), exit_report().message);
    throw;
  }
}

bool TrainingRun::unless_stopped(const std::function<void()>& work) const {
  int stopped = 0;
  on_rank_zero(world_, [&] {
    try {
      work();
    } catch (const Stopped&) {
      stopped = 1;
    }
  });
  return from_first(world_, stopped) == 0;
}

void TrainingRun::update_config() {
  if (write_config(load_description(directory_)) == write_config(experiment_)) return;
  save_description(directory_, experiment_, tokenizers_);
}

LoopEnd TrainingRun::run() {
  LoopEnd end = LoopEnd::interrupted;
  catch_stop_signals();
  logging_failures([&] {
    on_all_ranks(world_, [&] {  // fails early if the largest batch does not fit into memory
      trainer_->check_memory(largest_batch(*corpus_, experiment_.data.batch_tokens));
    });
    on_rank_zero(world_, [&] {
      record_changes();
      remove_former_results(directory_, experiment_.train.average_last > 0, *progress_);
      update_config();
    });
    world_.take_traffic();  // of the start
    try {
      end = train_loop(*trainer_, experiment_.train, callbacks());
    } catch (const NonFiniteLoss&) {  // a run that is resumed unchanged would end in the same way
      on_rank_zero(world_, [&] {
        RunResult result = counts();
        result.end = RunEnd::diverged;
        attn::write_result(directory_, result);
      });
      throw;
    }
    if (end == LoopEnd::finished && step() < experiment_.train.steps) {
      progress_->log(
          format("early stopping at step %ld of %ld (train.patience): no better "
                 "evaluation since step %ld",
                 step(), experiment_.train.steps, trainer_->state.best_step));
    }
  });
  return end == LoopEnd::finished && !write_result() ? LoopEnd::interrupted : end;
}

LoopCallbacks TrainingRun::callbacks() {
  const TrainConfig& train = experiment_.train;
  LoopCallbacks callbacks;
  callbacks.stepped = [this](const Throughput& throughput) { progress_->show(throughput); };
  callbacks.log = [this](const TrainingInterval& interval) {
    if (is_rank_zero()) log_interval(interval);
  };
  for (size_t i = 0; i < experiment_.eval.size(); ++i) {
    // At the end of training another checkpoint is scored instead (score_yield).
    if (experiment_.eval[i].every == 0 && (train.average_last > 0 || train.patience > 0)) continue;
    callbacks.evaluations.push_back(loop_evaluation(i));
  }
  callbacks.save = [this] { save(); };
  callbacks.mark_best = [this] {
    on_rank_zero(world_,
                 [this] { mark_best(directory_.checkpoints(), step(), trainer_->state.best); });
  };
  callbacks.evaluated = [this] { on_rank_zero(world_, [this] { save_evaluation(); }); };
  callbacks.stop_requested = stop_requested;
  if (world_.size() > 1) {
    callbacks.agree = [this](int64_t requested) {
      int64_t all = 0;
      for (const int64_t by_one : gather(world_, requested)) all |= by_one;
      return all;
    };
  }
  return callbacks;
}

// The first process evaluates; the others take its result, so that all of them stop and save alike.
LoopEvaluation TrainingRun::loop_evaluation(size_t index) {
  const auto result = std::make_shared<EvaluationResult>();
  const EvaluatorConfig& config = experiment_.eval[index];
  const Evaluator* evaluator = is_rank_zero() ? evaluators_[index].get() : nullptr;
  return {.every = config.every,
          .selects_best = &config == deciding_evaluator(experiment_.eval),
          .lower_is_better = config.lower_is_better(),
          .run = [this, result, evaluator]() -> std::optional<double> {
            if (!unless_stopped([&] { *result = score(*evaluator); })) return {};
            return from_first(world_, result->selection_metric);
          },
          .log =
              [this, result, evaluator](bool best, double seconds) {
                if (is_rank_zero()) log_scores(kScores, *evaluator, *result, seconds, best);
              }};
}

bool TrainingRun::write_result(bool again) {
  bool written = false;
  logging_failures([&] { written = unless_stopped([&] { write_result_file(again); }); });
  return written;
}

// The result but for its scores and end.
RunResult TrainingRun::counts() const {
  const TrainState& state = trainer_->state;
  const VocabularySizes& vocabulary = model_->sizes();
  RunResult result;
  result.step = state.step;
  result.parameters = parameter_count(experiment_.model, vocabulary);
  result.target_tokens = state.target_tokens;
  result.seconds = state.seconds;
  if (result.seconds > 0) {
    result.tokens_per_second = static_cast<double>(state.target_tokens) / result.seconds;
  }
  result.flops = epoch_flops(*corpus_, experiment_.model, vocabulary) /
                 static_cast<double>(corpus_->target_tokens()) *
                 static_cast<double>(state.target_tokens);
  result.peak_flops =
      static_cast<double>(world_.size()) *
      matrix_product_peak(effective_precision(experiment_.train.precision, context_.device),
                          context_.device);
  result.peak_memory = peak_memory(context_.device);
  result.as_read = paths_as_read();
  return result;
}

void TrainingRun::write_result_file(bool again) {
  if (has_result() && !again) return;
  const auto former = again ? read_result(directory_) : std::nullopt;
  const bool averages = experiment_.train.average_last > 0;
  if (!former) {  // results may have been made during training
    remove_former_results(directory_, averages, *progress_);
    update_config();
  }
  std::optional<BestCheckpoint> best;
  if (experiment_.train.patience > 0) best = best_checkpoint(directory_.checkpoints());
  averages || (best && best->checkpoint.step < step()) ? score_yield(again) : score_missing();
  RunResult result = former ? *former : counts();
  result.results = results_at(directory_, step());
  std::erase_if(result.results, [this](const auto& one) {  // of former evaluators
    return find_evaluator(experiment_, one.first) == nullptr;
  });
  const int64_t vocabulary = model_->sizes().target;
  const std::string diverged = divergence(experiment_, result, vocabulary);
  result.end = !diverged.empty()                  ? RunEnd::diverged
               : step() < experiment_.train.steps ? RunEnd::patience
                                                  : RunEnd::steps;
  metrics_->sync();  // result.json ends the run: nobody would score the average again
  attn::write_result(directory_, result);
  if (former) update_config();  // only now: interrupted, the run is as it was before
  if (diverged.empty()) return;
  throw std::runtime_error(directory_.path().string() + ": diverged: " + diverged +
                           ", that of a uniform guess " + std::to_string(vocabulary) + "; " +
                           kDivergedRemedy);
}

void TrainingRun::log_interval(const TrainingInterval& interval) {
  progress_->log(progress_->text(interval));
  Json fields = {{"step", interval.step},
                 {"epoch", trainer_->state.stream.epoch},
                 {"loss", interval.loss},
                 {"ppl", interval.perplexity},
                 {"learning_rate", interval.learning_rate},
                 {"gradient_norm", interval.gradient_norm},
                 {"target_tokens", trainer_->state.target_tokens},
                 {"tokens_per_second", interval.tokens_per_second},
                 {"seconds", interval.seconds}};
  if (world_.size() > 1) {
    const Traffic traffic = world_.take_traffic();
    const double updates = static_cast<double>(interval.updates);
    fields["sent_bytes"] = static_cast<double>(traffic.sent_bytes) / updates;
    fields["communication_seconds"] = traffic.seconds / updates;
  }
  metrics_->write("train", fields);
}

void TrainingRun::save() {
  const OptimizerState whole = trainer_->collect_state();
  on_rank_zero(world_, [&] { write_checkpoint(whole); });
}

void TrainingRun::write_checkpoint(const OptimizerState& whole) {
  metrics_->sync();
  AtomicDirectory directory(checkpoint_path(directory_.checkpoints(), step()));
  const ModelDirectory saved(directory.path());
  {
    const AveragedWeights averaged(trainer_->average());
    save_weights(saved.weights(), *model_, {{"step", std::to_string(step())}});
  }
  save_training_state(saved.training_state(), *trainer_, whole);
  save_description(saved, experiment_, tokenizers_);
  directory.commit();
  prune();
}

// The records of the evaluations first: without them a resumed run would not make them again.
void TrainingRun::save_evaluation() {
  metrics_->sync();
  const ModelDirectory saved(checkpoint_path(directory_.checkpoints(), step()));
  attn::save_evaluation(saved.evaluation(), trainer_->state);
  prune();  // by now it may be the last step, out of patience
}

void TrainingRun::prune() {
  prune_checkpoints(directory_.checkpoints(),
                    checkpoint_schedule(experiment_.train, finished() ? step() : 0),
                    experiment_.train.keep_last);
}

}  // namespace attn
