#include "app/commands/commands.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/commands/output_file.h"
#include "app/commands/score.h"
#include "eval/metrics/bleu.h"

namespace attn {
namespace {

/// The options of all metrics, of which a command sets those of the metrics that it prints.
struct ScoreArguments {
  ScoredFiles files;
  std::vector<std::string> metrics;
  std::string tokenizer{enum_name(BleuOptions{}.tokenizer)};
  std::string smoothing{enum_name(BleuOptions{}.smoothing)};
  BleuOptions bleu;
  ChrfOptions chrf;
  TerOptions ter;
  bool force = false;
  ScoreReport report;
};

const std::vector<std::string> kMetricNames = {"bleu", "chrf", "chrf++", "ter"};

TextMetric metric_of(const std::string& name, const ScoreArguments& arguments) {
  if (name == "bleu") return bleu_metric(arguments.bleu);
  if (name == "ter") return ter_metric(arguments.ter);
  ChrfOptions chrf = arguments.chrf;
  if (name == "chrf++") chrf.word_order = 2;
  return chrf_metric(chrf);
}

void score_text(ScoreArguments arguments) {
  arguments.bleu.tokenizer = enum_value<BleuTokenizer>(arguments.tokenizer);
  arguments.bleu.smoothing = enum_value<BleuSmoothing>(arguments.smoothing);
  arguments.bleu.validate();
  arguments.chrf.validate();
  const TerOptions& ter = arguments.ter;
  if (ter.asian_support && !ter.normalized && !ter.no_punct) {
    throw ConfigError("--asian-support: requires --normalized or --no-punct");
  }
  const ScoredText text = read_scored_text(arguments.files);
  std::vector<NamedMetric> metrics;
  for (const std::string& name : arguments.metrics) {
    const bool repeated = std::ranges::any_of(
        metrics, [&](const NamedMetric& metric) { return metric.name == name; });
    if (repeated) throw ConfigError("--metrics: " + name + ": duplicate metric");
    metrics.push_back({name, metric_of(name, arguments)});
    if (name == "bleu" && !arguments.force) warn_if_tokenized(text.hypotheses, arguments.bleu);
  }
  print_scores(metrics, text, arguments.report);
}

struct ScoreTriplesArguments {
  std::string source, hypothesis, reference;
  std::filesystem::path output;
};

void score_triples(const ScoreTriplesArguments& arguments) {
  require_no_input(
      {"--output", arguments.output},
      {{"SRC", arguments.source}, {"HYP", arguments.hypothesis}, {"REF", arguments.reference}});
  const TextFile source = read_text(arguments.source, false, ByteOrderMark::drop);
  const ScoredText text =
      read_scored_text({arguments.hypothesis, {arguments.reference}}, ByteOrderMark::drop);
  check_same_length(text.hypotheses, source, "hypotheses and source");
  OutputFile output(arguments.output);
  for (size_t i = 0; i < source.lines.size(); ++i) {
    const Json triple = {{"src", source.lines[i]},
                         {"mt", text.hypotheses.lines[i]},
                         {"ref", text.references.front()[i]}};
    output.stream() << triple.dump() << '\n';
  }
  output.commit();
}

/// Adds a command that prints these metrics, with the arguments that all have.
CLI::App* add_metrics(CLI::App& score, const std::string& name, const std::string& about,
                      const std::string& footer, const std::shared_ptr<ScoreArguments>& arguments,
                      const std::vector<std::string>& metrics) {
  CLI::App* command = score.add_subcommand(name, about);
  command->footer(footer);
  arguments->metrics = metrics;
  add_scored_files(command, arguments->files);
  add_report_options(command, arguments->report);
  command->callback([arguments] { score_text(*arguments); });
  return command;
}

void add_tokenizer(CLI::App* command, ScoreArguments& arguments) {
  command
      ->add_option("--tokenize", arguments.tokenizer,
                   "Tokenizer of BLEU; none and compound expect tokenized text")
      ->check(CLI::IsMember(enum_choices<BleuTokenizer>()))
      ->capture_default_str();
  command->add_flag("--force", arguments.force, "No warning about text that looks tokenized");
}

void add_bleu(CLI::App& score) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* bleu = add_metrics(
      score, "bleu", "Corpus BLEU, identical to sacreBLEU 2.x",
      "Prints the score with sacreBLEU's signature.\n"
      "Examples:\n"
      "  attn score bleu out.de ref.de                          as sacreBLEU, on raw text\n"
      "  attn translate RUN < in.en | attn score bleu - ref.de\n"
      "  attn score bleu out.tok ref.tok --tokenize none --smooth none       as multi-bleu\n"
      "  attn score bleu out.tok ref.tok --tokenize compound --smooth none   as the 2017 paper",
      arguments, {"bleu"});
  add_tokenizer(bleu, *arguments);
  bleu->add_option("--smooth", arguments->smoothing, "Smoothing of n-gram orders without matches")
      ->check(CLI::IsMember(enum_choices<BleuSmoothing>()))
      ->capture_default_str();
  bleu->add_option("--smooth-value", arguments->bleu.smoothing_value,
                   "Value of floor (default 0.1) and add-k (default 1)");
  bleu->add_flag("--lowercase", arguments->bleu.lowercase, "Ignore case");
  bleu->add_flag("--effective-order", arguments->bleu.effective_order,
                 "Ignore n-gram orders longer than the text");
}

void add_chrf(CLI::App& score) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* chrf = add_metrics(score, "chrf", "Corpus chrF and chrF++, identical to sacreBLEU 2.x",
                               "Examples:\n"
                               "  attn score chrf out.de ref.de                    chrF2\n"
                               "  attn score chrf out.de ref.de --word-order 2     chrF2++\n"
                               "  attn translate RUN < in.en | attn score chrf - ref.de",
                               arguments, {"chrf"});
  ChrfOptions& options = arguments->chrf;
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
}

