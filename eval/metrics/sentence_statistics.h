// Shared by the corpus metrics: the statistics of each sentence, and their sum.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace attn {

/// Throws DataError without references. `metric` is its name in messages.
inline void require_reference(const std::string& metric, size_t references) {
  if (references == 0) throw DataError(metric + ": expected at least one reference");
}

/// The statistics of all sentences, of_sentence(hypothesis, its references). `references` are
/// [reference][sentence]. Throws DataError without references, or if the numbers of sentences
/// differ.
template <class OfSentence>
auto statistics_of_corpus(const std::string& metric, std::span<const std::string> hypotheses,
                          std::span<const std::vector<std::string>> references,
                          const OfSentence& of_sentence) {
  require_reference(metric, references.size());
  for (size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() == hypotheses.size()) continue;
    throw DataError(metric + ": " + std::to_string(hypotheses.size()) + " hypotheses but " +
                    std::to_string(references[r].size()) + " sentences in reference " +
                    std::to_string(r + 1) + "; they must match line by line");
  }
  std::vector<std::string> own(references.size());
  std::vector<decltype(of_sentence(hypotheses.front(), own))> all;
  all.reserve(hypotheses.size());
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    for (size_t r = 0; r < references.size(); ++r) own[r] = references[r][i];
    all.push_back(of_sentence(hypotheses[i], own));
  }
  return all;
}

template <class Statistics>
Statistics sum_of(const std::vector<Statistics>& sentences) {
  Statistics sum;
  for (const Statistics& sentence : sentences) sum += sentence;
  return sum;
}

}  // namespace attn
