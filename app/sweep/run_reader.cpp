#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "app/experiment/resume.h"
#include "app/sweep/report.h"
#include "base/format.h"
#include "train/checkpoint_store.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr double kSameScore = 1e-6;

// Whether the records have the same text under `key`, as far as both have one: older builds did
// not write it.
bool same_text(const Json& record, const Json& other, const char* key) {
  const std::string one = record.value(key, ""), two = other.value(key, "");
  return one.empty() || two.empty() || one == two;
}

// The last step that a run has logged or saved.
int64_t last_step(const fs::path& run, int64_t logged) {
  const auto saved = list_checkpoints(RunDirectory(run).checkpoints());
  return saved.empty() ? logged : std::max(logged, saved.back().step);
}

// What run.json says of the run: its vocabulary, program and machine.
void read_facts(const Json& facts, RunRecord& record) {
  const Json texts = facts.value("texts", Json::object());
  record.target_vocabulary = text_at(texts, "target_model");
  // Without a vocabulary of its own the target has the source's.
  if (record.target_vocabulary.empty()) record.target_vocabulary = text_at(texts, "source_model");
  record.commit = printable(text_at(facts, "commit"));
  for (const char* key :
       {"version", "commit", "libtorch", "data_key", "pairs", "processor", "instructions",
        kPrecision, "threads", "memory", "device", "gpu", "started"}) {
    const auto found = facts.find(key);
    if (found == facts.end()) continue;
    std::string value = found->is_string() ? found->get<std::string>() : found->dump();
    if (!value.empty()) record.provenance.emplace_back(key, std::move(value));
  }
}

// Whether two parsers have other symbols for the same tree. The sets of labels may differ, and the
// forms "tags" and "in_order" have the same symbols in another order.
bool other_symbols(const DataConfig& data, const DataConfig& other) {
  return data.drop_functions != other.drop_functions || data.drop_traces != other.drop_traces ||
         (data.tree_form == TreeForm::xx) != (other.tree_form == TreeForm::xx);
}

// The known values of a fact in the finished runs of a row.
template <class Fact>
std::set<std::string> values_of(const RowRecord& row, Fact fact) {
  std::set<std::string> values;
  for (const RunRecord& run : row.runs) {
    if (run.is_finished() && !fact(run).empty()) values.insert(fact(run));
  }
  return values;
}

// Whether the runs of two rows with the same seed logged the same values.
bool same_values(const RowRecord& row, const RowRecord& other,
                 std::vector<double> RunRecord::*values) {
  size_t compared = 0;
  for (const RunRecord& a : row.runs) {
    for (const RunRecord& b : other.runs) {
      if (a.seed != b.seed || !a.is_finished() || !b.is_finished()) continue;
      if (a.losses.empty() || a.*values != b.*values) return false;
      ++compared;
    }
  }
  return compared > 0;
}

// The names of the rows with finished runs by the value of a fact of these runs, if it is known.
template <class Fact>
std::map<std::string, std::string> rows_by(const SweepResults& results, Fact fact) {
  std::map<std::string, std::string> names;
  for (const RowRecord& row : results.rows) {
    for (const std::string& value : values_of(row, fact)) {
      names[value] += (names[value].empty() ? "" : ", ") + row.name;
    }
  }
  return names;
}

}  // namespace

RunRecord RunReader::read(const fs::path& run, const std::string& name, const Experiment& own,
                          const Experiment& row) {
  RunRecord record;
  record.name = name;
  record.seed = own.seed;
  const int64_t logged = read_curves(run, own, row, record);
  const auto result = finished_result(run, row.train);
  if (result && result->end == RunEnd::diverged) {
    record.state = RunState::failed;
    record.status = "diverged at step " + std::to_string(result->step);
    out_.notes.push_back(name + " " + record.status);
  } else if (result) {
    read_scores(run, own, *result, record);
    if (result->end == RunEnd::patience) {
      record.status = "early stopping at step " + std::to_string(result->step) + " of " +
                      std::to_string(own.train.steps);
    }
  } else if (const auto why = failure_of(run)) {
    record.state = RunState::failed;
    record.status = "failed at step " + std::to_string(last_step(run, logged));
    out_.notes.push_back(name + " failed: " + *why);
  } else {
    record.status = "at step " + std::to_string(last_step(run, logged)) + " of " +
                    std::to_string(row.train.steps);
  }
  record.provenance = {{"config", RunDirectory(run).config().string()}};
  const Json facts = read_run_file(run);
  read_facts(facts, record);
  record.as_read = as_read(facts, result);
  return record;
}

