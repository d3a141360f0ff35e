// Records what the attention heads of a model compute, and masks heads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "model/observable_attention.h"
#include "model/seq2seq.h"

namespace attn {

/// One head of one layer, both from 0.
struct HeadId {
  AttentionKind kind = AttentionKind::encoder;
  int64_t layer = 0, head = 0;
  bool operator==(const HeadId&) const = default;
};

/// What one layer computed.
struct AttentionRecord {
  AttentionKind kind = AttentionKind::encoder;
  int64_t layer = 0;
  ObservedAttention observed;
};

/// Records what every attention layer computes in encode() and decode() until it is destroyed. One
/// at a time for a model, which must outlive it and run on one thread.
class AttentionRecorder {
 public:
  /// Throws ConfigError for a model without attention.
  explicit AttentionRecorder(Seq2SeqModel& model);
  ~AttentionRecorder();
  AttentionRecorder(const AttentionRecorder&) = delete;
  AttentionRecorder& operator=(const AttentionRecorder&) = delete;

  /// The records since the last call, in the order of computation.
  std::vector<AttentionRecord> take();

 private:
  std::vector<ObservableAttention*> observed_;
  std::vector<AttentionRecord> records_;
};

/// All heads of a Transformer, encoder first. Throws ConfigError for other architectures.
std::vector<HeadId> all_heads(Seq2SeqModel& model);

/// RAII: masks some heads of a model by setting the columns of W^O that read their outputs to 0.
/// The other heads are not rescaled (Michel et al. 2019).
class HeadMask {
 public:
  /// Throws std::out_of_range for a head that the model does not have, and like all_heads().
  HeadMask(Seq2SeqModel& model, std::span<const HeadId> heads);
  ~HeadMask();
  HeadMask(const HeadMask&) = delete;
  HeadMask& operator=(const HeadMask&) = delete;

 private:
  struct Masked {
    torch::Tensor columns, before;
  };
  std::vector<Masked> masked_;
};

}  // namespace attn
