// The batches of updates, of which a thread builds the next ones while an update is computed.
#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <vector>

#include "data/batches.h"
#include "train/static_batch.h"

namespace attn {

/// The batches of an update, and the stream's position before and after them.
struct UpdateBatches {
  std::vector<Batch> batches;
  std::vector<StaticBatch> padded;  ///< the same, if they are padded
  StreamPosition begin, end;
};

/// Takes the batches of updates from a stream. With `ahead` the stream may be an update further
/// than what was taken, so that the position to save is UpdateBatches::end.
///
/// A GPU idles while batches are built; a CPU's cores are all busy with the update, of which
/// building takes less than 1 %, so that a thread beside them would only disturb them.
class BatchAhead {
 public:
  /// `count` batches for each update, padded to classes if there is a rule for them. The stream
  /// must outlive this.
  BatchAhead(BatchStream& stream, int64_t count, bool ahead,
             const std::optional<ClassRule>& classes = {})
      : stream_(stream), count_(count), ahead_(ahead), classes_(classes) {}

  /// The batches of the update after which a run is at `position`. Those that were built ahead are
  /// dropped if this is not where they begin, or if the stream was restored meanwhile; then they
  /// are taken from where the stream is. Throws what building them threw.
  UpdateBatches take(const StreamPosition& position) {
    if (next_.valid()) {
      UpdateBatches ahead = next_.get();
      if (ahead.begin == position && ahead.end == stream_.position()) return ahead;
    }
    return build();
  }

  /// While it exists a thread may build the next batches, and the stream must not be used.
  class Building {
   public:
    explicit Building(BatchAhead& batches) : next_(batches.next_) {
      if (!batches.ahead_) return;
      next_ = std::async(std::launch::async, [&batches] { return batches.build(); });
    }
    ~Building() {
      if (next_.valid()) next_.wait();
    }
    Building(const Building&) = delete;
    Building& operator=(const Building&) = delete;

   private:
    std::future<UpdateBatches>& next_;
  };

 private:
  // Makes no call to a GPU, which would interfere with the thread that trains.
  UpdateBatches build() {
    UpdateBatches out{.begin = stream_.position()};
    for (int64_t i = 0; i < count_; ++i) {
      out.batches.push_back(stream_.next());
      if (classes_) out.padded.push_back(static_batch(out.batches.back(), *classes_));
    }
    out.end = stream_.position();
    return out;
  }

  BatchStream& stream_;
  int64_t count_;
  bool ahead_;
  std::optional<ClassRule> classes_;
  std::future<UpdateBatches> next_;
};

}  // namespace attn
