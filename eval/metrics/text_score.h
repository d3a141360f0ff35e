// Scores of text by BLEU, chrF or TER. Each has options, with kMetric as its name in messages, and
// two functions that overload on them: sentence_statistics(hypothesis, references, options), which
// are summed over a corpus, and score_of(statistics, options, references), where the last is the
// number of references a sentence.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "eval/metrics/bootstrap.h"

namespace attn {

template <class Options>
void require_valid(const Options& options, size_t references) {
  options.validate();
  if (references > 0) return;
  throw DataError(std::string(Options::kMetric) + ": expected at least one reference");
}

/// The statistics of all sentences; `references[r][i]` is the r-th reference of `hypotheses[i]`.
/// Throws DataError without references, or if the numbers of sentences differ, and ConfigError for
/// invalid options.
template <class Options>
auto corpus_statistics(std::span<const std::string> hypotheses,
                       std::span<const std::vector<std::string>> references,
                       const Options& options) {
  require_valid(options, references.size());
  for (size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() == hypotheses.size()) continue;
    throw DataError(std::string(Options::kMetric) + ": " + std::to_string(hypotheses.size()) +
                    " hypotheses but " + std::to_string(references[r].size()) +
                    " sentences in reference " + std::to_string(r + 1) +
                    "; they must match line by line");
  }
  std::vector<std::string> own(references.size());
  std::vector<decltype(sentence_statistics("", own, options))> all;
  all.reserve(hypotheses.size());
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    for (size_t r = 0; r < references.size(); ++r) own[r] = references[r][i];
    all.push_back(sentence_statistics(hypotheses[i], own, options));
  }
  return all;
}

template <class Statistics>
Statistics sum_of(const std::vector<Statistics>& sentences) {
  Statistics sum;
  for (const Statistics& sentence : sentences) sum += sentence;
  return sum;
}

/// The score of a corpus. Throws like corpus_statistics().
template <class Options>
auto corpus_score(std::span<const std::string> hypotheses,
                  std::span<const std::vector<std::string>> references, const Options& options) {
  return score_of(sum_of(corpus_statistics(hypotheses, references, options)), options,
                  std::ssize(references));
}

/// The score of one sentence. Throws DataError without references, and ConfigError for invalid
/// options.
template <class Options>
auto sentence_score(std::string_view hypothesis, std::span<const std::string> references,
                    const Options& options) {
  require_valid(options, references.size());
  return score_of(sentence_statistics(hypothesis, references, options), options,
                  std::ssize(references));
}

/// The outputs with these statistics of sentences, to be resampled.
template <class Statistics, class Options>
ResampledSystem resampled_text(std::vector<Statistics> sentences, const Options& options) {
  return resampled_system(std::move(sentences), [options](const Statistics& drawn) {
    return score_of(drawn, options, 1).score;
  });
}

}  // namespace attn