void RunReader::note_tests() {
  const auto counts = [](const TestScorings& of) {
    return counted(of.times, "time") + " by " + counted(std::ssize(of.runs), "run");
  };
  for (const auto& [key, here] : tests_) {
    const bool known = !here.set.empty();
    out_.notes.push_back(
        (known ? "test set " + here.set : "a former test set") + " (" + key.substr(0, 8) +
        "): scored " + counts(here) + " of this report" +
        (known ? "; by its ledger " + counts(scorings_in_ledger(here.set, key)) : ""));
  }
}

// The losses and the learning curves; returns the largest step in the metrics.
int64_t RunReader::read_curves(const fs::path& run, const Experiment& own, const Experiment& row,
                               RunRecord& record) {
  int64_t step = 0;
  std::map<std::string, std::map<int64_t, std::string>> changes;  // by option and step
  const std::vector<Json> lines = read_metrics(run);
  std::map<std::string, const Json*> last;  // scores of each evaluator
  for (const Json& line : lines) {
    if (has_scores(line)) last[line.value("name", "")] = &line;
  }
  for (const Json& line : lines) {
    const std::string kind = line.value("kind", ""), evaluator = line.value("name", "");
    const int64_t at = step_of(line);
    const auto ppl = number_at(line, "ppl");
    step = std::max(step, at);
    if (kind == "train") {
      record.losses.push_back(number_at(line, "loss").value_or(0.0));
      if (ppl) record.curve.push_back({at, kTrainingCurve, kCheckpoint, "ppl", *ppl});
      continue;
    }
    if (kind == "change") {  // again by each resume from this step
      changes[line.value("option", "")][at] = line.value("after", Json()).dump();
    }
    if (kind == "eval" && ppl && evaluator == out_.evaluators[Metric::loss]) {
      record.perplexities.push_back(*ppl);
    }
    if (!has_scores(line)) continue;
    const bool now = same_text(line, *last[evaluator], "text");
    if (const auto* config = find_evaluator(row, evaluator); config && config->test) {
      TestScorings& all = tests_[line.value("text", "")];
      if (now) all.set = config->text(row.data);
      all.runs.insert(record.name);
      ++all.times;
    }
    // Scores of another text, or by other options, than the last ones are no part of a curve.
    if (!now || !same_text(line, *last[evaluator], "options")) continue;
    const std::string weights = kind == "eval" ? kCheckpoint : kind;
    for (const auto& [key, value] : line.items()) {
      if (key == "step" || key == "eval_seconds" || !value.is_number()) continue;
      record.curve.push_back({at, evaluator, weights, key, value.get<double>()});
    }
  }
  auto values = values_by_path(write_resolved(own));
  for (auto& [option, steps] : changes) {
    // The run was killed before an update, and resumed without the change.
    if (steps.rbegin()->second != values[option]) steps.erase(steps.rbegin()->first);
    for (const auto& [at, value] : steps) {
      record.changes += (record.changes.empty() ? "" : ", ") + option + " " + value +
                        " from step " + std::to_string(at);
    }
  }
  return step;
}

void RunReader::read_scores(const fs::path& run, const Experiment& experiment,
                            const RunResult& result, RunRecord& record) {
  record.state = RunState::finished;
  record.result = result;
  for (const MetricFacts& facts : kMetrics) {
    const std::string& name = out_.evaluators[facts.metric];
    if (name.empty()) continue;
    const auto omit = [&](const std::string& why) {
      out_.notes.push_back(record.name + ": " + why + ": omitted from " + facts.title);
    };
    const auto found = result.results.find(name);
    const EvaluatorConfig* evaluator = find_evaluator(experiment, name);
    if (found == result.results.end() || evaluator == nullptr ||
        evaluator->kind() != facts.metric) {
      omit("has no result of evaluator " + name);
      continue;
    }
    const EvaluatorResult& scores = found->second;
    const auto value = scores.values.find(facts.key);
    if (value == scores.values.end()) {
      omit("its " + std::string(facts.key) + " is not a finite number (the run diverged)");
      continue;
    }
    std::string& signature = out_.signatures[facts.metric];  // of the first score
    if (signature.empty()) signature = scores.signature;
    if (signature != scores.signature) {
      out_.notes.push_back(record.name + ": scored with signature " + scores.signature +
                           ", unlike the first row: omitted");
      continue;
    }
    if (const auto cut = scores.values.find("unfinished");
        cut != scores.values.end() && cut->second > 0) {
      out_.notes.push_back(
          record.name + ": outputs of " + name +
          " cut at the length limit (search.extra_length): " + decimal(cut->second, 0));
    }
    record.scores[facts.metric] = value->second;
    record.texts[facts.metric] = scores.text;
    if (!out_.single_run && facts.bootstrap) {
      record.outputs[facts.metric] = read_outputs(run / scores.output, experiment.data, *evaluator,
                                                  value->second, record.name);
    }
  }
}

