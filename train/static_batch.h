// Batches of static shapes, each in one block of memory: an update that was captured for one batch
// of a class of shapes holds for all of them.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "data/batch.h"
#include "kernels/libtorch.h"
#include "model/seq2seq.h"

namespace attn {

/// A target in padding: the row has no loss (libtorch_smoothed_loss).
inline constexpr int64_t kNoTarget = -1;

/// What shapes depend on.
struct BatchClass {
  int64_t source_rows = 0, target_rows = 0;
  int64_t sentences = 0;
  int64_t longest = 0;  ///< tokens of the longest sentence of either side
  auto operator<=>(const BatchClass&) const = default;
};

/// How batches are rounded up to classes. It is part of a run: it decides how results are rounded.
struct ClassRule {
  int64_t row_step = 1024;  ///< both sides have a multiple of it
  int64_t max_length = 0;   ///< of the padding's sentences; 0: no limit
};

/// Rows in steps of a sixteenth of data.batch_tokens; up to 16,384 of those in larger ones, since
/// small batches take a GPU as long as somewhat larger ones: fewer classes.
ClassRule class_rule(int64_t batch_tokens, int64_t max_length);

/// The smallest class by `rule` with room for the batch and padding (padded).
BatchClass class_of(const Batch& batch, const ClassRule& rule);

/// The batch, and after it sentences of tokens 0 without targets (kNoTarget) that fill its class:
/// sentences like others, so that kernels need no case for rows of none, and of up to the longest,
/// since attention costs least for few of them. The first ones are the class's longest, so that
/// longest() is that of the class. Not for batches with features.
Batch padded(const Batch& batch, const BatchClass& to);

/// A batch padded to its class. Its tensors are views of one block, which is copied to a device as
/// a whole: operations on views of a block there hold for every batch of the class that is copied
/// to it.
struct StaticBatch {
  BatchClass shape;
  TokenSequences source, target_in;
  torch::Tensor targets_N;  ///< kNoTarget in padding
  torch::Tensor factor;     ///< float64 scalar: the loss's, 1 / target tokens of the update
  torch::Tensor seed;       ///< int64 scalar: of dropout
  torch::Tensor block;      ///< int64
};

/// The batch padded, on the CPU, with factor 1. Makes no call to a GPU.
StaticBatch static_batch(const Batch& batch, const ClassRule& rule);

/// The same batch as views of `block`, which is as large as its own, where that is to be copied.
StaticBatch placed(StaticBatch batch, const torch::Tensor& block);

/// What makes operations of the model depend on more of a batch than its class, or its loss on
/// padding, so that its batches are not padded; empty: nothing.
std::string varies_within_class(const Seq2SeqModel& model);

}  // namespace attn
