// Output in EVALB's format, and the signature.
#include "base/format.h"
#include "eval/metrics/parse_score.h"

namespace attn {
namespace {

void append_totals(std::string& text, const ParseTotals& totals) {
  const auto count = [&](const char* name, int64_t value) {
    text += format("%-25s = %6ld\n", name, value);
  };
  const auto number = [&](const char* name, double value) {
    text += format("%-25s = %6.2f\n", name, value);
  };
  count("Number of sentence", totals.sentences);
  count("Number of Error sentence", totals.errors);
  count("Number of Skip  sentence", totals.skipped);
  count("Number of Valid sentence", totals.valid());
  number("Bracketing Recall", totals.recall());
  number("Bracketing Precision", totals.precision());
  number("Bracketing FMeasure", totals.f1());
  number("Complete match", totals.complete_match());
  number("Average crossing", totals.average_crossing());
  number("No crossing", totals.no_crossing_share());
  number("2 or less crossing", totals.two_or_less_crossing_share());
  number("Tagging accuracy", totals.tagging());
}

constexpr const char* ruler =
    "============================================================================\n";

}  // namespace

std::string parse_score_signature(const EvalbParameters& parameters) {
  std::string signature = "params:" + parameters.name;
  signature.append("|labelled:").append(parameters.labelled ? "yes" : "no");
  signature.append("|cutoff:").append(std::to_string(parameters.cutoff_length));
  return signature.append("|version:attn-" ATTN_VERSION);
}

std::string format_parse_table(const ParseScore& score) {
  std::string text =
      "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
      " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n";
  text += ruler;
  for (size_t i = 0; i < score.sentences.size(); ++i) {
    const ParseSentenceScore& row = score.sentences[i];
    text += format("%4zu  %3ld    %d  %6.2f %6.2f", i + 1, row.length, static_cast<int>(row.status),
                   row.recall(), row.precision());
    text +=
        format("   %3ld    %3ld  %3ld    %3ld", row.matched_gold, row.gold, row.test, row.crossing);
    text += format("   %4ld  %4ld   %6.2f\n", row.words, row.correct_tags, row.tagging());
  }
  text += ruler;
  const ParseTotals& all = score.all;
  text += format("                %6.2f %6.2f %6ld %5ld %5ld  %5ld", all.recall(), all.precision(),
                 all.matched_gold, all.gold, all.test, all.crossing);
  text += format("  %5ld %5ld   %6.2f\n", all.words, all.correct_tags, all.tagging());
  return text;
}

std::string format_parse_summary(const ParseScore& score) {
  std::string text = "=== Summary ===\n\n-- All --\n";
  append_totals(text, score.all);
  text += format("\n-- len<=%ld --\n", score.cutoff_length);
  append_totals(text, score.up_to);
  return text;
}

}  // namespace attn
