#include "eval/metrics/parse_score.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/parsing/linearize.h"
#include "eval/metrics/parse_brackets.h"

namespace attn {
namespace {

std::string quoted(std::string_view word) {
  std::string text = "'";
  text.append(word.substr(0, 40)).append("'");
  return text;
}

/// Describes how the words differ; "" if they are equal.
std::string find_mismatch(const ParseBrackets& gold, const ParseBrackets& predicted,
                          const EvalbParameters& parameters) {
  for (size_t i = 0; i < std::min(gold.words.size(), predicted.words.size()); ++i) {
    if (parameters.same_word(gold.words[i].word, predicted.words[i].word)) continue;
    return "word " + std::to_string(i + 1) + " is " + quoted(predicted.words[i].word) +
           ", in gold " + quoted(gold.words[i].word);
  }
  if (gold.words.size() == predicted.words.size()) return "";
  return std::to_string(predicted.words.size()) + " words, in gold " +
         std::to_string(gold.words.size());
}

/// Describes a difference that is one of tags alone; "" if the sentences differ in their words.
std::string find_deleted(std::span<const Tree> gold, std::span<const Tree> predicted,
                         const EvalbParameters& parameters) {
  EvalbParameters all = parameters;
  all.delete_labels.clear();
  const ParseBrackets a = parse_brackets(gold, all), b = parse_brackets(predicted, all);
  if (a.words.size() != b.words.size() || !find_mismatch(a, b, all).empty()) return "";
  for (size_t i = 0; i < a.words.size(); ++i) {
    const std::string_view predicted_tag = b.words[i].tag, gold_tag = a.words[i].tag;
    if (parameters.delete_labels.contains(predicted_tag) ==
        parameters.delete_labels.contains(gold_tag)) {
      continue;
    }
    return "word " + std::to_string(i + 1) + ", " + quoted(a.words[i].word) + ", is tagged " +
           quoted(predicted_tag) + ", in gold " + quoted(gold_tag) +
           ", and EVALB deletes punctuation by its tag" +
           (predicted_tag == kNoTag ? "" : "; parse with search.known_tags for tags of training");
  }
  return "";
}

/// The brackets of a sentence on both sides, after the repair of quotes.
struct Comparison {
  ParseBrackets gold, predicted;
  ParseSentenceScore score;
};

Comparison compare(std::span<const Tree> gold, std::span<const Tree> predicted,
                   const EvalbParameters& parameters) {
  Comparison result{parse_brackets(gold, parameters), parse_brackets(predicted, parameters), {}};
  ParseSentenceScore& score = result.score;
  score.length = result.gold.length;
  score.words = static_cast<int64_t>(result.gold.words.size());
  score.all_gold = result.gold.counting();
  score.all_test = result.predicted.counting();
  if (result.predicted.words.empty()) {
    score.status = ParseStatus::skipped;
    return result;
  }
  if (result.gold.words.size() != result.predicted.words.size()) {
    auto repaired = std::pair(result.gold, result.predicted);  // used if the repair succeeds
    auto& [gold_words, predicted_words] = repaired;
    restore_quotes(gold_words, predicted_words, parameters);
    if (gold_words.words.size() == predicted_words.words.size()) {
      std::tie(result.gold, result.predicted) = std::move(repaired);
    }
  }
  score.problem = find_mismatch(result.gold, result.predicted, parameters);
  if (!score.problem.empty()) {
    const std::string deleted = find_deleted(gold, predicted, parameters);
    if (!deleted.empty()) score.problem = deleted;
    score.status = ParseStatus::error;
    return result;
  }
  score.words = static_cast<int64_t>(result.gold.words.size());
  score.gold = score.all_gold = result.gold.counting();
  score.test = score.all_test = result.predicted.counting();
  score.matched_gold = score.matched_test =
      match_brackets(result.gold, result.predicted, parameters);
  score.crossing = count_crossing(result.gold, result.predicted);
  for (size_t i = 0; i < result.gold.words.size(); ++i) {
    score.correct_tags +=
        parameters.same_label(result.gold.words[i].tag, result.predicted.words[i].tag);
  }
  return result;
}

std::pair<int64_t, int64_t> range_of_ten(int64_t value) {
  const int64_t last = (value + 9) / 10 * 10;
  return {last == 0 ? 0 : last - 9, last};
}

std::pair<int64_t, int64_t> span_range(int64_t words) {
  if (words <= 5) return {words, words};
  if (words <= 10) return {6, 10};
  return range_of_ten(words);
}

/// Collects the tables of a ParseScore.
class ParseTables {
 public:
  /// Adds a valid sentence with matched brackets. `length`: as in EVALB's column "Len.".
  void add(const ParseBrackets& gold, const ParseBrackets& predicted, int64_t length) {
    BracketTableRow& of_length = lengths_[range_of_ten(length)];
    ++of_length.sentences;
    const auto add_bracket = [&](const ParseBracket& bracket, const BracketCounts& counts) {
      labels_[std::string(bracket.label)] += counts;
      spans_[span_range(bracket.end - bracket.start)].counts += counts;
      of_length.counts += counts;
    };
    for (const ParseBracket& bracket : gold.brackets) {
      if (bracket.counts) add_bracket(bracket, {1, 0, bracket.match >= 0, 0});
    }
    for (const ParseBracket& bracket : predicted.brackets) {
      if (bracket.counts) add_bracket(bracket, {0, 1, 0, bracket.match >= 0});
    }
  }

