// Training on several texts: data.train, data.silver and data.sources, each sentence repeated so
// that the texts come in the configured ratios. Treebanks are mixed by data/parsing/treebank.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/config.h"
#include "data/tokenizer.h"

namespace attn {

/// One text of the mixture.
struct MixturePart {
  std::string text;  ///< as in the config
  std::string tag;
  int64_t group = 0;   ///< 0: data.train; texts of a group share a ratio
  double ratio = 0.0;  ///< sentences of the group per sentence of group 0; 0: every one once
  int64_t sentences = 0;
  double times = 1.0;  ///< mean number of copies of a sentence
};

/// The texts of the config, data.train first, with sentences and times not yet known.
std::vector<MixturePart> mixture_parts(const DataConfig& data);

/// Sets `times` from the numbers of sentences: the ratios hold, and every sentence occurs at least
/// once. Throws ConfigError if the mixture has more than 100 times the sentences of its texts.
void set_times(std::vector<MixturePart>& parts);

/// A line for the log per part that is repeated.
void log_times(std::span<const MixturePart> parts, const Log& log);

/// Draws the number of copies of each sentence: floor(times) or floor(times) + 1.
class CopyCounts {
 public:
  CopyCounts(std::span<const MixturePart> parts, uint64_t seed);
  /// Number of copies of the next sentence, in the order of the texts.
  int64_t next(const MixturePart& part) {
    return static_cast<int64_t>(part.times + random_.uniform());
  }
  /// The seed, or 0 if nothing is repeated: the mixture then does not depend on it.
  uint64_t seed() const { return seed_; }

 private:
  uint64_t seed_;
  Random random_;
};

/// The file with the tags of the lines of a training text as returned by with_training_text (or
/// mixed_pairs); empty if the text has none.
std::filesystem::path tags_file(const DataConfig& text);

/// Translation: writes data.train and data.sources as one text, with a file of tags if there are
/// any, to the cache directory, and returns the config with `train` changed to it; without
/// data.sources returns the config. `repeated`: with the configured ratios, else every pair once
/// and no tags. Throws DataError.
DataConfig mixed_pairs(const DataConfig& data, const std::filesystem::path& cache, uint64_t seed,
                       bool repeated, const Log& log = {});

}  // namespace attn
