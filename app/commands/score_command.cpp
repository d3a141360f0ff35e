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

struct ScoreTriplesArguments {
  std::string source, hypothesis, reference, format = "jsonl";
  std::filesystem::path output;
};

/// A field of a CSV file (RFC 4180).
std::string csv_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    out += c;
    if (c == '"') out += c;
  }
  return out + "\"";
}

void score_triples(const ScoreTriplesArguments& arguments) {
  require_no_input(
      {"--output", arguments.output},
      {{"SRC", arguments.source}, {"HYP", arguments.hypothesis}, {"REF", arguments.reference}});
  const TextFile source = read_text(arguments.source, false, ByteOrderMark::drop);
  const ScoredText text =
      read_scored_text({arguments.hypothesis, {arguments.reference}}, ByteOrderMark::drop);
  check_same_length(text.hypotheses, source, "hypotheses and source");
  OutputFile output(arguments.output);
  const bool csv = arguments.format == "csv";
  if (csv) output.stream() << "src,mt,ref\n";
  for (size_t i = 0; i < source.lines.size(); ++i) {
    const std::string &from = source.lines[i], &to = text.hypotheses.lines[i];
    const std::string& reference = text.references.front()[i];
    if (csv) {
      output.stream() << csv_field(from) << ',' << csv_field(to) << ',' << csv_field(reference)
                      << '\n';
    } else {
      output.stream() << Json({{"src", from}, {"mt", to}, {"ref", reference}}).dump() << '\n';
    }
  }
  output.commit();
}

void add_bleu(CLI::App& score) {
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

void add_chrf(CLI::App& score) {
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

void add_ter(CLI::App& score) {
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

void add_text(CLI::App& score) {
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

void add_triples(CLI::App& score) {
  CLI::App* triples = score.add_subcommand(
      "triples", "Write triples of source, output and reference for metrics such as COMET");
  triples->footer(
      "One JSON object per line with the keys src, mt and ref, the input format of COMET's "
      "predict(), or a CSV file\nwith these columns.\n"
      "Example: attn score triples in.en out.de ref.de --output triples.jsonl");
  auto arguments = std::make_shared<ScoreTriplesArguments>();
  triples->add_option("SRC", arguments->source, "Source text, one sentence per line")->required();
  triples->add_option("HYP", arguments->hypothesis, "Hypotheses, line by line; - is stdin")
      ->required();
  triples->add_option("REF", arguments->reference, "Reference, line by line")->required();
  triples->add_option("--format", arguments->format, "File format")
      ->check(CLI::IsMember({"jsonl", "csv"}))
      ->capture_default_str();
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
