// Vocabulary sizes and embedding sharing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/enum_names.h"

namespace attn {

/// Sizes of the vocabularies, which depend on the data, not the config alone.
struct VocabularySizes {
  int64_t source = 0;
  int64_t target = 0;
  /// Further indices of source tokens, which have embeddings of their own; 0: none.
  int64_t source_features = 0;
  /// Target tokens that each stand for a word of the source: the leaves of a parser's trees.
  std::vector<int32_t> target_words = {};
};

/// Section 3.4: which of source embedding, target embedding and pre-softmax projection share one
/// matrix.
enum class EmbeddingSharing {
  all,      ///< all three, as in the paper
  decoder,  ///< target embedding and projection
  none
};

template <>
struct EnumNames<EmbeddingSharing> {
  static constexpr auto values =
      std::to_array<EnumName<EmbeddingSharing>>({{EmbeddingSharing::all, "all"},
                                                 {EmbeddingSharing::decoder, "decoder"},
                                                 {EmbeddingSharing::none, "none"}});
};

/// Rows of all embedding matrices and of the pre-softmax projection together.
inline int64_t embedding_rows(EmbeddingSharing sharing, const VocabularySizes& sizes) {
  switch (sharing) {
    case EmbeddingSharing::all:
      return sizes.target + sizes.source_features;
    case EmbeddingSharing::decoder:
      return sizes.source + sizes.target + sizes.source_features;
    case EmbeddingSharing::none:
      return sizes.source + 2 * sizes.target + sizes.source_features;
  }
  return 0;
}

}  // namespace attn
