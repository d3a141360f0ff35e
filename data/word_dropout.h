// Unknown-word dropout: rare words of the training text are replaced by their unknown token at
// random, so that the model also learns to read unknown words. Not in the paper.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch.h"
#include "data/tokenizer.h"

namespace attn {

class WordDropout {
 public:
  /// A word of count c is replaced with probability z / (z + c). Throws DataError if the vocabulary
  /// has no counts.
  WordDropout(const Tokenizer& source, double z);

  /// Replaces tokens of the source; features stay. A function of the seed and the position in the
  /// batch alone.
  void apply(Batch& batch, uint64_t seed) const;

 private:
  struct Replacement {
    double probability = 0.0;
    int32_t token = 0;
  };
  std::vector<Replacement> replacements_;  // by token
};

}  // namespace attn
