// Properties of the vocabularies of an encoded corpus.
#pragma once

#include <cstdint>

namespace attn {

/// Sizes and special tokens of the vocabularies of a corpus.
struct Vocabularies {
  int64_t source_size = 0;
  int64_t target_size = 0;
  int64_t source_eos = 0;
  int64_t target_bos = 0;
  int64_t target_eos = 0;
  int64_t source_features = 0;  ///< 0: none
  /// The target class that no position has as its target: BOS, unless EOS is the same; -1: none.
  int64_t never_target() const { return target_bos == target_eos ? -1 : target_bos; }
  bool operator==(const Vocabularies&) const = default;
};

}  // namespace attn
