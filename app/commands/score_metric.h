// Metrics of text as values, so that one command can compute several.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/commands/score_input.h"
#include "eval/metrics/bleu.h"
#include "eval/metrics/bootstrap.h"
#include "eval/metrics/chrf.h"
#include "eval/metrics/ter.h"

namespace attn {

/// The score of a system and its score on any multiset of sentences, which stays valid.
struct MetricScore {
  std::string line;  ///< as sacreBLEU prints it
  Json json;
  ResampledSystem resampled;
};

/// Scores hypotheses against references, [reference][sentence].
using TextMetric = std::function<MetricScore(std::span<const std::string>,
                                             std::span<const std::vector<std::string>>)>;

TextMetric bleu_metric(const BleuOptions& options);
TextMetric chrf_metric(const ChrfOptions& options);
TextMetric ter_metric(const TerOptions& options);

/// What to print besides the score.
struct ScoreReport {
  std::string baseline;     ///< output of a baseline, for the paired test; may be empty
  bool confidence = false;  ///< confidence interval
  bool json = false;
};

struct NamedMetric {
  std::string name;  ///< key in JSON
  TextMetric metric;
};

/// Prints the scores of a system's output on stdout; as JSON one object, with several metrics by
/// name. Throws like read_text() and check_same_length() for the baseline.
void print_scores(std::span<const NamedMetric> metrics, const ScoredText& text,
                  const ScoreReport& report);

/// Adds --baseline, --confidence and --json.
void add_report_options(CLI::App* command, ScoreReport& report);

}  // namespace attn
