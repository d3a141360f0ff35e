#include "data/word_dropout.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

namespace attn {

WordDropout::WordDropout(const Tokenizer& source, double z) {
  bool counted = false;
  for (int64_t id = 0; id < source.size(); ++id) {
    const int64_t count = source.count(id);
    const int32_t unknown = source.unknown_form(id);
    Replacement replacement{0.0, unknown};
    if (count > 0 && unknown != id) {
      replacement.probability = z / (z + static_cast<double>(count));
      counted = true;
    }
    replacements_.push_back(replacement);
  }
  if (!counted) {
    throw DataError(
        "data.word_dropout: the source vocabulary has no counts; use a word list with lines "
        "\"word<TAB>count\", or set it to 0");
  }
}

void WordDropout::apply(Batch& batch, uint64_t seed) const {
  std::vector<int64_t>& tokens = batch.source.tokens;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Replacement& replacement = replacements_.at(static_cast<size_t>(tokens[i]));
    if (Random(seed, i).uniform() < replacement.probability) tokens[i] = replacement.token;
  }
}

}  // namespace attn
