#include "app/experiment/training_run.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <sstream>

#include "app/experiment/average.h"
#include "app/experiment/checkpoint.h"
#include "app/experiment/failure.h"
#include "app/experiment/progress_line.h"
#include "app/experiment/run_result.h"
#include "app/experiment/run_tokenizers.h"
#include "app/experiment/text_keys.h"
#include "app/experiment/training_cost.h"
#include "app/machine/device.h"
#include "app/machine/exit_report.h"
#include "app/machine/peak.h"
#include "app/machine/provenance.h"
#include "app/machine/signals.h"
#include "base/error.h"
#include "base/file.h"
#include "data/corpus_check.h"
#include "data/mixture.h"
#include "data/parsing/treebank.h"
#include "eval/tasks/make_evaluator.h"
#include "model/size.h"
#include "train/checkpoint.h"
#include "train/checkpoint_store.h"
#include "train/precision.h"

namespace attn {
namespace fs = std::filesystem;
namespace {

// The evaluator that selects the best checkpoint: the first one with a schedule.
Json decisive(const Experiment& experiment) {
  for (const EvaluatorConfig& config : experiment.eval) {
    if (config.every == 0) continue;
    Json json = write_config(config);
    json["data"] = config.data.empty() ? experiment.data.valid : config.data;
    return json;
  }
  return {};
}

}  // namespace

TrainingRun::TrainingRun(const Experiment& experiment, RunDirectory directory, bool resume,
                         const Context& context, double patience_seconds)
    : experiment_(experiment),
      directory_(std::move(directory)),
      context_(context),
      lock_(directory_.path(), patience_seconds) {
  logging_failures([&] { prepare(resume); });
}

void TrainingRun::logging_failures(const std::function<void()>& work) const {
  try {
    work();
  } catch (const std::exception&) {
    log_failure(directory_.log(), exit_report().message);
    throw;
  }
}

void TrainingRun::prepare(bool resume) {
  if (resume) require_valid_checkpoint(directory_);
  remove_checkpoint_leftovers(directory_.checkpoints());
  progress_ = std::make_unique<Progress>(directory_.log(), experiment_.train.steps);
  load_data();
  torch::manual_seed(static_cast<uint64_t>(experiment_.seed));
  model_ = make_model(experiment_, tokenizers_, context_.device);
  for (const auto& evaluator : evaluators_) evaluator->check(*model_);
  // Saved only after all texts are valid, so that a corrected text gets a new tokenizer.
  if (!directory_.has_trained()) save_description(directory_, experiment_, tokenizers_);
  const double z = experiment_.data.word_dropout;
  const auto word_dropout = [&] {
    return z > 0 ? std::make_shared<const WordDropout>(*tokenizers_.source, z) : nullptr;
  };
  stream_ = std::make_unique<BatchStream>(
      *corpus_, StreamOptions{.batch_tokens = experiment_.data.batch_tokens,
                              .seed = static_cast<uint64_t>(experiment_.seed),
                              .word_dropout = word_dropout()});
  const Tokenizer& target = *tokenizers_.target;
  trainer_ =
      std::make_unique<Trainer>(experiment_.train, static_cast<uint64_t>(experiment_.seed), *model_,
                                *stream_, target.bos() == target.eos() ? -1 : target.bos());
  restore(resume);
  load_initial_weights();
  metrics_ = std::make_unique<MetricsLog>(directory_.metrics());
  write_run_info();
}

bool TrainingRun::finished() const {
  return is_finished(trainer_->state, experiment_.train);
}

void TrainingRun::load_initial_weights() {
  if (!initial_ || step() > 0) return;
  for (const std::string& line : initial_->load_into(*model_, tokenizers_)) progress_->log(line);
}

void TrainingRun::load_data() {
  const Log log = [this](const std::string& line) { progress_->log(line); };
  const fs::path cache =
      experiment_.data.cache.empty() ? directory_.cache() : fs::path(experiment_.data.cache);
  const DataConfig data =
      with_training_text(experiment_.data, cache, static_cast<uint64_t>(experiment_.seed), log);
  TextHashes hashes;
  texts_ = training_keys(experiment_.data, hashes);
  // A trained run keeps its tokenizers, even if the text has changed.
  if (directory_.has_trained()) {
    tokenizers_ = stored_tokenizers(directory_, experiment_);
  } else {
    const std::string& from = experiment_.train.init_from;
    if (!from.empty()) initial_ = std::make_unique<InitialModel>(from);
    tokenizers_ = training_tokenizers(experiment_, data, initial_.get(), cache, log);
  }
  std::function<std::string(int64_t)> origin;
  if (data.train != experiment_.data.train) {
    origin = [this](int64_t line) {
      return training_place(experiment_.data, static_cast<uint64_t>(experiment_.seed), line);
    };
  }
  std::atomic<int64_t> pairs = 0;
  std::optional<ProgressLine> shown;
  shown.emplace(ProgressSource{
      .what = "encoding", .unit = "pairs", .done = [&pairs] { return pairs.load(); }});
  const Log report = [&](const std::string& line) {
    if (pairs > 0) shown.reset();  // clears its line first
    log(line);
  };
  corpus_ = std::make_unique<EncodedCorpus>(
      load_corpus({.source = text_path(data.train, data.source),
                   .target = text_path(data.train, data.target),
                   .tags = tags_file(data),
                   .tokenizers = tokenizers_,
                   .max_length = data.max_length,
                   .cache_directory = cache,
                   .log = report,
                   .progress = [&pairs](int64_t read) { pairs = read; },
                   .origin = origin}));
  shown.reset();
  for (const EvaluatorConfig& config : experiment_.eval) {
    evaluators_.push_back(make_evaluator(config, experiment_.data, tokenizers_, cache));
  }
}

void TrainingRun::restore(bool resume) {
  if (!resume) return;
  const auto last = latest_checkpoint(directory_.checkpoints());
  rename_corrupt_checkpoints(last ? last->step : -1);
  keep_until_step(directory_.metrics(), last ? last->step : 0);
  if (!last) return;
  const ModelDirectory saved(last->path);
  load_weights(saved.weights(), *model_);
  load_training_state(saved.training_state(), *trainer_);
  if (trainer_->state.step != last->step) {
    throw DataError(last->path.string() + ": contains step " +
                    std::to_string(trainer_->state.step));
  }
  stream_->restore(trainer_->state.stream);
  TrainState& state = trainer_->state;
  if (decisive(load_description(directory_)) != decisive(experiment_)) {
    state.best_step = state.without_better = 0;  // the best was selected by a different metric
  } else if (const auto best = best_checkpoint(directory_.checkpoints());
             state.best_step == last->step && !(best && best->checkpoint.step == last->step)) {
    mark_best(directory_.checkpoints(), last->step,
              state.best);  // the run was killed after saving it, before marking it as the best
  }
  progress_->log("resuming from " + last->path.string());
}

// Checkpoints newer than the newest valid one are corrupt; training will reuse their names.
void TrainingRun::rename_corrupt_checkpoints(int64_t newest_valid) {
  for (const StoredCheckpoint& checkpoint : list_checkpoints(directory_.checkpoints())) {
    if (checkpoint.step <= newest_valid) continue;
    const fs::path aside =
        directory_.checkpoints() / ("damaged-" + checkpoint.path.filename().string());
    fs::remove_all(aside);
    fs::rename(checkpoint.path, aside);
    progress_->log(checkpoint.path.string() + ": corrupt; skipped and renamed to " +
                   aside.string());
  }
}

void TrainingRun::require_same_text(const Json& begun) const {
  const auto key = begun.find("data_key");
  if (key == begun.end() || *key == Json(corpus_->key())) return;
  throw DataError(experiment_.data.train +
                  ": the training text has changed since the run was started; start a new run for "
                  "it");
}

void TrainingRun::write_run_info() {
  const VocabularySizes& vocabulary = model_->sizes();
  const int64_t parameters = parameter_count(experiment_.model, vocabulary);
  const auto begun = step() > 0 ? read_run_file(directory_) : std::nullopt;
  if (begun) require_same_text(*begun);
  Json run = provenance(context_);
  run["parameters"] = parameters;
  run["vocabulary"] = {{"source", vocabulary.source}, {"target", vocabulary.target}};
  run["pairs"] = corpus_->size();
  run["data_key"] = corpus_->key();
  run["texts"] = texts_;
  if (!begun) {
    // Arguments may contain invalid UTF-8.
    const std::string text = run.dump(2, ' ', false, Json::error_handler_t::replace);
    write_file_atomically(directory_.run_file(), text + "\n");
  }
  std::ostringstream line;
  line << "model: " << parameters << " parameters; vocabulary " << vocabulary.source << " / "
       << vocabulary.target << "; " << corpus_->size() << " pairs; " << stream_->epoch_batches()
       << " batches per epoch; padding avoided: "
       << std::round(1000 * stream_->chunk_padding()) / 10 << " %; " << torch::get_num_threads()
       << " threads";
  const Precision asked = experiment_.train.precision;
  const Precision precision = effective_precision(asked, context_.device);
  line << "; precision " << enum_name(precision);
  if (precision != asked) line << " (this processor does not support " << enum_name(asked);
  progress_->log(line.str());
}

// Fails early if the largest batch does not fit into memory.
void TrainingRun::check_memory() {
  trainer_->check_memory(largest_batch(*corpus_, experiment_.data.batch_tokens));
}

// Saves options that may change on resume (number of steps, evaluation). Removes an earlier result
// and average, which are then outdated.
void TrainingRun::update_config() {
  fs::remove(directory_.result());  // result of a shorter training
  const fs::path averaged = directory_.averaged();
  auto removed = fs::remove_all(averaged);
  while (const auto left = interrupted_replacement(averaged)) removed += fs::remove_all(*left);
  if (removed > 0) {
    progress_->log("removed " + averaged.string() +
                   ", the average of an earlier, shorter training; run attn average again");
  }
  if (write_config(load_description(directory_)) == write_config(experiment_)) return;
  save_description(directory_, experiment_, tokenizers_);
}

LoopEnd TrainingRun::run() {
  LoopEnd end = LoopEnd::interrupted;
  logging_failures([&] {
    check_memory();
    update_config();
    end = train_loop(*trainer_, experiment_.train, callbacks());
    if (end == LoopEnd::finished) write_result();
  });
  return end;
}

LoopCallbacks TrainingRun::callbacks() {
  LoopCallbacks callbacks;
  callbacks.stepped = [this](const Throughput& throughput) { progress_->show(throughput); };
  callbacks.log = [this](const TrainingInterval& interval) { log_interval(interval); };
  for (const auto& evaluator : evaluators_) {
    // At the end of training the average is scored instead (score_average).
    if (evaluator->every() == 0 && experiment_.train.average_last > 0) continue;
    callbacks.evaluations.push_back(loop_evaluation(*evaluator));
  }
  callbacks.save = [this] { save(); };
  callbacks.mark_best = [this] {
    mark_best(directory_.checkpoints(), step(), trainer_->state.best);
  };
  callbacks.stop_requested = stop_requested;
  return callbacks;
}

LoopEvaluation TrainingRun::loop_evaluation(const Evaluator& evaluator) {
  const auto result = std::make_shared<EvaluationResult>();
  return {
      .every = evaluator.every(),
      .run =
          [this, result, &evaluator] {
            const std::string& name = evaluator.name();
            *result = evaluator.run(*model_, directory_.output(name, step()));
            return result->decisive;
          },
      .better = [&evaluator](double value, double than) { return evaluator.better(value, than); },
      .log = [this, result, &evaluator](
                 bool best, double seconds) { log_evaluation(evaluator, *result, best, seconds); }};
}

void TrainingRun::write_result() {
  const TrainState& state = trainer_->state;
  if (const auto before = read_result(directory_); before && before->step == state.step) return;
  if (experiment_.train.average_last > 0) score_average();
  const VocabularySizes& vocabulary = model_->sizes();
  const double updates = static_cast<double>(state.step * experiment_.train.accumulate);
  RunResult result;
  result.step = state.step;
  result.parameters = parameter_count(experiment_.model, vocabulary);
  result.target_tokens = state.target_tokens;
  result.seconds = state.seconds;
  result.tokens_per_second = static_cast<double>(state.target_tokens) / result.seconds;
  result.flops = epoch_flops(*corpus_, experiment_.model, vocabulary) * updates /
                 static_cast<double>(stream_->epoch_batches());
  result.peak_flops = matrix_product_peak(
      effective_precision(experiment_.train.precision, context_.device), context_.device);
  result.peak_memory = peak_memory(context_.device);
  result.results = results_at(directory_, state.step);
  attn::write_result(directory_, result);
}

void TrainingRun::log_interval(const TrainingInterval& interval) {
  progress_->log(progress_->text(interval));
  metrics_->write("train", {{"step", interval.step},
                            {"epoch", stream_->epoch()},
                            {"loss", interval.loss},
                            {"ppl", interval.perplexity},
                            {"learning_rate", interval.learning_rate},
                            {"gradient_norm", interval.gradient_norm},
                            {"target_tokens", trainer_->state.target_tokens},
                            {"tokens_per_second", interval.tokens_per_second},
                            {"seconds", interval.seconds}});
}

void TrainingRun::score_average() {
  average({.run = directory_.path(),
           .last = experiment_.train.average_last,
           .at_most = true,
           .last_step = step()});
  load_weights(ModelDirectory(directory_.averaged()).weights(), *model_);
  for (const auto& evaluator : evaluators_) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string& name = evaluator->name();
    const EvaluationResult result = evaluator->run(*model_, directory_.output(name, step()));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    record_evaluation("average", *evaluator, result, seconds);
    progress_->log("average  " + name + "  " + result.line + "  (" + duration_text(seconds) + ")");
  }
}