void add_ter(CLI::App& score) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* ter =
      add_metrics(score, "ter", "Corpus TER (translation edit rate), identical to sacreBLEU 2.x",
                  "Edits in percent of the reference length: 0 is best.\n"
                  "Examples:\n"
                  "  attn score ter out.de ref.de\n"
                  "  attn score ter out.de ref.de --normalized --case-sensitive\n"
                  "  attn translate RUN < in.en | attn score ter - ref.de --baseline other.de",
                  arguments, {"ter"});
  TerOptions& options = arguments->ter;
  ter->add_flag("--case-sensitive", options.case_sensitive, "Do not ignore case");
  ter->add_flag("--normalized", options.normalized,
                "Tokenize punctuation and XML entities as Tercom does");
  ter->add_flag("--no-punct", options.no_punct, "Remove punctuation");
  ter->add_flag("--asian-support", options.asian_support,
                "Also split or remove Chinese and Japanese characters and punctuation");
}

void add_text(CLI::App& score) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* text = add_metrics(
      score, "text", "BLEU, chrF and TER in one call, identical to sacreBLEU 2.x",
      "Prints a line per metric, with sacreBLEU's signature; with --baseline or --confidence also "
      "the\nbootstrap of each. --json prints an object keyed by metric. For more options of a "
      "metric, see\nattn score bleu, chrf and ter.\n"
      "Examples:\n"
      "  attn score text out.de ref.de\n"
      "  attn score text out.de ref.de --metrics bleu,chrf++ --baseline base.de",
      arguments, {"bleu", "chrf", "ter"});
  text->add_option("--metrics", arguments->metrics, "Metrics, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(kMetricNames))
      ->capture_default_str();
  add_tokenizer(text, *arguments);
  text->add_flag_callback(
      "--lowercase", [arguments] { arguments->bleu.lowercase = arguments->chrf.lowercase = true; },
      "Ignore case; TER always does");
}

void add_triples(CLI::App& score) {
  CLI::App* triples = score.add_subcommand(
      "triples", "Write triples of source, output and reference for metrics such as COMET");
  triples->footer(
      "One JSON object per line with the keys src, mt and ref, the input format of COMET's "
      "predict().\n"
      "Example: attn score triples in.en out.de ref.de --output triples.jsonl");
  auto arguments = std::make_shared<ScoreTriplesArguments>();
  triples->add_option("SRC", arguments->source, "Source text, one sentence per line")->required();
  triples->add_option("HYP", arguments->hypothesis, "Hypotheses, line by line; - is stdin")
      ->required();
  triples->add_option("REF", arguments->reference, "Reference, line by line")->required();
  triples->add_option("-o,--output", arguments->output, "Output file (default: standard output)");
  triples->callback([arguments] { score_triples(*arguments); });
}

}  // namespace

void add_score_command(CLI::App& app) {
  CLI::App* score = app.add_subcommand(
      "score", "Score text or tree files with BLEU, chrF, TER or F1, without a model");
  score->footer(
      "Examples: attn score bleu out.de ref.de --tokenize 13a\n"
      "          attn score chrf out.de ref.de --word-order 2\n"
      "          attn score text out.de ref.de --metrics bleu,chrf,ter --baseline base.de\n"
      "          attn score parse gold.ptb out.ptb\n"
      "See attn score bleu --help etc. for the options.");
  score->require_subcommand(1);
  add_bleu(*score);
  add_chrf(*score);
  add_ter(*score);
  add_text(*score);
  add_triples(*score);
  add_score_parse_command(*score);
}

}  // namespace attn
