#include "train/batch_ahead.h"

namespace attn {

// Makes no call to a GPU, which would interfere with the thread that trains.
UpdateBatches BatchAhead::build() {
  UpdateBatches out{.begin = stream_.position()};
  for (int64_t i = 0; i < count_; ++i) {
    out.batches.push_back(stream_.next());
    if (classes_) out.padded.push_back(static_batch(out.batches.back(), *classes_));
  }
  out.end = stream_.position();
  return out;
}

UpdateBatches BatchAhead::take(const StreamPosition& position) {
  if (next_.valid()) {
    UpdateBatches ahead = next_.get();
    if (ahead.begin == position && ahead.end == stream_.position()) return ahead;
  }
  return build();
}

BatchAhead::Building::Building(BatchAhead& batches) : next_(batches.next_) {
  if (!batches.ahead_) return;
  next_ = std::async(std::launch::async, [&batches] { return batches.build(); });
}

BatchAhead::Building::~Building() {
  if (next_.valid()) next_.wait();
}

}  // namespace attn
