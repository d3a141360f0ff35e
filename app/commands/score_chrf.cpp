#include "app/commands/score_chrf.h"

#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/commands/score_text.h"
#include "base/json_config.h"
#include "eval/metrics/bootstrap.h"
#include "eval/metrics/chrf.h"

namespace attn {
namespace {

struct ScoreChrfArguments {
  std::string hypothesis;
  std::vector<std::string> references;
  ChrfOptions options;
  std::string baseline;
  bool confidence = false;
  bool json = false;
};

using Runs = std::vector<std::vector<ChrfStatistics>>;

/// Confidence intervals, and the paired test if there is a baseline.
PairedBootstrap resample(const ScoredText& text, const Runs& runs,
                         const ScoreChrfArguments& arguments) {
  const auto score = [&](const ChrfStatistics& statistics) {
    return chrf_from_statistics(statistics, arguments.options, 1).score;
  };
  const ResampledSystem system = resampled_system(runs, score);
  if (arguments.baseline.empty()) return resample_systems(system, {});
  const TextFile baseline = read_text(arguments.baseline, false);
  check_same_length(text.hypotheses, baseline);
  const Runs baseline_runs = {chrf_statistics(baseline.lines, text.references, arguments.options)};
  return resample_systems(resampled_system(baseline_runs, score), std::span(&system, 1));
}

void score_chrf(const ScoreChrfArguments& arguments) {
  arguments.options.validate();
  const ScoredText text = read_scored_text(arguments.hypothesis, arguments.references);
  const Runs runs = {chrf_statistics(text.hypotheses.lines, text.references, arguments.options)};
  const ChrfScore score = chrf_from_statistics(sum_of(runs.front()), arguments.options,
                                               static_cast<int64_t>(text.references.size()));
  std::optional<PairedBootstrap> resampled;
  if (arguments.confidence || !arguments.baseline.empty()) {
    resampled = resample(text, runs, arguments);
  }
  if (arguments.json) {
    Json json = {{"score", score.score}, {"name", score.name}, {"signature", score.signature}};
    if (resampled) add_resampled(json, *resampled);
    std::cout << json.dump(2) << "\n";
    return;
  }
  std::cout << format_chrf(score) << "\n";
  if (resampled) print_resampled(*resampled);
}

}  // namespace

void add_score_chrf_command(CLI::App& score) {
  CLI::App* chrf =
      score.add_subcommand("chrf", "Corpus chrF and chrF++, identical to sacreBLEU 2.x");
  chrf->footer(
      "Examples:\n"
      "  attn score chrf out.de ref.de                    chrF2\n"
      "  attn score chrf out.de ref.de --word-order 2     chrF2++\n"
      "  attn translate RUN < in.en | attn score chrf - ref.de");
  auto arguments = std::make_shared<ScoreChrfArguments>();
  ChrfOptions& options = arguments->options;
  chrf->add_option("HYP", arguments->hypothesis, "Hypotheses, one per line; - is stdin")
      ->required();
  chrf->add_option("REF", arguments->references, "References, line by line; several files allowed")
      ->required();
  chrf->add_option("--char-order", options.char_order, "Character n-gram order")
      ->capture_default_str();
  chrf->add_option("--word-order", options.word_order, "Word n-gram order; 2 is chrF++")
      ->capture_default_str();
  chrf->add_option("--beta", options.beta, "Weight of recall over precision")
      ->capture_default_str();
  chrf->add_flag("--lowercase", options.lowercase, "Ignore case");
  chrf->add_flag("--whitespace", options.whitespace, "Include white space in character n-grams");
  chrf->add_flag("--eps-smoothing", options.eps_smoothing,
                 "Average the F-scores of all orders, as chrF++.py, NLTK and Moses do");
  chrf->add_option("--baseline", arguments->baseline,
                   "Output of a baseline: paired bootstrap test (sacreBLEU --paired-bs)");
  chrf->add_flag("--confidence", arguments->confidence,
                 "95 % confidence interval, 1000 bootstrap resamples (sacreBLEU --confidence)");
  chrf->add_flag("--json", arguments->json, "Print JSON in full precision");
  chrf->callback([arguments] { score_chrf(*arguments); });
}

}  // namespace attn
