// The first part of a TrainingRun: what it needs before it trains.
#include <atomic>
#include <cmath>
#include <set>
#include <sstream>

#include "app/experiment/checkpoint.h"
#include "app/experiment/resume.h"
#include "app/experiment/run_result.h"
#include "app/experiment/training_run.h"
#include "app/machine/version.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/hash.h"
#include "data/corpus_check.h"
#include "data/mixture.h"
#include "data/parsing/treebank.h"
#include "data/text_hashes.h"
#include "eval/tasks/make_evaluator.h"
#include "model/size.h"
#include "train/checkpoint.h"
#include "train/loss.h"

namespace attn {
namespace fs = std::filesystem;
namespace {

Json deciding_config(const Experiment& experiment) {
  const EvaluatorConfig* config = deciding_evaluator(experiment.eval);
  return config == nullptr ? Json() : scoring_options(*config, experiment.search);
}

// Otherwise they are read only after the tokenizer has been trained and the text encoded.
void check_evaluation_texts(const Experiment& experiment) {
  std::set<std::string> texts;
  for (const EvaluatorConfig& config : experiment.eval) {
    texts.insert(config.text(experiment.data));
  }
  for (const std::string& text : texts) check_validation_text(experiment.data, text);
}

// Checkpoints newer than the newest valid one are corrupt; training will reuse their names.
void rename_corrupt_checkpoints(const fs::path& checkpoints, int64_t newest_valid,
                                Progress& progress) {
  for (const StoredCheckpoint& checkpoint : list_checkpoints(checkpoints)) {
    if (checkpoint.step <= newest_valid) continue;
    const fs::path aside = checkpoints / ("damaged-" + checkpoint.path.filename().string());
    fs::remove_all(aside);
    fs::rename(checkpoint.path, aside);
    progress.log(checkpoint.path.string() + ": corrupt; skipped and renamed to " + aside.string());
  }
}

void remove_all_leftovers(const RunDirectory& run, const fs::path& cache) {
  using std::chrono::hours;
  remove_leftovers(run.checkpoints(), hours(0));  // written under the run's lock alone
  remove_leftovers(run.outputs(), hours(0));
  for (const StoredCheckpoint& checkpoint : list_checkpoints(run.checkpoints())) {
    remove_leftovers(checkpoint.path, hours(0));
  }
  for (const fs::path& folder : {run.path(), cache}) remove_leftovers(folder, hours(24));
}

// A position of `former` in a stream of the same corpus with other batches: as far into its chunk.
// Of the chunk's pairs some occur twice in the epoch, others not at all.
StreamPosition translated(const StreamPosition& position, BatchStream& former, BatchStream& now) {
  former.restore(position);
  now.restore({.epoch = position.epoch, .chunk = position.chunk});
  StreamPosition there = now.position();
  there.batch = position.batch * now.chunk_batches() / former.chunk_batches();
  return there;
}

}  // namespace

TrainingRun::TrainingRun(const Experiment& experiment, RunDirectory directory,
                         const Context& context, Communicator& world)
    : experiment_(experiment), directory_(std::move(directory)), context_(context), world_(world) {
  logging_failures([&] { prepare(); });
}

void TrainingRun::prepare() {
  world_.set_timeout(experiment_.runtime.timeout);
  on_all_ranks(world_, [&] {  // before a process writes what it makes of another text
    TextHashes hashes;
    texts_ = training_keys(experiment_.data, hashes);
  });
  require_same(world_, Json(texts_).dump(),
               "training text; all processes must read the same files");
  on_rank_zero(world_, [&] {
    newest_ = checkpoint_to_resume(directory_);
    remove_all_leftovers(directory_, cache());
    make_trainer();
  });
  on_all_ranks(world_, [&] {
    if (!is_rank_zero()) make_trainer();
  });
  require_same(world_, to_hex(corpus_->key()),
               "vocabulary or encoded corpus; all processes must share the run directory");
  const OptimizerState whole = trainer_->collect_state();
  on_rank_zero(world_, [&] {
    restore(whole);
    if (!initial_ || step() > 0) return;
    for (const std::string& line : initial_->load_into(*model_, tokenizers_, experiment_)) {
      progress_->log(line);
    }
    trainer_->average().restart();  // it began with the random weights
  });
  trainer_->distribute(whole);
  if (!is_rank_zero()) stream_->restore(trainer_->state.stream);
  on_rank_zero(world_, [&] {
    metrics_ = std::make_unique<MetricsLog>(directory_.metrics());
    write_run_info();
  });
}

void TrainingRun::make_trainer() {
  progress_ = is_rank_zero() ? std::make_unique<Progress>(directory_.log(), experiment_.train.steps)
                             : std::make_unique<Progress>(experiment_.train.steps);
  load_data();
  const SearchDevice searching = experiment_.runtime.search_device;
  if (is_rank_zero() && context_.device.is_cuda() && searching != SearchDevice::cuda) {
    search_model_ = make_model(experiment_, tokenizers_, torch::kCPU);
    const bool packed = search_model_->has_packed_inference();
    if (searching == SearchDevice::automatic && !packed) search_model_ = nullptr;
  }
  torch::manual_seed(static_cast<uint64_t>(experiment_.seed));
  model_ = make_model(experiment_, tokenizers_, context_.device);
  for (const auto& evaluator : evaluators_) evaluator->check(scored_model(*evaluator));
  // Saved only after all texts are valid, so that a corrected text gets a new tokenizer.
  if (is_rank_zero() && !directory_.has_trained()) {
    save_description(directory_, experiment_, tokenizers_);
  }
  const double z = experiment_.data.word_dropout;
  const auto word_dropout =
      z > 0 ? std::make_shared<const WordDropout>(*tokenizers_.source, z) : nullptr;
  stream_ = std::make_unique<BatchStream>(
      *corpus_, StreamOptions{.batch_tokens = experiment_.data.batch_tokens,
                              .seed = static_cast<uint64_t>(experiment_.seed),
                              .word_dropout = word_dropout});
  ClassRule classes = class_rule(experiment_.data.batch_tokens, model_->max_length().value_or(0));
  // A resumed run pads as it did before: padding decides how results are rounded.
  if (newest_) classes.row_step = recorded(directory_, kRowStep).value_or(classes.row_step);
  trainer_ = std::make_unique<Trainer>(
      experiment_.train, static_cast<uint64_t>(experiment_.seed), *model_, *stream_,
      TrainerProcesses{.world = world_, .shard_optimizer = experiment_.runtime.shard_optimizer},
      classes);
  const auto log = [this](const std::string& line) {
    if (is_rank_zero()) progress_->log(line);
  };
  if (search_model_) check_and_report(*search_model_, experiment_.model, {.gradients = false}, log);
  if (experiment_.runtime.graphs != Use::off) trainer_->use_graphs(log);
  check_and_report(*model_, experiment_.model,
                   {.gradients = true,
                    .precision = effective_precision(experiment_.train.precision, context_.device),
                    .residual = experiment_.train.residual_precision,
                    .loss = smoothed_targets(experiment_.train, model_->sizes().target,
                                             corpus_->vocabularies().never_target())},
                   log);
}

fs::path TrainingRun::cache() const {
  const std::string& shared = experiment_.data.cache;
  return shared.empty() ? directory_.cache() : fs::path(shared);
}

void TrainingRun::load_data() {
  if (is_rank_zero()) check_evaluation_texts(experiment_);
  const Log log = [this](const std::string& line) { progress_->log(line); };
  const DataConfig data =
      with_training_text(experiment_.data, cache(), static_cast<uint64_t>(experiment_.seed), log);
  // A trained run keeps its tokenizers, even if the text has changed; other processes read those of
  // the first.
  if (newest_ || !is_rank_zero()) {
    tokenizers_ = stored_tokenizers(directory_, experiment_);
  } else {
    const std::string& from = experiment_.train.init_from;
    if (!from.empty()) initial_ = std::make_unique<InitialModel>(from);
    tokenizers_ = training_tokenizers(experiment_, data, initial_.get(), cache(), log);
  }
  std::atomic<int64_t> pairs = 0;
  {
    const ProgressLine shown(
        {.what = "encoding", .unit = "pairs", .done = [&pairs] { return pairs.load(); }});
    corpus_ = std::make_unique<EncodedCorpus>(
        load_corpus({.source = text_path(data.train, data.source),
                     .target = text_path(data.train, data.target),
                     .tags = tags_file(data),
                     .tokenizers = tokenizers_,
                     .max_length = data.max_length,
                     .cache_directory = cache(),
                     .threads = torch::get_num_threads(),
                     .log = log,
                     .progress = [&pairs](int64_t read) { pairs = read; }}));
  }
  if (!is_rank_zero()) return;
  for (const EvaluatorConfig& config : experiment_.eval) {
    const bool trained = config.text(data) == experiment_.data.train;
    if (trained) log("warning: " + config.name + " scores training text");
    evaluators_.push_back(
        make_evaluator(config, experiment_.search, experiment_.data, tokenizers_, cache()));
  }
}

void TrainingRun::restore(const OptimizerState& whole) {
  const auto& last = newest_;
  const Json key = corpus_->key();
  if (last && last->step > 0 && read_run_file(directory_).value("data_key", key) != key) {
    throw DataError(experiment_.data.train +
                    ": the training text has changed since the run was started; start a new run "
                    "for it");
  }
  rename_corrupt_checkpoints(directory_.checkpoints(), last ? last->step : -1, *progress_);
  if (!last) return keep_until_step(directory_.metrics(), 0);
  const ModelDirectory saved(last->path);
  load_weights(saved.weights(), *model_);
  load_training_state(saved.training_state(), *trainer_, whole);
  if (trainer_->state.step != last->step) {
    throw DataError(last->path.string() + ": contains step " +
                    std::to_string(trainer_->state.step));
  }
  if (step() > experiment_.train.steps) {
    throw ConfigError(
        format("train.steps: %ld: the run is already at step %ld; set at least that many",
               experiment_.train.steps, step()));
  }
  TrainState& state = trainer_->state;
  if (state.evaluation_pending != 0 && fs::exists(saved.evaluation())) {
    try {
      load_evaluation(saved.evaluation(), state);
    } catch (const DataError& error) {
      progress_->log(error.what() + std::string("; the step is evaluated again"));
    }
  }
  // Scores of pending evaluations are repeated, and those of score_yield unless the run is done.
  const char* pending = state.evaluation_pending != 0 ? "eval" : has_result() ? "" : nullptr;
  for (const char* kind : {"average", "best"}) {
    keep_until_step(directory_.metrics(), step(), pending == nullptr ? kind : pending);
  }
  const Experiment before = load_description(saved);
  changes_ = changes_at(step(), before, experiment_);
  if (before.data.batch_tokens != experiment_.data.batch_tokens) {
    BatchStream former(*corpus_, {.batch_tokens = before.data.batch_tokens,
                                  .seed = static_cast<uint64_t>(experiment_.seed)});
    state.stream = translated(state.stream, former, *stream_);
  }
  stream_->restore(state.stream);
  // The checkpoint's config, not the run's, which an interrupted resume may have changed.
  if (deciding_changed(before)) {
    progress_->log(
        "the evaluator that selects the best checkpoint, or its text, has changed: the "
        "best is selected again");
    state.best_step = state.without_better = 0;
  } else if (const auto best = best_checkpoint(directory_.checkpoints());
             state.best_step == last->step && !(best && best->checkpoint.step == last->step)) {
    mark_best(directory_.checkpoints(), last->step,
              state.best);  // the run was killed after saving it, before marking it as the best
  }
  progress_->log("resuming from " + last->path.string());
}

// Whether the evaluator that selects the best checkpoint, or its text, is another than before.
bool TrainingRun::deciding_changed(const Experiment& before) const {
  const EvaluatorConfig* deciding = deciding_evaluator(experiment_.eval);
  if (deciding_config(before) != deciding_config(experiment_)) return true;
  if (deciding == nullptr) return false;
  const std::string former = deciding_evaluator(before.eval)->name;
  std::string text;  // of its first score: attn train --rescore adds others
  for (const Json& record : read_metrics(directory_)) {
    const bool same = record.value("kind", "") == "eval" && record.value("name", "") == former;
    if (same && step_of(record) == trainer_->state.best_step && text.empty()) {
      text = record.value("text", "");
    }
  }
  const auto index = static_cast<size_t>(deciding - experiment_.eval.data());
  return !text.empty() && text != evaluators_[index]->text_key();
}

void TrainingRun::record_changes() {
  for (const Json& change : changes_) {
    metrics_->write("change", change);
    progress_->log(format("%s is %s from step %ld on, was %s",
                          std::string(change["option"]).c_str(), change["after"].dump().c_str(),
                          step(), change["before"].dump().c_str()));
  }
}

// Writes run.json of a new run, and logs the model.
void TrainingRun::write_run_info() {
  progress_->log(model_line());
  if (const TrainConfig& train = experiment_.train; train.warmup >= train.steps) {
    progress_->log(
        "warning: train.warmup " + std::to_string(train.warmup) +
        ": the learning rate only rises, up to train.steps=" + std::to_string(train.steps));
  }
  if (const Json before = read_run_file(directory_); step() > 0 && !before.empty()) {
    const std::string commit = text_at(before, "commit");
    if (commit == version().commit) return;
    return progress_->log("resumed by " + version_line() + "; started by commit " + commit);
  }
  const VocabularySizes& vocabulary = model_->sizes();
  Json run = provenance(context_);
  run[kPrecision] =
      std::string(enum_name(effective_precision(experiment_.train.precision, context_.device)));
  run[kProcesses] = world_.size();
  if (const auto& classes = trainer_->classes()) run[kRowStep] = classes->row_step;
  if (const auto paths = paths_as_read(); !paths.empty()) run[kAsRead] = paths;
  run["parameters"] = parameter_count(experiment_.model, vocabulary);
  run["vocabulary"] = {{"source", vocabulary.source}, {"target", vocabulary.target}};
  run["pairs"] = corpus_->size();
  run["data_key"] = corpus_->key();
  run["texts"] = texts_;
  // Reports compare perplexities of one vocabulary: with the hashes of those that the config does
  // not name.
  run["texts"].emplace("source_model", key_of_hash(tokenizers_.source->fingerprint()));
  run["texts"].emplace("target_model", key_of_hash(tokenizers_.target->fingerprint()));
  // Arguments may contain invalid UTF-8.
  const std::string text = run.dump(2, ' ', false, Json::error_handler_t::replace);
  write_file_atomically(directory_.run_file(), text + "\n");
}

// "model: 2605056 parameters; …".
std::string TrainingRun::model_line() const {
  const VocabularySizes& vocabulary = model_->sizes();
  const Precision requested = experiment_.train.precision;
  const Precision precision = effective_precision(requested, context_.device);
  std::ostringstream line;
  line << "model: " << parameter_count(experiment_.model, vocabulary) << " parameters; vocabulary "
       << vocabulary.source << " / " << vocabulary.target << "; "
       << counted(corpus_->size(), "pair") << "; "
       << counted(stream_->epoch_batches(), "batch", "batches")
       << " per epoch; padding avoided: " << std::round(1000 * stream_->chunk_padding()) / 10
       << " %; " << counted(torch::get_num_threads(), "thread");
  if (world_.size() > 1) line << " in each of " << world_.size() << " processes";
  line << "; precision " << enum_name(precision);
  if (precision != requested)
    line << " (this processor does not support " << enum_name(requested) << ")";
  return line.str();
}

}  // namespace attn
