// The sum of the gradients of all processes: each process adds one shard, in a fixed order.
#pragma once

#include "kernels/libtorch.h"
#include "train/parallel/communicator.h"
#include "train/parallel/shards.h"

namespace attn {

/// Sums and gathers [P] float32 buffers of the processes. A sum sends (n - 1) / n of the buffer to
/// others, and so does a gather, as in a ring all-reduce. Additions are in fp32 and in the order of
/// tree_sum over the ranks, on any network and with any library.
class GradientSum {
 public:
  GradientSum(Communicator& world, int64_t floats)
      : world_(world),
        memory_(world.reaches_device() ? MessageMemory::device : MessageMemory::host),
        floats_(floats) {}

  /// Leaves the sum over all processes in this process's shard of `gradients`; the other shards of
  /// the buffer are unchanged.
  void reduce(const torch::Tensor& gradients);
  /// Gives every process the shards of all.
  void gather(const torch::Tensor& flat);

  /// The first process's copy of a buffer whose shards lie with the processes: [P] on the host; the
  /// others get an undefined tensor. `own`: this process's shard; itself for a single process.
  torch::Tensor gather_to_first(const torch::Tensor& own) const;
  /// The inverse: each process receives its shard in `own`. Only the first one reads `whole`.
  void scatter_from_first(const torch::Tensor& whole, const torch::Tensor& own) const;

  FlatRange shard(int64_t rank) const { return shard_of(floats_, rank, world_.size()); }
  /// This process's shard.
  FlatRange own() const { return shard(world_.rank()); }

 private:
  // The buffer, or its copy on the host if only that can be exchanged.
  torch::Tensor reachable(const torch::Tensor& flat) const;

  Communicator& world_;
  MessageMemory memory_;
  int64_t floats_;
  torch::Tensor received_;  // [n, own shard]
};

/// Sums of the squares of the blocks of kNormBlock floats of [N], in float64: on a CPU the same
/// bits with any number of threads. On a GPU one sum.
torch::Tensor block_squares(const torch::Tensor& flat);

/// Overwrites a contiguous tensor in all processes with that of the first.
void broadcast(Communicator& world, const torch::Tensor& tensor);

}  // namespace attn
