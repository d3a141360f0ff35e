#include "app/commands/score_text.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/score_input.h"
#include "app/commands/score_metric.h"

namespace attn {
namespace {

const std::vector<std::string> kMetricNames = {"bleu", "chrf", "chrf++", "ter"};

struct ScoreTextArguments {
  ScoredFiles files;
  std::vector<std::string> metrics = {"bleu", "chrf", "ter"};
  std::string tokenizer{enum_name(BleuOptions{}.tokenizer)};
  bool lowercase = false;
  bool force = false;
  ScoreReport report;
};

TextMetric metric_of(const std::string& name, const BleuOptions& bleu, bool lowercase) {
  if (name == "bleu") return bleu_metric(bleu);
  if (name == "ter") return ter_metric({});  // ignores case anyway
  return chrf_metric({.word_order = name == "chrf++" ? 2 : 0, .lowercase = lowercase});
}

void score_text(const ScoreTextArguments& arguments) {
  BleuOptions bleu;
  bleu.tokenizer = enum_value<BleuTokenizer>(arguments.tokenizer);
  bleu.lowercase = arguments.lowercase;
  const ScoredText text = read_scored_text(arguments.files);
  std::vector<NamedMetric> metrics;
  for (const std::string& name : arguments.metrics) {
    const bool repeated = std::ranges::any_of(
        metrics, [&](const NamedMetric& metric) { return metric.name == name; });
    if (repeated) throw ConfigError("--metrics: " + name + ": duplicate metric");
    metrics.push_back({name, metric_of(name, bleu, arguments.lowercase)});
    if (name == "bleu" && !arguments.force) warn_if_tokenized(text.hypotheses, bleu);
  }
  print_scores(metrics, text, arguments.report);
}

}  // namespace

void add_score_text_command(CLI::App& score) {
  CLI::App* text =
      score.add_subcommand("text", "BLEU, chrF and TER in one call, identical to sacreBLEU 2.x");
  text->footer(
      "Prints a line per metric, with sacreBLEU's signature; with --baseline or --confidence also "
      "the\nbootstrap of each. --json prints an object keyed by metric. For more options of a "
      "metric, see\nattn score bleu, chrf and ter.\n"
      "Examples:\n"
      "  attn score text out.de ref.de\n"
      "  attn score text out.de ref.de --metrics bleu,chrf++ --baseline base.de");
  auto arguments = std::make_shared<ScoreTextArguments>();
  add_scored_files(text, arguments->files);
  text->add_option("--metrics", arguments->metrics, "Metrics, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(kMetricNames))
      ->capture_default_str();
  text->add_option("--tokenize", arguments->tokenizer, "Tokenizer of BLEU")
      ->check(CLI::IsMember(enum_choices<BleuTokenizer>()))
      ->capture_default_str();
  text->add_flag("--lowercase", arguments->lowercase, "Ignore case; TER always does");
  text->add_flag("--force", arguments->force, "No warning about text that looks tokenized");
  add_report_options(text, arguments->report);
  text->callback([arguments] { score_text(*arguments); });
}

}  // namespace attn
