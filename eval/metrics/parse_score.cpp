#include "eval/metrics/parse_score.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "eval/metrics/parse_brackets.h"
#include "eval/metrics/parse_tables.h"

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
    const std::string_view ours = b.words[i].tag, theirs = a.words[i].tag;
    if (parameters.delete_labels.contains(ours) == parameters.delete_labels.contains(theirs)) {
      continue;
    }
    return "word " + std::to_string(i + 1) + ", " + quoted(a.words[i].word) + ", is tagged " +
           quoted(ours) + ", in gold " + quoted(theirs) +
           ", and EVALB deletes punctuation by its tag; parse with search.known_tags for the tags "
           "seen in training";
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
    // On copies, which are used only if the repair succeeds.
    ParseBrackets gold_restored = result.gold, predicted_restored = result.predicted;
    restore_quotes(gold_restored, predicted_restored, parameters);
    if (gold_restored.words.size() == predicted_restored.words.size()) {
      result.gold = std::move(gold_restored);
      result.predicted = std::move(predicted_restored);
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
  score.matched = match_brackets(result.gold, result.predicted, parameters);
  score.crossing = count_crossing(result.gold, result.predicted);
  for (size_t i = 0; i < result.gold.words.size(); ++i) {
    score.correct_tags +=
        parameters.same_label(result.gold.words[i].tag, result.predicted.words[i].tag);
  }
  return result;
}

/// Adds up a corpus sentence by sentence.
class Scorer {
 public:
  explicit Scorer(const EvalbParameters& parameters) : parameters_(parameters) {
    score_.cutoff_length = parameters.cutoff_length;
    score_.signature = parse_score_signature(parameters);
  }

  void add(std::span<const Tree> gold, std::span<const Tree> predicted,
           const std::string& malformed) {
    Comparison pair =
        compare(gold, malformed.empty() ? predicted : std::span<const Tree>(), parameters_);
    ParseSentenceScore& sentence = pair.score;
    if (!malformed.empty()) {
      sentence.status = ParseStatus::error;
      sentence.malformed = true;
      sentence.problem = malformed;
    }
    if (sentence.status == ParseStatus::valid) {
      tables_.add(pair.gold, pair.predicted, sentence.length);
    } else if (sentence.status == ParseStatus::error) {
      ++(sentence.malformed ? score_.malformed : score_.mismatched);
    }
    score_.all.add(sentence);
    if (sentence.length <= score_.cutoff_length) score_.up_to.add(sentence);
    score_.strict += {sentence.all_gold, sentence.all_test, sentence.matched, sentence.matched};
    score_.sentences.push_back(std::move(sentence));
  }

  ParseScore take() {
    score_.by_label = tables_.by_label();
    score_.by_length = tables_.by_length();
    score_.by_span = tables_.by_span();
    return std::move(score_);
  }

 private:
  const EvalbParameters& parameters_;
  ParseScore score_;
  ParseTables tables_;
};

void check_counts(size_t gold, size_t predicted) {
  if (gold == predicted) return;
  throw DataError("parse score: " + std::to_string(predicted) + " predicted sentences but " +
                  std::to_string(gold) + " in gold; they must match one by one");
}

}  // namespace

ParseSentenceScore score_parse(std::span<const Tree> gold, std::span<const Tree> predicted,
                               const EvalbParameters& parameters) {
  return compare(gold, predicted, parameters).score;
}

ParseScore score_parses(std::span<const Tree> gold, std::span<const Tree> predicted,
                        const EvalbParameters& parameters) {
  check_counts(gold.size(), predicted.size());
  Scorer scorer(parameters);
  for (size_t i = 0; i < gold.size(); ++i) {
    scorer.add(gold.subspan(i, 1), predicted.subspan(i, 1), "");
  }
  return scorer.take();
}

ParseScore score_parses(std::span<const ParseLine> gold, std::span<const ParseLine> predicted,
                        const EvalbParameters& parameters) {
  check_counts(gold.size(), predicted.size());
  Scorer scorer(parameters);
  for (size_t i = 0; i < gold.size(); ++i) {
    if (!gold[i].malformed.empty()) throw DataError("gold: " + gold[i].malformed);
    scorer.add(gold[i].trees, predicted[i].trees, predicted[i].malformed);
  }
  return scorer.take();
}

}  // namespace attn
