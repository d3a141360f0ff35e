#include "eval/metrics/chrf.h"

#include <string>
#include <unordered_map>

#include "base/check.h"
#include "base/format.h"
#include "base/unicode.h"
#include "base/utf8.h"

namespace attn {
namespace {

/// Characters, or word ids.
using Symbols = std::u32string;
using WordNumbers = std::unordered_map<std::u32string, char32_t>;

struct Sentence {
  Symbols characters, words;
};

std::u32string decode(std::string_view text) {
  const std::vector<char32_t> points = decode_utf8(text);
  return {points.begin(), points.end()};
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

/// Splits one ASCII punctuation mark off the end of a word, else off its start, as chrF++.py does.
void add_word(const std::u32string& word, WordNumbers& known, Symbols& out) {
  const auto add = [&](const std::u32string& part) {
    out += known.try_emplace(part, static_cast<char32_t>(known.size())).first->second;
  };
  if (word.size() > 1 && is_ascii_punctuation(word.back())) {
    add(word.substr(0, word.size() - 1));
    add(word.substr(word.size() - 1));
  } else if (word.size() > 1 && is_ascii_punctuation(word.front())) {
    add(word.substr(0, 1));
    add(word.substr(1));
  } else {
    add(word);
  }
}

Sentence read_sentence(std::string_view line, const ChrfOptions& options, WordNumbers& known) {
  const std::string text = options.lowercase ? to_lower(line) : std::string(line);
  Sentence sentence;
  if (options.whitespace) sentence.characters = decode(text);
  for (const std::string_view word : split_whitespace(text)) {
    const std::u32string characters = decode(word);
    if (!options.whitespace) sentence.characters += characters;
    if (options.word_order > 0) add_word(characters, known, sentence.words);
  }
  return sentence;
}

ChrfCounts count_ngrams(const Symbols& hypothesis, const Symbols& reference, size_t order) {
  const auto ngrams = [order](const Symbols& symbols) {
    return symbols.size() < order ? 0 : symbols.size() - order + 1;
  };
  ChrfCounts counts;
  const size_t there = ngrams(reference);
  if (there == 0) return counts;
  const size_t here = ngrams(hypothesis);
  counts.hypothesis = static_cast<int64_t>(here);
  counts.reference = static_cast<int64_t>(there);
  const std::u32string_view of_hypothesis = hypothesis, of_reference = reference;
  std::unordered_map<std::u32string_view, int64_t> left;
  left.reserve(there);
  for (size_t i = 0; i < there; ++i) ++left[of_reference.substr(i, order)];
  for (size_t i = 0; i < here; ++i) {
    const auto found = left.find(of_hypothesis.substr(i, order));
    if (found != left.end() && found->second-- > 0) ++counts.matches;
  }
  return counts;
}

ChrfStatistics compare(const Sentence& hypothesis, const Sentence& reference,
                       const ChrfOptions& options) {
  ChrfStatistics statistics;
  for (int64_t n = 1; n <= options.char_order; ++n) {
    statistics.orders.push_back(
        count_ngrams(hypothesis.characters, reference.characters, static_cast<size_t>(n)));
  }
  for (int64_t n = 1; n <= options.word_order; ++n) {
    statistics.orders.push_back(
        count_ngrams(hypothesis.words, reference.words, static_cast<size_t>(n)));
  }
  return statistics;
}

/// 0 to 100, operation by operation as in sacreBLEU.
double f_score(const ChrfStatistics& statistics, const ChrfOptions& options) {
  constexpr double kEps = 1e-16;
  const auto factor = static_cast<double>(options.beta * options.beta);
  double sum = 0.0, precision_sum = 0.0, recall_sum = 0.0;
  int64_t effective_orders = 0;
  for (const ChrfCounts& counts : statistics.orders) {
    const auto hypothesis = static_cast<double>(counts.hypothesis);
    const auto reference = static_cast<double>(counts.reference);
    const auto matches = static_cast<double>(counts.matches);
    const double precision = hypothesis > 0 ? matches / hypothesis : kEps;
    const double recall = reference > 0 ? matches / reference : kEps;
    const double divisor = factor * precision + recall;
    sum += divisor > 0 ? (1 + factor) * precision * recall / divisor : kEps;
    if (hypothesis == 0 || reference == 0) continue;
    precision_sum += precision;
    recall_sum += recall;
    ++effective_orders;
  }
  if (options.eps_smoothing) {
    return statistics.orders.empty() ? 0.0
                                     : 100 * sum / static_cast<double>(statistics.orders.size());
  }
  if (effective_orders == 0) return 0.0;
  const double precision = precision_sum / static_cast<double>(effective_orders);
  const double recall = recall_sum / static_cast<double>(effective_orders);
  if (precision + recall == 0.0) return 0.0;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

}  // namespace

void ChrfOptions::validate() const {
  require_between("char_order", char_order, 1, 100);
  require_between("word_order", word_order, 0, 100);
  require_between("beta", beta, 0, 1000);
}

ChrfStatistics& ChrfStatistics::operator+=(const ChrfStatistics& other) {
  if (orders.size() < other.orders.size()) orders.resize(other.orders.size());
  for (size_t n = 0; n < other.orders.size(); ++n) {
    orders[n].hypothesis += other.orders[n].hypothesis;
    orders[n].reference += other.orders[n].reference;
    orders[n].matches += other.orders[n].matches;
  }
  return *this;
}

ChrfStatistics sentence_statistics(std::string_view hypothesis,
                                   std::span<const std::string> references,
                                   const ChrfOptions& options) {
  WordNumbers known;
  const Sentence sentence = read_sentence(hypothesis, options, known);
  ChrfStatistics best;
  double best_score = -1.0;
  for (const std::string& reference : references) {
    ChrfStatistics statistics =
        compare(sentence, read_sentence(reference, options, known), options);
    const double score = f_score(statistics, options);
    if (score <= best_score) continue;
    best_score = score;
    best = std::move(statistics);
  }
  return best;
}

ChrfScore score_of(const ChrfStatistics& statistics, const ChrfOptions& options,
                   int64_t references) {
  options.validate();
  return {.score = f_score(statistics, options),
          .name = "chrF" + std::to_string(options.beta) +
                  std::string(static_cast<size_t>(options.word_order), '+'),
          .signature = chrf_signature(options, references)};
}

std::string chrf_signature(const ChrfOptions& options, int64_t references) {
  return "nrefs:" + std::to_string(references) + "|case:" + (options.lowercase ? "lc" : "mixed") +
         "|eff:" + (options.eps_smoothing ? "no" : "yes") +
         "|nc:" + std::to_string(options.char_order) + "|nw:" + std::to_string(options.word_order) +
         "|space:" + (options.whitespace ? "yes" : "no") +
         (options.beta == 2 ? "" : "|beta:" + std::to_string(options.beta)) +
         "|version:attn-" ATTN_VERSION;
}

std::string format_score(const ChrfScore& score) {
  return score.name + "|" + score.signature + format(" = %.2f", score.score);
}

}  // namespace attn
