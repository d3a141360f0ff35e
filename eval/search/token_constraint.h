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
  /// For each row of the last step a mask of tokens that stand for one decision, of which the row's
  /// mask forbids some, or null; or nothing at all. What the model gives the forbidden ones of them
  /// goes to the allowed ones in their proportion, so that the decision itself stays as likely as
  /// the model has it.
  virtual std::span<const uint64_t* const> groups() const { return {}; }
};

/// Does that to one row of logits: the forbidden tokens of the group get -inf, the allowed ones are
/// lifted, and the sum over all tokens' exponentials stays what it was. A row without anything
/// allowed in the group stays as it is.
void move_mass(std::span<float> logits, const uint64_t* allowed, const uint64_t* group);

}  // namespace attn