// The outputs for tests over sentences; none, with a note, if they are not those that were scored.
ResampledSystem RunReader::read_outputs(const fs::path& output, const DataConfig& data,
                                        const EvaluatorConfig& evaluator, double score,
                                        const std::string& run) {
  std::string why;
  try {
    ResampledSystem system = evaluator.resampled(output, data);
    std::vector<uint32_t> all(system.sentences);
    std::iota(all.begin(), all.end(), 0);
    if (std::abs(system.score(all) - score) < kSameScore) return system;
  } catch (const std::exception& error) {
    why = std::string(" (") + error.what() + ")";
  }
  out_.notes.push_back(
      run + ": its outputs (" + output.string() + ") or the references in " + evaluator.text(data) +
      " are missing, or have changed since they were scored: its row is left out of the bootstrap" +
      why);
  return {};
}

void mark_incomparable(SweepResults& out, std::span<const Experiment> experiments) {
  const auto mark = [&](RowRecord& row, const RowRecord& other, Metric metric,
                        const std::string& why) {
    if (std::exchange(row.incomparable[metric], true)) return;
    out.notes.push_back(row.name + ": its " + why + " than that of " + other.name +
                        ": no difference is shown");
  };
  const auto compare = [&](size_t i, size_t with) {
    RowRecord& row = out.rows[i];
    const RowRecord& other = out.rows[with];
    const auto differ = [&](const auto& fact) {  // where the fact is known
      auto values = values_of(row, fact);
      values.merge(values_of(other, fact));
      return values.size() > 1;
    };
    for (const MetricFacts& facts : kMetrics) {
      if (differ([&](const RunRecord& run) { return run.texts[facts.metric]; })) {
        mark(row, other, facts.metric,
             std::string(facts.title) + " was computed on different data");
      }
    }
    const DataConfig &data = experiments[i].data, &other_data = experiments[with].data;
    const auto vocabulary = [](const RunRecord& run) { return run.target_vocabulary; };
    if (data.task == Task::parsing ? other_symbols(data, other_data) : differ(vocabulary)) {
      mark(row, other, Metric::loss, "perplexity is per token of a different vocabulary");
    }
  };
  for (size_t i = 0; i < out.rows.size(); ++i) {  // the first one's seeds may differ, too
    compare(i, 0);                                // the variance over seeds is that of all rows
    if (out.rows[i].baseline != 0) compare(i, out.rows[i].baseline);
  }
}

void mark_equivalent(SweepResults& out, std::span<const Experiment> experiments) {
  std::vector<std::string> trainings;
  for (size_t i = 0; i < out.rows.size(); ++i) {
    trainings.push_back(out.rows[i].change.record + training_text(experiments[i]));
    for (size_t k = 0; k < i && !out.rows[i].equivalent_row; ++k) {
      if (trainings[i] == trainings[k] &&
          same_values(out.rows[i], out.rows[k], &RunRecord::losses)) {
        out.rows[i].equivalent_row = k;
      }
    }
  }
}

void note_ineffective(SweepResults& out, std::span<const Experiment> experiments) {
  for (size_t i = 1; i < out.rows.size(); ++i) {
    const auto with = static_cast<size_t>(out.rows[i].baseline);
    const ProgramChange &change = out.rows[i].change, &former = out.rows[with].change;
    auto options = resume_conflicts(experiments[with], experiments[i]);
    if (change.record != former.record) {
      options.insert(options.begin(), (change.kind.empty() ? former : change).label());
    }
    if (changed_paths(experiments[with], experiments[i]).empty() &&
        change.record == former.record) {
      out.notes.push_back(out.rows[i].name + ": has the options of " + out.rows[with].name);
    }
    if (options.empty() || !same_values(out.rows[i], out.rows[with], &RunRecord::losses) ||
        !same_values(out.rows[i], out.rows[with], &RunRecord::perplexities)) {
      continue;
    }
    out.notes.push_back(out.rows[i].name + ": all its losses equal those of " +
                        out.rows[with].name + " to the last bit: " + joined(options, ", ") +
                        " had no effect?");
  }
}

void note_builds(SweepResults& out) {
  for (const auto& [paths, rows] : rows_by(out, [](const RunRecord& run) { return run.as_read; })) {
    out.notes.push_back(rows + " ran as read, without the fast paths of edited formulas: " + paths);
  }
  for (const auto& [changes, rows] :
       rows_by(out, [](const RunRecord& run) { return run.changes; })) {
    out.notes.push_back(rows + " changed while it was trained: " + changes);
  }
  const auto commits = rows_by(out, [](const RunRecord& run) { return run.commit; });
  if (commits.size() < 2) return;
  std::string list;
  for (const auto& [commit, rows] : commits) {
    list += (list.empty() ? "" : "; ") + commit + ": " + rows;
  }
  out.notes.push_back("rows were trained by different commits of attn (" + list + ")");
}

}  // namespace attn
