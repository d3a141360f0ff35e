#include "app/commands/score_chrf.h"

#include <memory>
#include <span>

#include "app/commands/score_input.h"
#include "app/commands/score_metric.h"

namespace attn {
namespace {

struct ScoreChrfArguments {
  ScoredFiles files;
  ChrfOptions options;
  ScoreReport report;
};

void score_chrf(const ScoreChrfArguments& arguments) {
  arguments.options.validate();
  const ScoredText text = read_scored_text(arguments.files);
  const NamedMetric metric{"chrf", chrf_metric(arguments.options)};
  print_scores(std::span(&metric, 1), text, arguments.report);
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
  add_scored_files(chrf, arguments->files);
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
  add_report_options(chrf, arguments->report);
  chrf->callback([arguments] { score_chrf(*arguments); });
}

}  // namespace attn
