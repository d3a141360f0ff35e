#include "app/sweep/results.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/experiment/failure.h"
#include "app/experiment/input_kind.h"
#include "app/experiment/resume.h"
#include "app/experiment/run_result.h"
#include "app/experiment/text_keys.h"
#include "app/machine/version.h"
#include "app/sweep/comparable.h"
#include "app/sweep/heads_file.h"
#include "app/sweep/plan.h"
#include "app/sweep/prepare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse_number.h"
#include "data/lines.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLargestPlan = 1 << 26;
constexpr double kSameScore = 1e-6;

std::optional<double> positive(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

PaperRecord paper_of(const Json& json, const std::string& place) {
  PaperFigures figures;
  read_config(figures, json, place);
  PaperRecord paper{
      .figures = {}, .params_m = positive(figures.params_m), .flops = positive(figures.flops)};
  for (const MetricFacts& facts : kMetrics) {
    paper.figures[facts.metric] = positive(figures.figures[facts.metric]);
  }
  return paper;
}

void flatten(const Json& json, const std::string& place, std::map<std::string, std::string>& out) {
  if (!json.is_object()) {
    out[place] = json.dump();
    return;
  }
  for (const auto& [key, value] : json.items()) {
    flatten(value, place.empty() ? key : place + "." + key, out);
  }
}

const EvaluatorConfig* find_evaluator(const Experiment& experiment, const std::string& name) {
  for (const EvaluatorConfig& config : experiment.eval) {
    if (config.name == name) return &config;
  }
  return nullptr;
}

// Reads runs; caches references, which runs share.
class Collector {
 public:
  /// `sentences`: whether to read translations, for tests of differences.
  Collector(SweepResults& out, const SweepMetrics& metrics, bool sentences)
      : out_(out), metrics_(metrics), sentences_(sentences) {}

  /// `row`: the row's experiment, for the number of steps.
  RunRecord read(const fs::path& run, const std::string& name, const Experiment& row) {
    RunRecord record;
    record.name = name;
    const Experiment experiment = load_description(run);
    record.seed = experiment.seed;
    const int64_t step = read_curve(run, record);
    if (const auto result = finished_result(run, row.train)) {
      read_finished(run, experiment, *result, record);
    } else if (const auto why = failure_of(run)) {
      record.state = "failed at step " + std::to_string(step);
      out_.notes.push_back(name + " failed: " + *why);
    } else {
      record.state = "at step " + std::to_string(step) + " of " + std::to_string(row.train.steps);
    }
    read_heads(RunDirectory(run).heads(), record);
    record.provenance = {{"seed", std::to_string(experiment.seed)},
                         {"config", RunDirectory(run).config().string()}};
    if (const auto facts = read_run_file(run)) {
      record.target_vocabulary = target_vocabulary(*facts);
      read_provenance(*facts, record);
    }
    return record;
  }

 private:
  // The validation curve; returns the last logged step.
  int64_t read_curve(const fs::path& run, RunRecord& record) const {
    int64_t step = 0;
    for (const Json& line : read_metrics(run)) {
      const std::string kind = line.value("kind", "");
      const auto at = static_cast<int64_t>(number_at(line, "step").value_or(0));
      if (kind == "train") step = at;
      if (kind != "eval" || line.value("name", "") != metrics_.evaluators[Metric::loss]) continue;
      if (const auto ppl = number_at(line, "ppl")) record.curve.push_back({at, *ppl});
    }
    return step;
  }

  void read_finished(const fs::path& run, const Experiment& experiment, const RunResult& result,
                     RunRecord& record) {
    record.finished = true;
    record.parameters = result.parameters;
    record.target_tokens = result.target_tokens;
    record.seconds = result.seconds;
    record.tokens_per_second = result.tokens_per_second;
    record.flops = result.flops;
    record.peak_flops = result.peak_flops;
    record.peak_memory = result.peak_memory;
    for (const MetricFacts& facts : kMetrics) {
      const auto found = result.results.find(metrics_.evaluators[facts.metric]);
      if (found == result.results.end()) continue;
      const EvaluatorResult& scores = found->second;
      const auto value = scores.values.find(facts.key);
      if (value == scores.values.end()) {
        out_.notes.push_back(record.name + ": its " + facts.key +
                             " is not a finite number (the run diverged): omitted from the means");
        continue;
      }
      if (!same_score(scores, out_.signatures[facts.metric], record)) {
        continue;
      }
      record.figures[facts.metric] = value->second;
      record.texts[facts.metric] = scores.text;
      if (sentences_ && facts.bootstrap) {
        read_sentences(run, experiment, scores, value->second, record);
      }
    }
  }

  // Whether a score has the same signature as the first one.
  bool same_score(const EvaluatorResult& result, std::string& signature, const RunRecord& record) {
    if (signature.empty()) signature = result.signature;
    if (signature == result.signature) return true;
    out_.notes.push_back(record.name + ": scored as " + result.signature +
                         ", unlike the first row: omitted");
    return false;
  }

  // Reads the outputs for significance tests; adds a note if they are missing.
  void read_sentences(const fs::path& run, const Experiment& experiment,
                      const EvaluatorResult& result, double score, RunRecord& record) {
    const EvaluatorConfig* config = find_evaluator(experiment, metrics_.evaluators[Metric::bleu]);
    const auto* options = config ? std::get_if<BleuEvaluation>(&config->options) : nullptr;
    if (options == nullptr || result.output.empty() || !fs::exists(run / result.output)) {
      out_.notes.push_back(record.name + ": its translations are missing: no significance test");
      return;
    }
    const std::string prefix = config->data.empty() ? experiment.data.valid : config->data;
    const fs::path reference = text_path(prefix, experiment.data.target);
    if (!fs::exists(reference)) {
      out_.notes.push_back(record.name + ": " + reference.string() +
                           " is missing: no significance test");
      return;
    }
    const auto hypotheses = read_lines(run / result.output);
    const std::vector<std::vector<std::string>> references = {read_lines(reference)};
    if (hypotheses.size() == references.front().size()) {
      auto sentences = bleu_statistics(hypotheses, references, options->bleu_options());
      const double again =
          bleu_from_statistics(sum_of(sentences), options->bleu_options(), 1).score;
      if (std::abs(again - score) < kSameScore) {
        record.sentences = std::move(sentences);
        return;
      }
    }
    out_.notes.push_back(record.name + ": its translations (" + (run / result.output).string() +
                         ") or " + reference.string() +
                         " have changed since they were scored: no significance test");
  }

  // The hash of the vocabulary's file; without one of its own the target has the source's.
  static std::string target_vocabulary(const Json& facts) {
    const Json texts = facts.value("texts", Json::object());
    for (const char* key : {"target_model", "source_model"}) {
      const auto found = texts.find(key);
      if (found != texts.end() && found->is_string()) return found->get<std::string>();
    }
    return "";
  }

  static void read_provenance(const Json& facts, RunRecord& record) {
    for (const char* key : {"version", "commit", "libtorch", "data_key", "pairs", "processor",
                            "threads", "memory", "device", "started"}) {
      const auto found = facts.find(key);
      if (found == facts.end()) continue;
      std::string value = found->is_string() ? found->get<std::string>() : found->dump();
      if (!value.empty()) record.provenance.emplace_back(key, std::move(value));
    }
  }

  SweepResults& out_;
  SweepMetrics metrics_;
  bool sentences_;
};

std::optional<int64_t> seed_of(const fs::path& run) {
  const std::string name = run.filename().string();
  if (!name.starts_with("seed-")) return std::nullopt;
  const auto seed = parse_number<int64_t>(name.substr(5));
  return seed && *seed >= 0 ? seed : std::nullopt;
}

// The run directories of a row: also of runs that failed before they wrote a config, and of
// finished runs that have lost theirs.
std::vector<fs::path> runs_of(const fs::path& row) {
  std::vector<std::pair<int64_t, fs::path>> found;
  if (!fs::is_directory(row)) return {};
  for (const auto& entry : fs::directory_iterator(row)) {
    const auto seed = seed_of(entry.path());
    if (!seed || !entry.is_directory()) continue;
    const RunDirectory run(entry.path());
    if (run.has_config() || fs::exists(run.result()) || failure_of(entry.path())) {
      found.emplace_back(*seed, entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  for (auto& [seed, path] : found) paths.push_back(std::move(path));
  return paths;
}

// Finds finished runs whose texts have changed.
class TextCheck {
 public:
  explicit TextCheck(const fs::path& sweep) : hashes_(hash_cache_file(sweep)) {}

  void look(const fs::path& run, const Experiment& row, const RunRecord& record) {
    if (!record.finished) return;
    auto changed = changed_texts(run, row, hashes_);
    (changed.empty() ? unchanged_ : changed_)[record.name] = std::move(changed);
  }

  // Results on former texts are omitted, unless all runs used them.
  void mark(SweepResults& out) const {
    if (changed_.empty()) return;
    std::string list;
    for (const auto& [name, texts] : changed_) {
      list += list.empty() ? "" : ", ";
      list += name + " (" + texts.front() + (texts.size() > 1 ? ", …)" : ")");
    }
    out.notes.push_back("texts have changed since these runs used them: " + list +
                        (unchanged_.empty() ? "" : "; their results are omitted"));
    if (unchanged_.empty()) return;
    for (RowRecord& row : out.rows) {
      for (RunRecord& run : row.runs) {
        if (changed_.contains(run.name)) leave_out(run);
      }
    }
  }

 private:
  static void leave_out(RunRecord& run) {
    run.finished = false;
    run.state = "finished on a different text";
    run.figures = {};
    run.sentences.clear();
    run.curve.clear();
  }

  TextHashes hashes_;
  std::map<std::string, std::vector<std::string>> changed_, unchanged_;
};

RowRecord read_row(const Json& json, const fs::path& directory, Collector& collector,
                   TextCheck& texts, SweepResults& out) {
  RowRecord row;
  row.name = json.at("name").get<std::string>();
  row.about = json.at("about").get<std::string>();
  row.group = json.value("group", "");
  row.changed = json.at("changed").get<std::vector<std::string>>();
  row.paper = paper_of(json.at("paper"), "rows." + row.name + ".paper");
  flatten(json.at("config"), "", row.values);
  const Experiment experiment = read_resolved(json.at("config"), "row " + row.name);
  for (const fs::path& run : runs_of(directory / row.name)) {
    const std::string name = row.name + "/" + run.filename().string();
    if (!RunDirectory(run).has_config() && fs::exists(RunDirectory(run).result())) {
      out.notes.push_back(name + ": config.json is missing: omitted; restore the file, or delete " +
                          run.string() + " to retrain the run");
      continue;
    }
    if (!RunDirectory(run).has_config()) {
      RunRecord failed;
      failed.name = name;
      failed.seed = seed_of(run).value_or(0);
      failed.state = "failed before its first step";
      out.notes.push_back(name + " failed: " + failure_of(run).value_or("?"));
      row.runs.push_back(std::move(failed));
      continue;
    }
    const int64_t seed = load_description(run).seed;
    if (run.filename() != "seed-" + std::to_string(seed)) {
      out.notes.push_back(name + ": its config.json has seed " + std::to_string(seed) +
                          ", unlike its directory (a copy?): omitted");
    } else if (row_conflicts(run, experiment).empty()) {
      row.runs.push_back(collector.read(run, name, experiment));
      texts.look(run, experiment, row.runs.back());
    } else {
      out.notes.push_back(name +
                          " was trained with a different config than the row has now: omitted");
    }
  }
  return row;
}

// The first evaluator of each kind.
SweepMetrics metrics_of(const Experiment& experiment) {
  SweepMetrics metrics;
  for (const EvaluatorConfig& config : experiment.eval) {
    std::string& name = metrics.evaluators[config.kind()];
    if (name.empty()) name = config.name;
  }
  return metrics;
}

}  // namespace

SweepResults collect_run_results(const fs::path& run) {
  const Experiment experiment = load_description(run);
  const SweepMetrics metrics = metrics_of(experiment);
  SweepResults out;
  out.evaluators = metrics.evaluators;
  out.title = fs::absolute(run / ".").lexically_normal().parent_path().filename().string();
  out.about = experiment.about;
  const auto facts = read_run_file(run);
  const bool known = facts && facts->contains("command") && facts->at("command").is_string();
  out.command = known ? facts->at("command").get<std::string>() : "attn train CONFIG";
  out.made = "Made by " + version_line() + ".";
  if (const auto* evaluator = find_evaluator(experiment, metrics.evaluators[Metric::bleu])) {
    out.bleu_options = evaluator->get<BleuEvaluation>().bleu_options();
  }
  RowRecord row;
  row.name = out.title;
  row.runs.push_back(Collector(out, metrics, false).read(run, out.title, experiment));
  out.rows.push_back(std::move(row));
  return out;
}

SweepResults collect_results(const fs::path& directory) {
  const fs::path path = directory / kSweepFile;
  if (!fs::exists(path)) {
    throw DataError(directory.string() +
                    (fs::exists(directory)
                         ? ": not a sweep directory: " + std::string(kSweepFile) +
                               " is missing; give the directory of a sweep or a run"
                         : ": no such sweep or run"));
  }
  const auto corrupt = [&](const std::exception& error) {
    return DataError(path.string() + ": corrupt (" + error.what() +
                     "); run attn sweep again to rewrite it");
  };
  SweepResults out;
  try {
    const Json plan = parse_json(read_file(path, kLargestPlan), path.filename().string());
    SweepMetrics metrics;
    read_config(metrics, plan.at("metrics"), "metrics");
    out.evaluators = metrics.evaluators;
    const auto source = plan.at("source").get<std::string>();
    out.title = fs::path(source).stem().string();
    out.about = plan.at("about").get<std::string>();
    out.command = plan.value("command", "attn sweep " + source);  // older versions have none
    out.made = "Made by " + version_line() + ".";
    const Experiment base = read_resolved(plan.at("rows").at(0).at("config"), "the first row");
    out.averaged = base.train.average_last;
    if (const auto* evaluator = find_evaluator(base, metrics.evaluators[Metric::bleu])) {
      out.bleu_options = evaluator->get<BleuEvaluation>().bleu_options();
    }
    Collector collector(out, metrics, true);
    TextCheck texts(directory);
    for (const Json& row : plan.at("rows")) {
      out.rows.push_back(read_row(row, directory, collector, texts, out));
    }
    if (const auto published = plan.find("published"); published != plan.end()) {
      for (const Json& one : *published) {  // sweeps of earlier versions have none
        out.published.push_back(
            {one.at("name").get<std::string>(), paper_of(one.at("paper"), "published")});
      }
    }
    texts.mark(out);
    mark_incomparable(out);
  } catch (const ConfigError& error) {
    throw corrupt(error);
  } catch (const Json::exception& error) {
    throw corrupt(error);
  }
  return out;
}

}  // namespace attn