void TrainingRun::record_evaluation(const char* kind, const Evaluator& evaluator,
                                    const EvaluationResult& result, double seconds) {
  std::vector<MetricField> fields = {{"step", step()}, {"name", evaluator.name()}};
  for (const auto& [key, value] : result.values) fields.emplace_back(key, value);
  if (!result.signature.empty()) fields.emplace_back("signature", result.signature);
  fields.emplace_back("text", evaluator.text_key());
  fields.emplace_back("eval_seconds", seconds);
  metrics_->write(kind, fields);
}

void TrainingRun::log_evaluation(const Evaluator& evaluator, const EvaluationResult& result,
                                 bool best, double seconds) {
  const std::string& name = evaluator.name();
  record_evaluation("eval", evaluator, result, seconds);
  progress_->log("step " + std::to_string(step()) + "  " + name + "  " + result.line + "  (" +
                 duration_text(seconds) + (best ? ", best so far)" : ")"));
}

// Recorded to detect deleted checkpoints later.
void TrainingRun::record_first_checkpoint() {
  auto run = read_run_file(directory_);
  if (!run || run->contains(kFirstCheckpoint)) return;
  (*run)[kFirstCheckpoint] = step();
  write_file_atomically(directory_.run_file(), run->dump(2) + "\n");
}

void TrainingRun::save() {
  lock_.require();
  metrics_->sync();
  AtomicDirectory directory(checkpoint_path(directory_.checkpoints(), step()));
  const ModelDirectory saved(directory.path());
  save_weights(saved.weights(), *model_, {{"step", std::to_string(step())}});
  save_training_state(saved.training_state(), *trainer_);
  save_description(saved, experiment_, tokenizers_);
  directory.commit();
  record_first_checkpoint();
  prune_checkpoints(directory_.checkpoints(),
                    checkpoint_schedule(experiment_.train, finished() ? step() : 0),
                    experiment_.train.keep_last);
}

}  // namespace attn
