#include "app/commands/commands.h"

#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "app/commands/text_io.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "data/lines.h"
#include "eval/metrics/bleu.h"
#include "eval/metrics/chrf.h"
#include "eval/metrics/ter.h"
#include "eval/metrics/text_score.h"

namespace attn {
namespace {

// Adds an option whose choices are the names of an enum.
template <class E>
void add_choice(CLI::App* command, const std::string& name, E& value, const std::string& about) {
  const auto set = [&value](const std::string& word) { value = *enum_named<E>(word); };
  command->add_option_function<std::string>(name, set, about)
      ->check(CLI::IsMember(enum_choices<E>()))
      ->default_str(std::string(enum_name(value)));
}

// The options of all metrics, of which a command sets those of its own.
struct ScoreArguments {
  std::string hypotheses;  // "-" is standard input
  std::vector<std::string> references;
  std::string metric;  // "bleu", "chrf" or "ter"
  BleuOptions bleu;
  ChrfOptions chrf;
  TerOptions ter;
  bool force = false;
  Resampling resampling;
  bool json = false;
};

// Hypotheses and their references, aligned line by line.
struct ScoredText {
  TextFile hypotheses;
  std::vector<std::vector<std::string>> references;  // [reference][sentence]
  std::optional<TextFile> baseline;
};

void warn_if_tokenized(const TextFile& hypotheses, const BleuOptions& options) {
  const bool expects_raw =
      options.tokenizer == BleuTokenizer::v13a || options.tokenizer == BleuTokenizer::intl;
  if (!expects_raw || !looks_tokenized(hypotheses.lines)) return;
  std::cerr << "warning: " << hypotheses.name
            << ": 100 lines or more end in \" .\", so the text looks tokenized; detokenize it, or "
               "use --tokenize none, or --force to suppress this warning\n";
}

ScoredText read_scored_text(const ScoreArguments& arguments) {
  ScoredText text{read_text(arguments.hypotheses, true), {}, {}};
  for (const std::string& path : arguments.references) {
    TextFile reference = read_text(path, false);
    check_same_length(text.hypotheses, reference);
    text.references.push_back(std::move(reference.lines));
  }
  if (text.hypotheses.lines.empty()) {
    throw DataError(text.hypotheses.name + ": empty file; nothing to score");
  }
  if (arguments.metric == "bleu" && !arguments.force) {
    warn_if_tokenized(text.hypotheses, arguments.bleu);
  }
  const std::string& baseline = arguments.resampling.baseline;
  if (baseline.empty()) return text;
  text.baseline = read_text(baseline, false);
  check_same_length(text.hypotheses, *text.baseline);
  warn_if_scored_alike(baseline, text.hypotheses.lines == text.baseline->lines);
  return text;
}

Json to_json(const BleuScore& score) {
  return {{"score", score.score},
          {"precisions", score.precisions},
          {"bp", score.bp},
          {"hyp_length", score.hyp_length},
          {"ref_length", score.ref_length},
          {"signature", score.signature}};
}

Json to_json(const ChrfScore& score) {
  return {{"score", score.score}, {"name", score.name}, {"signature", score.signature}};
}

Json to_json(const TerScore& score) {
  return {{"score", score.score},
          {"edits", score.edits},
          {"ref_length", score.ref_length},
          {"signature", score.signature}};
}

// Prints the score of a metric, which is that of the sum of its statistics of sentences.
template <class Options>
void print_score(const ScoreArguments& arguments, const Options& options) {
  options.validate();
  const ScoredText text = read_scored_text(arguments);
  const auto statistics_of = [&](const TextFile& file) {
    return corpus_statistics(file.lines, text.references, options);
  };
  const auto sentences = statistics_of(text.hypotheses);
  const auto score = score_of(sum_of(sentences), options, std::ssize(text.references));
  std::optional<ResampledSystem> baseline;
  if (text.baseline) baseline = resampled_text(statistics_of(*text.baseline), options);
  std::optional<PairedBootstrap> tested;
  if (baseline || arguments.resampling.confidence) {
    tested = resample(resampled_text(sentences, options), baseline);
  }
  if (arguments.json) {
    Json json = to_json(score);
    if (tested) add_bootstrap(json, *tested);
    std::cout << json.dump(2) << "\n";
    return;
  }
  std::cout << format_score(score) << "\n";
  if (tested) std::cout << format_bootstrap(*tested);
}

void score_text(const ScoreArguments& arguments) {
  if (arguments.metric == "bleu") return print_score(arguments, arguments.bleu);
  if (arguments.metric == "ter") return print_score(arguments, arguments.ter);
  print_score(arguments, arguments.chrf);
}

/// Adds the command of a metric, with the arguments that all have.
CLI::App* add_metric(CLI::App& score, const std::string& metric, const std::string& about,
                     const std::string& footer, const std::shared_ptr<ScoreArguments>& arguments) {
  CLI::App* command = score.add_subcommand(metric, about);
  command->footer(footer);
  arguments->metric = metric;
  command->add_option("HYP", arguments->hypotheses, "Hypotheses, one per line; - is stdin")
      ->required();
  command
      ->add_option("REF", arguments->references, "References, line by line; several files allowed")
      ->required();
  add_resampling(command, arguments->resampling);
  command->add_flag("--json", arguments->json, "Print JSON in full precision");
  command->callback([arguments] { score_text(*arguments); });
  return command;
}

void add_bleu(CLI::App& score) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* bleu = add_metric(
      score, "bleu", "Corpus BLEU, identical to sacreBLEU 2.x",
      "Prints the score with sacreBLEU's signature.\n"
      "Examples:\n"
      "  attn score bleu out.de ref.de                          as sacreBLEU, on raw text\n"
      "  attn translate RUN < in.en | attn score bleu - ref.de\n"
      "  attn score bleu out.tok ref.tok --tokenize none --smooth none       as multi-bleu\n"
      "  attn score bleu out.tok ref.tok --tokenize compound --smooth none   as the 2017 paper",
      arguments);
  BleuOptions& options = arguments->bleu;
  add_choice(bleu, "--tokenize", options.tokenizer,
             "Tokenizer; none and compound expect tokenized text");
  bleu->add_flag("--force", arguments->force, "No warning about text that looks tokenized");
  add_choice(bleu, "--smooth", options.smoothing, "Smoothing of n-gram orders without matches");
  bleu->add_option("--smooth-value", options.smoothing_value,
                   "Value of floor (default 0.1) and add-k (default 1)");
  bleu->add_flag("--lowercase", options.lowercase, "Ignore case");
  bleu->add_flag("--effective-order", options.effective_order,
                 "Ignore n-gram orders longer than the text");
}

void add_chrf(CLI::App& score) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* chrf = add_metric(score, "chrf", "Corpus chrF and chrF++, identical to sacreBLEU 2.x",
                              "Examples:\n"
                              "  attn score chrf out.de ref.de                    chrF2\n"
                              "  attn score chrf out.de ref.de --word-order 2     chrF2++\n"
                              "  attn translate RUN < in.en | attn score chrf - ref.de",
                              arguments);
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
      add_metric(score, "ter", "Corpus TER (translation edit rate), identical to sacreBLEU 2.x",
                 "Edits in percent of the reference length: 0 is best.\n"
                 "Examples:\n"
                 "  attn score ter out.de ref.de\n"
                 "  attn score ter out.de ref.de --normalized --case-sensitive\n"
                 "  attn translate RUN < in.en | attn score ter - ref.de --baseline other.de",
                 arguments);
  TerOptions& options = arguments->ter;
  ter->add_flag("--case-sensitive", options.case_sensitive, "Do not ignore case");
  ter->add_flag("--normalized", options.normalized,
                "Tokenize punctuation and XML entities as Tercom does");
  ter->add_flag("--no-punct", options.no_punct, "Remove punctuation");
  ter->add_flag("--asian-support", options.asian_support,
                "Also split (--normalized) Chinese and Japanese characters, or remove (--no-punct) "
                "their punctuation");
}

}  // namespace

void add_score_command(CLI::App& app) {
  CLI::App* score = app.add_subcommand(
      "score", "Score text or tree files with BLEU, chrF, TER or F1, without a model");
  score->footer("See attn score bleu --help etc. for the options, with examples.");
  score->require_subcommand(1);
  add_bleu(*score);
  add_chrf(*score);
  add_ter(*score);
  add_score_parse_command(*score);
}

}  // namespace attn
