#include "eval/metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/error.h"
#include "base/format.h"
#include "base/unicode.h"

namespace attn {
namespace {

/// Interns n-grams as integers. An n-gram is the pair of its (n-1)-gram prefix and its last word,
/// so that no strings of words are built.
using PairNumbers = std::unordered_map<uint64_t, uint32_t>;
using WordNumbers = std::unordered_map<std::string_view, uint32_t>;
using Numbers = std::vector<uint32_t>;

std::string prepare(std::string_view line, const BleuOptions& options) {
  return options.lowercase ? bleu_tokenize(to_lower(line), options.tokenizer)
                           : bleu_tokenize(line, options.tokenizer);
}

/// `text` must outlive `known`, whose keys are views into it.
Numbers number_words(const std::string& text, WordNumbers& known) {
  Numbers numbers;
  for (const std::string_view word : split_whitespace(text)) {
    numbers.push_back(known.try_emplace(word, static_cast<uint32_t>(known.size())).first->second);
  }
  return numbers;
}

/// From the n-grams at each position to the (n+1)-grams.
Numbers extend(const Numbers& ngrams, const Numbers& words, int64_t order, PairNumbers& known) {
  Numbers longer;
  if (ngrams.size() < 2) return longer;
  longer.reserve(ngrams.size() - 1);
  for (size_t i = 0; i + 1 < ngrams.size(); ++i) {
    const uint64_t pair = (uint64_t{ngrams[i]} << 32) | words[i + static_cast<size_t>(order)];
    longer.push_back(known.try_emplace(pair, static_cast<uint32_t>(known.size())).first->second);
  }
  return longer;
}

/// Clipped matches of hypothesis n-grams.
int64_t count_matches(const Numbers& hypothesis, std::span<const Numbers> references,
                      size_t kinds) {
  std::vector<int64_t> allowed(kinds), here(kinds);
  for (const Numbers& reference : references) {
    for (const uint32_t ngram : reference) {
      allowed[ngram] = std::max(allowed[ngram], ++here[ngram]);
    }
    for (const uint32_t ngram : reference) here[ngram] = 0;
  }
  int64_t matches = 0;
  for (const uint32_t ngram : hypothesis) {
    if (allowed[ngram]-- > 0) ++matches;
  }
  return matches;
}

int64_t closest_length(int64_t length, std::span<const Numbers> references) {
  int64_t closest = static_cast<int64_t>(references[0].size());
  for (const Numbers& reference : references) {
    const int64_t candidate = static_cast<int64_t>(reference.size());
    const int64_t nearer = std::abs(candidate - length) - std::abs(closest - length);
    if (nearer < 0 || (nearer == 0 && candidate < closest)) closest = candidate;
  }
  return closest;
}

BleuStatistics statistics_of(const std::string& hypothesis,
                             std::span<const std::string> references) {
  WordNumbers known_words;
  const Numbers hypothesis_words = number_words(hypothesis, known_words);
  std::vector<Numbers> reference_words;
  for (const std::string& reference : references) {
    reference_words.push_back(number_words(reference, known_words));
  }
  BleuStatistics result;
  result.hyp_length = static_cast<int64_t>(hypothesis_words.size());
  result.ref_length = closest_length(result.hyp_length, reference_words);

  Numbers ngrams = hypothesis_words;
  std::vector<Numbers> reference_ngrams = reference_words;
  size_t kinds = known_words.size();
  for (int64_t order = 1; order <= bleu_order && !ngrams.empty(); ++order) {
    const size_t index = static_cast<size_t>(order - 1);
    result.totals[index] = static_cast<int64_t>(ngrams.size());
    result.counts[index] = count_matches(ngrams, reference_ngrams, kinds);
    PairNumbers known;
    ngrams = extend(ngrams, hypothesis_words, order, known);
    for (size_t r = 0; r < reference_ngrams.size(); ++r) {
      reference_ngrams[r] = extend(reference_ngrams[r], reference_words[r], order, known);
    }
    kinds = known.size();
  }
  return result;
}

/// std::nullopt for a method without one.
std::optional<double> smoothing_constant(const BleuOptions& options) {
  const bool floor = options.smoothing == BleuSmoothing::floor;
  if (!floor && options.smoothing != BleuSmoothing::add_k) return {};
  return options.smoothing_value.value_or(floor ? 0.1 : 1.0);
}

double brevity_penalty(int64_t hyp_length, int64_t ref_length) {
  if (hyp_length >= ref_length) return 1.0;
  if (hyp_length == 0) return 0.0;
  return std::exp(1.0 - static_cast<double>(ref_length) / static_cast<double>(hyp_length));
}

/// Fills `precisions`; returns the number of orders to average.
int64_t smoothed_precisions(const BleuStatistics& statistics, const BleuOptions& options,
                            std::array<double, bleu_order>& precisions) {
  const double value = smoothing_constant(options).value_or(0.0);
  int64_t orders = bleu_order;
  double share = 1.0;  // share of a match, for smoothing exp
  for (int64_t n = 1; n <= bleu_order; ++n) {
    const size_t index = static_cast<size_t>(n - 1);
    const double added = options.smoothing == BleuSmoothing::add_k && n > 1 ? value : 0.0;
    const double total = static_cast<double>(statistics.totals[index]) + added;
    double count = static_cast<double>(statistics.counts[index]) + added;
    if (total == 0) break;
    if (options.effective_order) orders = n;
    if (count == 0 && options.smoothing == BleuSmoothing::exp) count = share /= 2;
    if (count == 0 && options.smoothing == BleuSmoothing::floor) count = value;
    precisions[index] = 100.0 * count / total;
  }
  return orders;
}

}  // namespace

void BleuOptions::validate() const {
  if (!smoothing_value) return;
  const std::string method(enum_name(smoothing));
  if (!smoothing_constant(*this)) {
    throw ConfigError("smoothing value " + format("%g", *smoothing_value) + ": smoothing method " +
                      method + " takes no value; use floor or add-k, or omit the value");
  }
  if (!std::isfinite(*smoothing_value) || *smoothing_value < 0) {
    throw ConfigError("smoothing value " + format("%g", *smoothing_value) + ": " + method +
                      " needs a finite number of at least 0");
  }
}

BleuStatistics& BleuStatistics::operator+=(const BleuStatistics& other) {
  for (size_t n = 0; n < counts.size(); ++n) {
    counts[n] += other.counts[n];
    totals[n] += other.totals[n];
  }
  hyp_length += other.hyp_length;
  ref_length += other.ref_length;
  return *this;
}

BleuStatistics sentence_statistics(std::string_view hypothesis,
                                   std::span<const std::string> references,
                                   const BleuOptions& options) {
  std::vector<std::string> prepared;
  for (const std::string& reference : references) prepared.push_back(prepare(reference, options));
  return statistics_of(prepare(hypothesis, options), prepared);
}

BleuScore score_of(const BleuStatistics& statistics, const BleuOptions& options,
                   int64_t references) {
  options.validate();
  BleuScore result{statistics};
  result.signature = bleu_signature(options, references);
  result.bp = brevity_penalty(statistics.hyp_length, statistics.ref_length);
  const auto zero = [](int64_t count) { return count == 0; };
  if (std::all_of(statistics.counts.begin(), statistics.counts.end(), zero)) return result;

  const int64_t orders = smoothed_precisions(statistics, options, result.precisions);
  double log_sum = 0;  // log(0) = -inf gives a score of 0
  for (int64_t n = 0; n < orders; ++n) {
    log_sum += std::log(result.precisions[static_cast<size_t>(n)]);
  }
  result.score = result.bp * std::exp(log_sum / static_cast<double>(orders));
  return result;
}

std::string bleu_signature(const BleuOptions& options, int64_t references) {
  std::string smoothing(enum_name(options.smoothing));
  if (const auto value = smoothing_constant(options)) smoothing += format("[%.2f]", *value);
  return "nrefs:" + std::to_string(references) + "|case:" + (options.lowercase ? "lc" : "mixed") +
         "|eff:" + (options.effective_order ? "yes" : "no") +
         "|tok:" + std::string(enum_name(options.tokenizer)) + "|smooth:" + smoothing +
         "|version:attn-" ATTN_VERSION;
}

std::string format_score(const BleuScore& score) {
  std::string line = "BLEU|" + score.signature + format(" = %.2f ", score.score);
  for (size_t n = 0; n < score.precisions.size(); ++n) {
    line += format(n == 0 ? "%.1f" : "/%.1f", score.precisions[n]);
  }
  const double ratio = score.ref_length == 0 ? 0.0
                                             : static_cast<double>(score.hyp_length) /
                                                   static_cast<double>(score.ref_length);
  return line + format(" (BP = %.3f", score.bp) + format(" ratio = %.3f", ratio) +
         " hyp_len = " + std::to_string(score.hyp_length) +
         " ref_len = " + std::to_string(score.ref_length) + ")";
}

bool looks_tokenized(std::span<const std::string> hypotheses) {
  return std::count_if(hypotheses.begin(), hypotheses.end(),
                       [](const std::string& line) { return line.ends_with(" ."); }) >= 100;
}

}  // namespace attn
