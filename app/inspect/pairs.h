// Pairs of sentences to look at, of a translator or a parser.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/experiment/checkpoint.h"
#include "eval/tasks/forced_decoding.h"

namespace attn {

/// Sentences outside of the limits are left out.
struct PairLimits {
  int64_t lines = 20;        ///< first sentences of the text
  int64_t max_tokens = 128;  ///< on either side, BOS and EOS not counted
};

/// The texts of a pair as they were read, a tree as its symbols; empty: the model's own output.
struct PairTexts {
  std::string source, target;
};

struct SelectedPairs {
  std::vector<ScoredPair> pairs;
  std::vector<PairTexts> texts;
  std::vector<size_t> lines;  ///< the line of each pair, from 0
  int64_t left_out = 0;       ///< empty or longer than max_tokens
};

/// Both sides as text: lines of the two files; for a parser words, and trees in brackets. Throws
/// DataError if the numbers of lines differ, and for trees that are not over the words.
SelectedPairs reference_pairs(const LoadedModel& loaded, std::span<const std::string> source,
                              const std::filesystem::path& target, const PairLimits& limits);

/// The sources with the model's own output: its best translations or trees.
SelectedPairs decoded_pairs(LoadedModel& loaded, std::span<const std::string> source,
                            const PairLimits& limits);

/// The sources of a text with both sides: PREFIX.en, or for a parser the words of its trees.
std::vector<std::string> source_lines(const LoadedModel& loaded, const std::string& data);
/// The path of the targets: PREFIX.de, or the trees themselves.
std::filesystem::path target_path(const LoadedModel& loaded, const std::string& data);

}  // namespace attn
