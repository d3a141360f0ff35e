#include "app/sweep/run_report.h"

#include <algorithm>
#include <iostream>

#include "app/experiment/experiment.h"
#include "app/experiment/run_result.h"
#include "app/sweep/results.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

MetricCurve& curve_of(SingleRun& run, const Experiment& experiment, const std::string& evaluator,
                      const std::string& weights, const std::string& metric) {
  for (MetricCurve& curve : run.curves) {
    if (curve.evaluator == evaluator && curve.weights == weights && curve.metric == metric) {
      return curve;
    }
  }
  run.curves.push_back(
      {.evaluator = evaluator, .weights = weights, .metric = metric, .title = {}, .values = {}});
  for (const EvaluatorConfig& config : experiment.eval) {
    if (config.name != evaluator) continue;
    const MetricFacts& facts =
        *std::find_if(kMetrics.begin(), kMetrics.end(),
                      [&](const MetricFacts& other) { return other.metric == config.kind(); });
    if (facts.key == metric) run.curves.back().title = facts.name;
    run.curves.back().lower_is_better = facts.lower_is_better;
  }
  return run.curves.back();
}

void read_curves(SingleRun& out, const fs::path& run) {
  const Experiment experiment = load_description(run);
  for (const Json& record : read_metrics(run)) {
    const int64_t step = step_of(record);
    const std::string kind = record.value("kind", "");
    if (kind == "train") {
      if (const auto ppl = number_at(record, "ppl")) out.training.push_back({step, *ppl});
      continue;
    }
    const std::string name = record.value("name", "");
    const std::string weights = kind == "average" ? kind : "checkpoint";
    for (const auto& [key, value] : record.items()) {
      if (key == "step" || key == "eval_seconds" || !value.is_number()) continue;
      curve_of(out, experiment, name, weights, key).values.emplace_back(step, value.get<double>());
    }
  }
}

}  // namespace

RunReport::RunReport(const fs::path& path)
    : directory(path), run{.results = collect_run_results(path), .training = {}, .curves = {}} {
  read_curves(run, path);
}

std::string RunReport::write() const {
  const RunDirectory files(directory);
  const std::string markdown = markdown_report(run);
  try {
    write_file_atomically(files.report(".md"), markdown);
    write_file_atomically(files.report(".html"), html_report(run));
    write_file_atomically(files.evaluations(), to_csv(evaluations_table(run)));
  } catch (const DataError& error) {  // another user's results may be read-only
    std::cerr << error.what() << "; the report is only printed\n";
    return markdown;
  }
  std::cerr << "written: " << files.report(".html").string()
            << ", and report.md, evaluations.csv beside it\n";
  return markdown;
}

}  // namespace attn
