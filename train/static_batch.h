// Batches of static shapes, each in one block of memory.
#pragma once

#include <string>

#include "kernels/libtorch.h"
#include "model/seq2seq.h"
#include "train/batch_class.h"

namespace attn {

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
