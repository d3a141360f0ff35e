// Output in EVALB's format, and the signature.
#include "base/format.h"
#include "eval/metrics/parse_score.h"

namespace attn {
namespace {

void append_totals(std::string& text, const ParseTotals& totals) {
  const auto count = [&](const char* name, int64_t value) {
    text += format("%-25s = %6lld\n", name, static_cast<long long>(value));
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

long long wide(int64_t value) {
  return static_cast<long long>(value);
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
    text += format("%4zu  %3lld    %d  %6.2f %6.2f", i + 1, wide(row.length),
                   static_cast<int>(row.status), row.recall(), row.precision());
    text += format("   %3lld    %3lld  %3lld    %3lld", wide(row.matched_gold), wide(row.gold),
                   wide(row.test), wide(row.crossing));
    text +=
        format("   %4lld  %4lld   %6.2f\n", wide(row.words), wide(row.correct_tags), row.tagging());
  }
  text += ruler;
  const ParseTotals& all = score.all;
  text +=
      format("                %6.2f %6.2f %6lld %5lld %5lld  %5lld", all.recall(), all.precision(),
             wide(all.matched_gold), wide(all.gold), wide(all.test), wide(all.crossing));
  text += format("  %5lld %5lld   %6.2f\n", wide(all.words), wide(all.correct_tags), all.tagging());
  return text;
}

std::string format_parse_summary(const ParseScore& score) {
  std::string text = "=== Summary ===\n\n-- All --\n";
  append_totals(text, score.all);
  text += format("\n-- len<=%lld --\n", wide(score.cutoff_length));
  append_totals(text, score.up_to);
  return text;
}

}  // namespace attn
