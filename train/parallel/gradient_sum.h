// The sum of the gradients of all processes: each process adds one shard, in a fixed order.
#pragma once

#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/precision.h"
#include "train/parallel/communicator.h"
#include "train/parallel/shards.h"

namespace attn {

/// Sums and gathers [P] float32 buffers of the processes. A sum sends (n - 1) / n of the buffer to
/// others, and so does a gather, as in a ring all-reduce. Additions are in fp32 and in the order of
/// tree_sum over the ranks, on any network and with any library.
class GradientSum {
 public:
  /// `wire`: the type in which gradients are sent.
  GradientSum(Communicator& world, int64_t floats, Precision wire);

  /// Leaves the sum over all processes in this process's shard of `gradients`; the other shards of
  /// the buffer are unchanged.
  void reduce(const torch::Tensor& gradients);
  /// Gives every process the reduced gradients of all shards. With bf16 on the wire they are
  /// rounded in the owner's buffer, too: all processes have the same.
  void gather_gradients(const torch::Tensor& gradients);
  /// Gives every process the shards of all, in fp32.
  void gather(const torch::Tensor& flat);

  const Shards& shards() const { return shards_; }
  /// This process's shard.
  FlatRange own() const { return shards_.of(world_.rank()); }

 private:
  // The buffer, or its copy on the host if only that can be exchanged.
  torch::Tensor reachable(const torch::Tensor& flat) const;

  Communicator& world_;
  MessageMemory memory_;
  Shards shards_;
  Precision wire_;
  torch::Tensor received_;  // [n, own shard] in the type of the wire
};

/// Sums of the squares of the blocks of kNormBlock floats of [N], in float64: on a CPU the same
/// bits with any number of threads. On a GPU one sum.
torch::Tensor block_squares(const torch::Tensor& flat);

/// Overwrites a contiguous tensor in all processes with that of the first.
void broadcast(Communicator& world, const torch::Tensor& tensor);

/// The first process's copy of a buffer whose shards lie with the processes: [P] on the host; the
/// others get an undefined tensor. `own`: this process's shard. `own` itself for a single process.
torch::Tensor gather_to_first(Communicator& world, const Shards& shards, const torch::Tensor& own);

/// The counterpart: gives every process its shard of the first's `whole` ([P] on the host).
void scatter_from_first(Communicator& world, const Shards& shards, const torch::Tensor& whole,
                        const torch::Tensor& own);

}  // namespace attn
