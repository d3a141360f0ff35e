// What search may write next: an interface, so that decoders need not know why.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attn {

/// A set of tokens: token t is in it when bit t % 64 of word t / 64 is set.
using TokenMask = std::vector<uint64_t>;

/// A rule for the outputs of a batch, followed row by row as beam search goes on.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  /// Called once before each position, with the rows that StepDecoder::step is given: for each of
  /// them the mask of the tokens that may come next. The masks, and the answer, stay valid until
  /// the next call.
  virtual std::span<const uint64_t* const> step(std::span<const int64_t> parents,
                                                std::span<const int32_t> tokens,
                                                std::span<const int64_t> sentences) = 0;
};

}  // namespace attn
