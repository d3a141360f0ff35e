#include "app/commands/score_bleu.h"

#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/commands/score_text.h"
#include "base/error.h"
#include "base/json_config.h"
#include "eval/metrics/bleu.h"
#include "eval/metrics/bootstrap.h"

namespace attn {
namespace {

struct ScoreBleuArguments {
  std::string hypothesis;
  std::vector<std::string> references;
  std::string tokenizer{enum_name(BleuOptions{}.tokenizer)};
  std::string smoothing{enum_name(BleuOptions{}.smoothing)};
  std::optional<double> smoothing_value;
  bool lowercase = false;
  std::string baseline;
  bool confidence = false;
  bool effective_order = false;
  bool force = false;
  bool json = false;
};

/// The enum value of a name checked by the command line.
template <class E>
E enum_value(const std::string& name) {
  for (const auto& entry : EnumNames<E>::values) {
    if (entry.name == name) return entry.value;
  }
  throw ConfigError(name + ": not a choice");
}

Json to_json(const BleuScore& score) {
  return {{"score", score.score},
          {"precisions", score.precisions},
          {"bp", score.bp},
          {"hyp_length", score.hyp_length},
          {"ref_length", score.ref_length},
          {"signature", score.signature}};
}

void warn_if_tokenized(const TextFile& hypotheses, const BleuOptions& options) {
  const bool expects_raw =
      options.tokenizer == BleuTokenizer::v13a || options.tokenizer == BleuTokenizer::intl;
  if (!expects_raw || !looks_tokenized(hypotheses.lines)) return;
  std::cerr << "warning: " << hypotheses.name
            << ": 100 lines or more end in \" .\", so the text looks tokenized; detokenize it, or "
               "use --tokenize none, or --force to suppress this warning\n";
}

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

/// Confidence intervals, and the paired test if there is a baseline.
PairedBootstrap resample(const TextFile& hypotheses, const SystemStatistics& system,
                         const ScoreBleuArguments& arguments,
                         std::span<const std::vector<std::string>> references,
                         const BleuOptions& options) {
  if (arguments.baseline.empty()) return paired_bootstrap(system, {}, options);
  const TextFile baseline = read_text(arguments.baseline, false);
  check_same_length(hypotheses, baseline);
  return paired_bootstrap({bleu_statistics(baseline.lines, references, options)},
                          std::span(&system, 1), options);
}

void print_json(const BleuScore& score, const std::optional<PairedBootstrap>& resampled) {
  Json json = to_json(score);
  if (resampled) add_resampled(json, *resampled);
  std::cout << json.dump(2) << "\n";
}

void print_text(const BleuScore& score, const std::optional<PairedBootstrap>& resampled) {
  std::cout << format_bleu(score) << "\n";
  if (resampled) print_resampled(*resampled);
}

void score_bleu(const ScoreBleuArguments& arguments) {
  const BleuOptions options = bleu_options(arguments);
  const auto [hypotheses, references] =
      read_scored_text(arguments.hypothesis, arguments.references);
  if (!arguments.force) warn_if_tokenized(hypotheses, options);

  const SystemStatistics system = {bleu_statistics(hypotheses.lines, references, options)};
  const BleuScore score = bleu_from_statistics(sum_of(system.front()), options,
                                               static_cast<int64_t>(references.size()));
  std::optional<PairedBootstrap> resampled;
  if (arguments.confidence || !arguments.baseline.empty()) {
    resampled = resample(hypotheses, system, arguments, references, options);
  }
  arguments.json ? print_json(score, resampled) : print_text(score, resampled);
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
  bleu->add_option("HYP", arguments->hypothesis, "Hypotheses, one per line; - is stdin")
      ->required();
  bleu->add_option("REF", arguments->references, "References, line by line; several files allowed")
      ->required();
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
  bleu->add_option("--baseline", arguments->baseline,
                   "Output of a baseline: paired bootstrap test (sacreBLEU --paired-bs)");
  bleu->add_flag("--confidence", arguments->confidence,
                 "95 % confidence interval, 1000 bootstrap resamples (sacreBLEU --confidence)");
  bleu->add_flag("--force", arguments->force, "No warning about text that looks tokenized");
  bleu->add_flag("--json", arguments->json, "Print JSON in full precision");
  bleu->callback([arguments] { score_bleu(*arguments); });
}

}  // namespace attn
