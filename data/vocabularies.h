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
  bool operator==(const Vocabularies&) const = default;
};

}  // namespace attn
