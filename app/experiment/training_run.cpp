#include "app/experiment/training_run.h"

#include <chrono>
#include <sstream>

#include "app/experiment/checkpoint.h"
#include "app/experiment/run_result.h"
#include "app/experiment/text_keys.h"
#include "app/experiment/training_cost.h"
#include "app/machine/device.h"
#include "app/machine/peak.h"
#include "app/machine/provenance.h"
#include "app/machine/signals.h"
#include "base/error.h"
#include "base/file.h"
#include "data/corpus_check.h"
#include "data/parsing/tag_dictionary.h"
#include "data/parsing/treebank.h"
#include "model/size.h"
#include "train/checkpoint.h"
#include "train/checkpoint_store.h"
#include "train/precision.h"

namespace attn {
namespace fs = std::filesystem;
namespace {

// What decides which checkpoint is the best: the first evaluator with a schedule.
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

TrainingRun::TrainingRun(const Experiment& experiment, fs::path directory, bool resume,
                         const std::string& command_line, double patience_seconds)
    : experiment_(experiment),
      directory_(std::move(directory)),
      lock_(directory_, patience_seconds) {
  if (resume) require_nothing_lost(directory_);
  remove_checkpoint_leftovers(checkpoints());
  const auto last = latest_checkpoint(checkpoints());
  progress_ = std::make_unique<Progress>(directory_ / "log.txt", experiment_.train.steps,
                                         last ? last->step : 0);
  load_data();
  torch::manual_seed(static_cast<uint64_t>(experiment_.seed));
  model_ = make_model(experiment_, tokenizers_);
  for (const auto& evaluator : evaluators_) evaluator->check(*model_);
  // Not before all texts are known to be good: a mended one is then learnt from anew.
  if (!has_trained(directory_)) save_description(directory_, experiment_, tokenizers_);
  stream_ = std::make_unique<BatchStream>(
      *corpus_, StreamOptions{.batch_tokens = experiment_.data.batch_tokens,
                              .seed = static_cast<uint64_t>(experiment_.seed)});
  const Tokenizer& target = *tokenizers_.target;
  trainer_ =
      std::make_unique<Trainer>(experiment_.train, static_cast<uint64_t>(experiment_.seed), *model_,
                                *stream_, target.bos() == target.eos() ? -1 : target.bos());
  restore(resume);
  metrics_ = std::make_unique<MetricsLog>(directory_ / kMetricsFile);
  describe(command_line);
}

fs::path TrainingRun::checkpoints() const {
  return directory_ / kCheckpointsFolder;
}

bool TrainingRun::finished() const {
  const TrainState& state = trainer_->state;
  const int64_t patience = experiment_.train.patience;
  return state.step >= experiment_.train.steps ||
         (patience > 0 && state.without_better >= patience);
}

void TrainingRun::load_data() {
  const Say say = [this](const std::string& line) { progress_->say(line); };
  const fs::path cache =
      experiment_.data.cache.empty() ? directory_ / "cache" : fs::path(experiment_.data.cache);
  const DataConfig data =
      with_training_text(experiment_.data, cache, static_cast<uint64_t>(experiment_.seed), say);
  TextHashes hashes;
  texts_ = training_keys(experiment_.data, hashes);
  // A run keeps the tokenizers that its weights are for, whatever becomes of the text.
  const bool trained = has_trained(directory_);
  if (!trained) {
    check_texts(text_path(data.train, data.source), text_path(data.train, data.target));
  }
  const DataConfig once = trained ? data : with_vocabulary_text(experiment_.data, cache);
  tokenizers_ = trained ? load_tokenizers(directory_) : make_tokenizers(once, say);
  if (!trained && data.task == Task::parsing) {
    const LabelSet labels = vocabulary_labels(*tokenizers_.target, data.tree_form);
    tokenizers_.tags = std::make_shared<const TagDictionary>(
        learn_tags(text_path(once.train, once.source), text_path(once.train, once.target),
                   data.tree_form, labels));
  }
  set_target_counter(experiment_, tokenizers_);
  corpus_ =
      std::make_unique<EncodedCorpus>(load_corpus({.source = text_path(data.train, data.source),
                                                   .target = text_path(data.train, data.target),
                                                   .tokenizers = tokenizers_,
                                                   .max_length = data.max_length,
                                                   .cache_directory = cache,
                                                   .say = say}));
  for (const EvaluatorConfig& config : experiment_.eval) {
    evaluators_.push_back(make_evaluator(config, experiment_.data, tokenizers_, cache));
  }
}

void TrainingRun::restore(bool resume) {
  if (!resume) return;
  const auto last = latest_checkpoint(checkpoints());
  set_damaged_aside(last ? last->step : -1);
  keep_until_step(directory_ / kMetricsFile, last ? last->step : 0);
  if (!last) return;
  load_weights(last->path / kWeightsFile, *model_);
  load_training_state(last->path / kTrainingFile, *trainer_);
  if (trainer_->state.step != last->step) {
    throw DataError(last->path.string() + ": holds step " + std::to_string(trainer_->state.step));
  }
  stream_->restore(trainer_->state.stream);
  TrainState& state = trainer_->state;
  if (decisive(load_description(directory_)) != decisive(experiment_)) {
    state.best_step = state.without_better = 0;  // its best was measured by something else
  } else if (const auto best = best_checkpoint(checkpoints());
             state.best_step == last->step && !(best && best->checkpoint.step == last->step)) {
    mark_best(checkpoints(), last->step, state.best);  // killed between saving and marking
  }
  saved_step_ = last->step;
  earlier_seconds_ = trainer_->state.seconds;
  saved_seconds_ = earlier_seconds_;
  progress_->say("going on from " + last->path.string());
}

// Checkpoints newer than the newest whole one are broken; training will want their names again.
void TrainingRun::set_damaged_aside(int64_t newest_whole) {
  for (const StoredCheckpoint& checkpoint : list_checkpoints(checkpoints())) {
    if (checkpoint.step <= newest_whole) continue;
    const fs::path aside = checkpoints() / ("damaged-" + checkpoint.path.filename().string());
    fs::remove_all(aside);
    fs::rename(checkpoint.path, aside);
    progress_->say(checkpoint.path.string() + ": damaged; passed over and kept as " +
                   aside.string());
  }
}

void TrainingRun::require_same_text(const Json& begun) const {
  const auto key = begun.find("data_key");
  if (key == begun.end() || *key == Json(corpus_->key())) return;
  throw DataError(experiment_.data.train +
                  ": is another text than the one that this run began with; give the new one a run "
                  "of its own");
}

void TrainingRun::describe(const std::string& command_line) {
  const VocabularySizes& vocabulary = model_->sizes();
  const int64_t parameters = parameter_count(experiment_.model, vocabulary);
  const auto begun = step() > 0 ? read_run_file(directory_) : std::nullopt;
  if (begun) require_same_text(*begun);
  Json run = provenance(command_line);
  run["parameters"] = parameters;
  run["vocabulary"] = {{"source", vocabulary.source}, {"target", vocabulary.target}};
  run["pairs"] = corpus_->size();
  run["data_key"] = corpus_->key();
  run["texts"] = texts_;
  if (!begun) {
    // An argument may be any bytes.
    const std::string text = run.dump(2, ' ', false, Json::error_handler_t::replace);
    write_file_atomically(directory_ / kRunFile, text + "\n");
  }
  std::ostringstream line;
  line << "model: " << parameters << " parameters; vocabulary " << vocabulary.source << " / "
       << vocabulary.target << "; " << corpus_->size() << " pairs; " << stream_->epoch_batches()
       << " batches an epoch, padding that is never computed "
       << std::round(1000 * stream_->window_padding()) / 10 << " %; " << torch::get_num_threads()
       << " threads";
  const Precision asked = experiment_.train.precision;
  const Precision precision = effective_precision(asked, device());
  line << "; products in " << enum_name(precision);
  if (precision != asked) line << ", since this processor has none of " << enum_name(asked);
  progress_->say(line.str());
}

// Memory that the largest batch needs is found out now, not hours later.
void TrainingRun::rehearse() {
  trainer_->rehearse(largest_batch(*corpus_, experiment_.data.batch_tokens));
}

// What may change when a run goes on (its length, what is evaluated) is remembered for the next
// time and for reports; a result that it had is no longer its result, nor are averaged weights.
void TrainingRun::keep_config() {
  fs::remove(directory_ / kResultFile);  // of a shorter training
  const fs::path averaged = directory_ / kAveragedFolder;
  auto removed = fs::remove_all(averaged);
  while (const auto left = interrupted_replacement(averaged)) removed += fs::remove_all(*left);
  if (removed > 0) {
    progress_->say("removed " + averaged.string() +
                   ", the average of a shorter training; `attn average` makes it anew");
  }
  if (write_config(load_description(directory_)) == write_config(experiment_)) return;
  save_description(directory_, experiment_, tokenizers_);
}

RunEnd TrainingRun::run() {
  rehearse();
  keep_config();
  progress_ = std::make_unique<Progress>(directory_ / "log.txt", experiment_.train.steps, step());
  while (!finished()) {
    const StepReport report = trainer_->step();
    progress_->step(report);
    const bool last = report.step >= experiment_.train.steps;
    if (last || report.step % experiment_.train.log_every == 0) log_window(report.step);
    const bool best = evaluate();
    const bool stop = stop_requested();
    if (best || stop || finished() || checkpoint_due()) save();
    if (best) mark_best(checkpoints(), step(), trainer_->state.best);
    if (stop && !finished()) return RunEnd::interrupted;
  }
  conclude();
  return RunEnd::finished;
}

void TrainingRun::conclude() {
  const TrainState& state = trainer_->state;
  if (const auto before = read_result(directory_); before && before->step == state.step) return;
  const VocabularySizes& vocabulary = model_->sizes();
  const double updates = static_cast<double>(state.step * experiment_.train.accumulate);
  RunResult result;
  result.step = state.step;
  result.parameters = parameter_count(experiment_.model, vocabulary);
  result.target_tokens = state.target_tokens;
  result.seconds = earlier_seconds_ + progress_->seconds();
  result.tokens_per_second = static_cast<double>(state.target_tokens) / result.seconds;
  result.flops = epoch_flops(*corpus_, experiment_.model, vocabulary) * updates /
                 static_cast<double>(stream_->epoch_batches());
  result.peak_flops =
      matrix_product_peak(effective_precision(experiment_.train.precision, device()));
  result.peak_memory = peak_memory();
  result.results = results_at(directory_, state.step);
  write_result(directory_, result);
}

void TrainingRun::log_window(int64_t step) {
  const Progress::Window window = progress_->take_window();
  progress_->say(progress_->text(step, window));
  metrics_->write("train", {{"step", step},
                            {"epoch", stream_->epoch()},
                            {"loss", window.loss},
                            {"ppl", window.perplexity},
                            {"learning_rate", window.learning_rate},
                            {"gradient_norm", window.gradient_norm},
                            {"target_tokens", trainer_->state.target_tokens},
                            {"tokens_per_second", window.tokens_per_second},
                            {"seconds", earlier_seconds_ + progress_->seconds()}});
}

bool TrainingRun::evaluate() {
  const bool end = step() >= experiment_.train.steps;
  bool best = false;
  bool decided = false;
  std::vector<const Evaluator*> others;
  for (const auto& evaluator : evaluators_) {
    const int64_t every = evaluator->config().every;
    const bool decisive = !decided && every > 0;
    decided = decided || decisive;
    if (end || (every > 0 && step() % every == 0)) {
      best |= evaluate_one(*evaluator, decisive);
    } else {
      others.push_back(evaluator.get());
    }
  }
  if (!end && finished()) {  // out of patience: this was the last step after all
    for (const Evaluator* evaluator : others) evaluate_one(*evaluator, false);
  }
  return best;
}

bool TrainingRun::evaluate_one(const Evaluator& evaluator, bool decisive) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string& name = evaluator.config().name;
  const fs::path output = directory_ / output_name(name, step());
  const EvaluationResult result = evaluator.run(*model_, output);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  progress_->exclude(seconds);
  std::vector<MetricField> fields = {{"step", step()}, {"name", name}};
  for (const auto& [key, value] : result.values) fields.emplace_back(key, value);
  if (!result.signature.empty()) fields.emplace_back("signature", result.signature);
  fields.emplace_back("text", evaluator.text_key());
  fields.emplace_back("eval_seconds", seconds);
  metrics_->write("eval", fields);
  TrainState& state = trainer_->state;
  const bool best =
      decisive && (state.best_step == 0 || evaluator.better(result.decisive, state.best));
  if (best) {
    state.best = result.decisive;
    state.best_step = step();
    state.without_better = 0;
  } else if (decisive) {
    ++state.without_better;
  }
  progress_->say("step " + std::to_string(step()) + "  " + name + "  " + result.line + "  (" +
                 duration_text(seconds) + (best ? ", best so far)" : ")"));
  return best;
}

bool TrainingRun::checkpoint_due() const {
  const TrainConfig& config = experiment_.train;
  const double since = earlier_seconds_ + progress_->seconds() - saved_seconds_;
  return step() % config.checkpoint_every == 0 ||
         (config.checkpoint_minutes > 0 && since >= 60 * config.checkpoint_minutes);
}

// So that a run whose checkpoints are gone is known to have had some.
void TrainingRun::note_first_checkpoint() {
  auto run = read_run_file(directory_);
  if (!run || run->contains(kFirstCheckpoint)) return;
  (*run)[kFirstCheckpoint] = step();
  write_file_atomically(directory_ / kRunFile, run->dump(2) + "\n");
}

void TrainingRun::save() {
  if (saved_step_ == step()) return;
  lock_.require();
  const auto begin = std::chrono::steady_clock::now();
  trainer_->state.seconds = earlier_seconds_ + progress_->seconds();
  metrics_->sync();
  AtomicDirectory directory(checkpoint_path(checkpoints(), step()));
  save_weights(directory.path() / kWeightsFile, *model_, {{"step", std::to_string(step())}});
  save_training_state(directory.path() / kTrainingFile, *trainer_);
  save_description(directory.path(), experiment_, tokenizers_);
  directory.commit();
  note_first_checkpoint();
  saved_step_ = step();
  saved_seconds_ = trainer_->state.seconds;
  prune_checkpoints(checkpoints(), checkpoint_schedule(experiment_.train, finished() ? step() : 0),
                    experiment_.train.keep_last);
  progress_->exclude(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace attn
