#include "app/commands/score_ter.h"

#include <memory>
#include <span>

#include "app/commands/score_input.h"
#include "app/commands/score_metric.h"

namespace attn {
namespace {

struct ScoreTerArguments {
  ScoredFiles files;
  TerOptions options;
  ScoreReport report;
};

void score_ter(const ScoreTerArguments& arguments) {
  const TerOptions& options = arguments.options;
  if (options.asian_support && !options.normalized && !options.no_punct) {
    throw ConfigError("--asian-support: requires --normalized or --no-punct");
  }
  const ScoredText text = read_scored_text(arguments.files);
  const NamedMetric metric{"ter", ter_metric(options)};
  print_scores(std::span(&metric, 1), text, arguments.report);
}

}  // namespace

void add_score_ter_command(CLI::App& score) {
  CLI::App* ter =
      score.add_subcommand("ter", "Corpus TER (translation edit rate), identical to sacreBLEU 2.x");
  ter->footer(
      "Edits in percent of the reference length: 0 is best.\n"
      "Examples:\n"
      "  attn score ter out.de ref.de\n"
      "  attn score ter out.de ref.de --normalized --case-sensitive\n"
      "  attn translate RUN < in.en | attn score ter - ref.de --baseline other.de");
  auto arguments = std::make_shared<ScoreTerArguments>();
  TerOptions& options = arguments->options;
  add_scored_files(ter, arguments->files);
  ter->add_flag("--case-sensitive", options.case_sensitive, "Do not ignore case");
  ter->add_flag("--normalized", options.normalized,
                "Tokenize punctuation and XML entities as Tercom does");
  ter->add_flag("--no-punct", options.no_punct, "Remove punctuation");
  ter->add_flag("--asian-support", options.asian_support,
                "Also split or remove Chinese and Japanese characters and punctuation");
  add_report_options(ter, arguments->report);
  ter->callback([arguments] { score_ter(*arguments); });
}

}  // namespace attn
