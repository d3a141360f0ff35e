#include "app/commands/commands.h"

#include <iostream>
#include <memory>

#include "app/commands/text_io.h"
#include "base/error.h"
#include "base/format.h"
#include "data/lines.h"
#include "eval/metrics/parse_lines.h"
#include "eval/metrics/parse_score.h"

namespace attn {
namespace {

struct ScoreParseArguments {
  std::string gold, predicted, parameters, by;
  Resampling resampling;
  bool per_sentence = false;
  bool json = false;
};

/// Reports the first sentences with errors. Throws DataError if all have.
void report_problems(const ParseScore& score, const std::string& predicted_name) {
  constexpr int64_t limit = 10;
  int64_t count = 0;
  for (size_t i = 0; i < score.sentences.size(); ++i) {
    const ParseSentenceScore& sentence = score.sentences[i];
    if (sentence.problem.empty() || ++count > limit) continue;
    std::cerr << "sentence " << i + 1 << ": ";
    if (!sentence.malformed) std::cerr << predicted_name << ": ";
    std::cerr << sentence.problem << "\n";
  }
  if (count > limit) std::cerr << "… and " << count - limit << " more\n";
  if (score.all.valid() == 0 && count > 0) {
    throw DataError(predicted_name +
                    ": no sentence could be scored; give parses of the gold trees' sentences");
  }
}

ParseScore score_file(const ScoreParseArguments& arguments, const std::string& path) {
  const std::string name = path == "-" ? "standard input" : path;
  const EvalbParameters parameters = read_evalb_parameters(arguments.parameters);
  if (arguments.gold == "-" || arguments.resampling.baseline == "-") {
    throw ConfigError("-: only the scored trees can come from stdin; give files for the others");
  }
  const auto gold = gold_parses(read_lines(arguments.gold), arguments.gold);
  if (gold.empty()) {
    throw DataError(arguments.gold + ": empty file; nothing to score");
  }
  const auto predicted = predicted_parses(read_lines(path), name, gold.size());
  if (predicted.size() != gold.size()) {
    throw DataError(name + ": " + std::to_string(predicted.size()) + " sentences, but " +
                    arguments.gold + " has " + std::to_string(gold.size()) +
                    "; they must match line by line, with an empty line for no tree");
  }
  ParseScore score = score_parses(gold, predicted, parameters);
  report_problems(score, name);
  return score;
}

/// "F1|SIGNATURE = 89.12 (…)" with counts that EVALB does not print.
std::string format_line(const ParseScore& score) {
  std::string line = "F1|" + score.signature + format(" = %.2f", score.all.f1());
  line += format(" (R = %.2f", score.all.recall()) + format(" P = %.2f", score.all.precision());
  line += format(" strict F1 = %.2f", score.strict.f1());
  line += " valid = " + std::to_string(score.all.valid());
  line += " mismatched = " + std::to_string(score.mismatched);
  line += " malformed = " + std::to_string(score.malformed);
  return line + " skipped = " + std::to_string(score.all.skipped) + ")\n";
}

const std::vector<BracketTableRow>& table(const ParseScore& score, const std::string& by) {
  if (by == "label") return score.by_label;
  return by == "length" ? score.by_length : score.by_span;
}

std::string format_table(const ParseScore& score, const std::string& by) {
  const bool sentences = by == "length";
  std::string text(by);
  text.resize(12, ' ');
  text += sentences ? "   sentences    gold    test  recall   prec.      F1\n"
                    : "    gold    test  recall   prec.      F1\n";
  for (const BracketTableRow& row : table(score, by)) {
    std::string name = row.name.empty() ? "(none)" : row.name;
    name.resize(std::max<size_t>(name.size(), 12), ' ');
    text += name;
    if (sentences) text += format("%12.0f", static_cast<double>(row.sentences));
    text += format("%8.0f", static_cast<double>(row.counts.gold));
    text += format("%8.0f", static_cast<double>(row.counts.test));
    text += format("%8.2f", row.counts.recall()) + format("%8.2f", row.counts.precision());
    text += format("%8.2f", row.counts.f1()) + "\n";
  }
  return text;
}

Json to_json(const ParseTotals& totals) {
  return {{"recall", totals.recall()},
          {"precision", totals.precision()},
          {"f1", totals.f1()},
          {"complete", totals.complete_match()},
          {"tagging", totals.tagging()},
          {"average_crossing", totals.average_crossing()},
          {"no_crossing", totals.no_crossing_share()},
          {"two_or_less_crossing", totals.two_or_less_crossing_share()},
          {"sentences", totals.sentences},
          {"valid", totals.valid()},
          {"errors", totals.errors},
          {"skipped", totals.skipped},
          {"matched", totals.matched_gold},
          {"gold", totals.gold},
          {"test", totals.test},
          {"words", totals.words},
          {"correct_tags", totals.correct_tags}};
}

Json to_json(const ParseSentenceScore& row) {
  Json json = {{"length", row.length},
               {"status", static_cast<int>(row.status)},
               {"recall", row.recall()},
               {"precision", row.precision()},
               {"matched", row.matched_gold},
               {"gold", row.gold},
               {"test", row.test},
               {"crossing", row.crossing},
               {"words", row.words},
               {"correct_tags", row.correct_tags},
               {"tagging", row.tagging()}};
  if (!row.problem.empty()) json["problem"] = row.problem;
  return json;
}

Json to_json(const BracketTableRow& row) {
  Json json = {{"name", row.name}};
  if (row.sentences > 0) json["sentences"] = row.sentences;
  json.update(Json{{"recall", row.counts.recall()},
                   {"precision", row.counts.precision()},
                   {"f1", row.counts.f1()},
                   {"matched_gold", row.counts.matched_gold},
                   {"matched_test", row.counts.matched_test},
                   {"gold", row.counts.gold},
                   {"test", row.counts.test}});
  return json;
}

std::optional<PairedBootstrap> resampled(const ParseScore& score,
                                         const ScoreParseArguments& arguments) {
  const auto& [path, confidence] = arguments.resampling;
  std::optional<ResampledSystem> baseline;
  if (!path.empty()) {
    const ParseScore other = score_file(arguments, path);
    const auto same = [](const BracketCounts& a, const BracketCounts& b) { return a == b; };
    warn_if_scored_alike(path, std::ranges::equal(score.sentences, other.sentences, same));
    baseline = resampled_f1(other);
  }
  if (!baseline && !confidence) return {};
  return resample(resampled_f1(score), baseline);
}

Json to_json(const ParseScore& score, const ScoreParseArguments& arguments) {
  Json json = to_json(score.all);
  json["mismatched"] = score.mismatched;
  json["malformed"] = score.malformed;
  json["strict_recall"] = score.strict.recall();
  json["strict_precision"] = score.strict.precision();
  json["strict_f1"] = score.strict.f1();
  json["cutoff"] = {{"length", score.cutoff_length}};
  json["cutoff"].update(to_json(score.up_to));
  json["signature"] = score.signature;
  if (!arguments.by.empty()) {
    Json& rows = json["by_" + arguments.by] = Json::array();
    for (const BracketTableRow& row : table(score, arguments.by)) rows.push_back(to_json(row));
  }
  if (arguments.per_sentence) {
    Json& rows = json["per_sentence"] = Json::array();
    for (const ParseSentenceScore& row : score.sentences) rows.push_back(to_json(row));
  }
  return json;
}

void score_parse(const ScoreParseArguments& arguments) {
  const ParseScore score = score_file(arguments, arguments.predicted);
  const auto tested = resampled(score, arguments);
  if (arguments.json) {
    // Labels and words may be invalid UTF-8, JSON must not.
    constexpr auto replace = Json::error_handler_t::replace;
    Json json = to_json(score, arguments);
    if (tested) add_bootstrap(json, *tested);
    std::cout << json.dump(2, ' ', false, replace) << "\n";
    return;
  }
  if (arguments.per_sentence) {
    // stdout then equals the output of EVALB.
    std::cout << format_parse_table(score) << format_parse_summary(score);
    std::cerr << format_line(score);
  } else if (arguments.by.empty()) {
    std::cout << format_parse_summary(score) << "\n";
  }
  if (!arguments.by.empty()) std::cout << format_table(score, arguments.by);
  if (!arguments.per_sentence) std::cout << format_line(score);
  if (tested) (arguments.per_sentence ? std::cerr : std::cout) << format_bootstrap(*tested);
}

}  // namespace

void add_score_parse_command(CLI::App& score) {
  CLI::App* parse = score.add_subcommand("parse", "Labelled bracketing F1, identical to EVALB");
  parse->footer(
      "Examples:\n"
      "  attn score parse gold.ptb out.ptb                     with COLLINS.prm's settings\n"
      "  attn parse RUN < dev.txt | attn score parse gold.ptb - --json\n"
      "  attn score parse gold.ptb out.ptb --params new.prm --per-sentence   as EVALB prints it\n"
      "  attn score parse gold.ptb out.ptb --by label\n"
      "  attn score parse gold.ptb out.ptb --baseline other.ptb\n"
      "One tree per line, an empty line for no tree. As in EVALB, an outer TOP bracket is not "
      "counted; one\nwith another label, such as ROOT, is. EVALB skips sentences without a tree "
      "and "
      "sentences whose\nwords differ from the gold tree's; strict F1 counts them as wrong.");
  auto arguments = std::make_shared<ScoreParseArguments>();
  parse->add_option("GOLD", arguments->gold, "Gold trees")->required();
  parse
      ->add_option("PRED", arguments->predicted,
                   "Predicted trees, aligned line by line; - is stdin")
      ->required();
  parse->add_option("--params", arguments->parameters,
                    "EVALB parameter file (default: the settings of COLLINS.prm)");
  parse->add_flag("--per-sentence", arguments->per_sentence,
                  "Print EVALB's table and summaries only; with --json, a list");
  parse->add_option("--by", arguments->by, "F1 by label, sentence length or span length")
      ->check(CLI::IsMember({"label", "length", "span"}));
  add_resampling(parse, arguments->resampling);
  parse->add_flag("--json", arguments->json, "Print JSON, percentages in full precision");
  parse->callback([arguments] { score_parse(*arguments); });
}

}  // namespace attn
