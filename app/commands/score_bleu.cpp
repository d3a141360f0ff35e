#include "app/commands/score_bleu.h"

#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "app/commands/score_input.h"
#include "app/commands/score_metric.h"
#include "eval/metrics/bleu.h"

namespace attn {
namespace {

struct ScoreBleuArguments {
  ScoredFiles files;
  std::string tokenizer{enum_name(BleuOptions{}.tokenizer)};
  std::string smoothing{enum_name(BleuOptions{}.smoothing)};
  std::optional<double> smoothing_value;
  bool lowercase = false;
  bool effective_order = false;
  bool force = false;
  ScoreReport report;
};

BleuOptions bleu_options(const ScoreBleuArguments& arguments) {
  BleuOptions options;
  options.tokenizer = enum_value<BleuTokenizer>(arguments.tokenizer);
  options.smoothing = enum_value<BleuSmoothing>(arguments.smoothing);
  options.smoothing_value = arguments.smoothing_value;
  options.lowercase = arguments.lowercase;
  options.effective_order = arguments.effective_order;
  options.validate();
  return options;
}

void score_bleu(const ScoreBleuArguments& arguments) {
  const BleuOptions options = bleu_options(arguments);
  const ScoredText text = read_scored_text(arguments.files);
  if (!arguments.force) warn_if_tokenized(text.hypotheses, options);
  const NamedMetric metric{"bleu", bleu_metric(options)};
  print_scores(std::span(&metric, 1), text, arguments.report);
}

}  // namespace

void add_score_bleu_command(CLI::App& score) {
  CLI::App* bleu = score.add_subcommand("bleu", "Corpus BLEU, identical to sacreBLEU 2.x");
  bleu->footer(
      "Prints the score with sacreBLEU's signature.\n"
      "Examples:\n"
      "  attn score bleu out.de ref.de                          as sacreBLEU, on raw text\n"
      "  attn translate RUN < in.en | attn score bleu - ref.de\n"
      "  attn score bleu out.tok ref.tok --tokenize none --smooth none       as multi-bleu\n"
      "  attn score bleu out.tok ref.tok --tokenize compound --smooth none   as the 2017 paper");
  auto arguments = std::make_shared<ScoreBleuArguments>();
  add_scored_files(bleu, arguments->files);
  bleu->add_option("--tokenize", arguments->tokenizer,
                   "Tokenizer; none and compound expect tokenized text")
      ->check(CLI::IsMember(enum_choices<BleuTokenizer>()))
      ->capture_default_str();
  bleu->add_option("--smooth", arguments->smoothing, "Smoothing of n-gram orders without matches")
      ->check(CLI::IsMember(enum_choices<BleuSmoothing>()))
      ->capture_default_str();
  bleu->add_option("--smooth-value", arguments->smoothing_value,
                   "Value of floor (default 0.1) and add-k (default 1)");
  bleu->add_flag("--lowercase", arguments->lowercase, "Ignore case");
  bleu->add_flag("--effective-order", arguments->effective_order,
                 "Ignore n-gram orders longer than the text");
  bleu->add_flag("--force", arguments->force, "No warning about text that looks tokenized");
  add_report_options(bleu, arguments->report);
  bleu->callback([arguments] { score_bleu(*arguments); });
}

}  // namespace attn