  std::vector<BracketTableRow> by_label() const {
    std::vector<BracketTableRow> rows;
    for (const auto& [label, counts] : labels_) rows.push_back({label, 0, counts});
    std::ranges::stable_sort(rows, std::greater<>(),
                             [](const BracketTableRow& row) { return row.counts.gold; });
    return rows;
  }

  std::vector<BracketTableRow> by_length() const { return named(lengths_); }
  std::vector<BracketTableRow> by_span() const { return named(spans_); }

 private:
  // Keys are the first and last value of a range.
  using Ranges = std::map<std::pair<int64_t, int64_t>, BracketTableRow>;

  static std::vector<BracketTableRow> named(const Ranges& ranges) {
    std::vector<BracketTableRow> rows;
    for (const auto& [range, row] : ranges) {
      rows.push_back(row);
      std::string& name = rows.back().name;
      name = std::to_string(range.first);
      if (range.second != range.first) name.append("-").append(std::to_string(range.second));
    }
    return rows;
  }

  std::map<std::string, BracketCounts> labels_;
  Ranges lengths_, spans_;
};

double percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

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
  const double sum = recall() + precision();
  return sum > 0 ? 2 * recall() * precision() / sum : 0.0;
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
  *this += sentence;
  complete += sentence.matched_gold == sentence.gold && sentence.matched_test == sentence.test;
  crossing += sentence.crossing;
  no_crossing += sentence.crossing == 0;
  two_or_less_crossing += sentence.crossing <= 2;
  words += sentence.words;
  correct_tags += sentence.correct_tags;
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

ParseScore score_parses(std::span<const Tree> gold, std::span<const Tree> predicted,
                        const EvalbParameters& parameters) {
  const auto lines_of = [](std::span<const Tree> trees) {
    std::vector<ParseLine> lines;
    for (const Tree& tree : trees) lines.push_back({.trees = {tree}, .malformed = ""});
    return lines;
  };
  return score_parses(lines_of(gold), lines_of(predicted), parameters);
}

ParseScore score_parses(std::span<const ParseLine> gold, std::span<const ParseLine> predicted,
                        const EvalbParameters& parameters) {
  if (gold.size() != predicted.size()) {
    throw DataError("parse score: " + std::to_string(predicted.size()) +
                    " predicted sentences but " + std::to_string(gold.size()) +
                    " in gold; they must match one by one");
  }
  ParseScore score;
  score.cutoff_length = parameters.cutoff_length;
  score.signature = parse_score_signature(parameters);
  ParseTables tables;
  for (size_t i = 0; i < gold.size(); ++i) {
    if (!gold[i].malformed.empty()) throw DataError("gold: " + gold[i].malformed);
    const std::string& malformed = predicted[i].malformed;
    std::span<const Tree> trees = predicted[i].trees;
    if (!malformed.empty()) trees = {};
    Comparison pair = compare(gold[i].trees, trees, parameters);
    ParseSentenceScore& sentence = pair.score;
    if (!malformed.empty()) {
      sentence.status = ParseStatus::error;
      sentence.malformed = true;
      sentence.problem = malformed;
    }
    if (sentence.status == ParseStatus::valid) {
      tables.add(pair.gold, pair.predicted, sentence.length);
    } else if (sentence.status == ParseStatus::error) {
      ++(sentence.malformed ? score.malformed : score.mismatched);
    }
    score.all.add(sentence);
    if (sentence.length <= score.cutoff_length) score.up_to.add(sentence);
    score.strict +=
        {sentence.all_gold, sentence.all_test, sentence.matched_gold, sentence.matched_test};
    score.sentences.push_back(std::move(sentence));
  }
  score.by_label = tables.by_label();
  score.by_length = tables.by_length();
  score.by_span = tables.by_span();
  return score;
}

ResampledSystem resampled_f1(const ParseScore& score) {
  // The sum over sentences is that of EVALB: invalid ones have no counts.
  return resampled_system(
      std::vector<BracketCounts>(score.sentences.begin(), score.sentences.end()),
      [](const BracketCounts& drawn) { return drawn.f1(); });
}

}  // namespace attn
