// Sums and percentages of a parse score.
#include "eval/metrics/parse_score.h"

namespace attn {
namespace {

double percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

double harmonic_mean(double a, double b) {
  return a + b > 0 ? 2 * a * b / (a + b) : 0.0;
}

}  // namespace

double ParseSentenceScore::recall() const {
  return percent(matched, gold);
}
double ParseSentenceScore::precision() const {
  return percent(matched, test);
}
double ParseSentenceScore::tagging() const {
  return percent(correct_tags, words);
}

double BracketCounts::recall() const {
  return percent(matched_gold, gold);
}
double BracketCounts::precision() const {
  return percent(matched_test, test);
}
double BracketCounts::f1() const {
  return harmonic_mean(recall(), precision());
}

BracketCounts& BracketCounts::operator+=(const BracketCounts& other) {
  gold += other.gold;
  test += other.test;
  matched_gold += other.matched_gold;
  matched_test += other.matched_test;
  return *this;
}

void ParseTotals::add(const ParseSentenceScore& sentence) {
  ++sentences;
  errors += sentence.status == ParseStatus::error;
  skipped += sentence.status == ParseStatus::skipped;
  if (sentence.status != ParseStatus::valid) return;
  matched += sentence.matched;
  gold += sentence.gold;
  test += sentence.test;
  complete += sentence.matched == sentence.gold && sentence.matched == sentence.test;
  crossing += sentence.crossing;
  no_crossing += sentence.crossing == 0;
  two_or_less_crossing += sentence.crossing <= 2;
  words += sentence.words;
  correct_tags += sentence.correct_tags;
}

double ParseTotals::recall() const {
  return percent(matched, gold);
}
double ParseTotals::precision() const {
  return percent(matched, test);
}
double ParseTotals::f1() const {
  return harmonic_mean(recall(), precision());
}
double ParseTotals::complete_match() const {
  return percent(complete, valid());
}
double ParseTotals::average_crossing() const {
  return percent(crossing, valid()) / 100;
}
double ParseTotals::no_crossing_share() const {
  return percent(no_crossing, valid());
}
double ParseTotals::two_or_less_crossing_share() const {
  return percent(two_or_less_crossing, valid());
}
double ParseTotals::tagging() const {
  return percent(correct_tags, words);
}

}  // namespace attn
