#include "train/batch_ahead.h"

#include <utility>

namespace attn {

BatchAhead::BatchAhead(BatchStream& stream, int64_t count, bool ahead,
                       const std::optional<ClassRule>& classes)
    : stream_(stream), count_(count), classes_(classes) {
  if (!ahead) return;
  // Makes no call to a GPU, which would interfere with the one that trains.
  thread_ = std::jthread([this](const std::stop_token& stop) {
    for (wanted_.acquire(); !stop.stop_requested(); wanted_.acquire()) {
      next_ = build();
      built_.release();
    }
  });
}

BatchAhead::~BatchAhead() {
  thread_.request_stop();
  wanted_.release();
}

UpdateBatches BatchAhead::build() noexcept {
  UpdateBatches out;
  out.begin = stream_.position();
  try {
    for (int64_t i = 0; i < count_; ++i) {
      out.batches.push_back(stream_.next());
      if (classes_) out.padded.push_back(static_batch(out.batches.back(), *classes_));
    }
  } catch (...) {
    out.error = std::current_exception();
  }
  out.end = stream_.position();
  return out;
}

UpdateBatches BatchAhead::take(const StreamPosition& position) {
  std::optional<UpdateBatches> taken = std::exchange(next_, {});
  if (!taken || taken->begin != position || taken->end != stream_.position()) taken = build();
  if (taken->error) std::rethrow_exception(taken->error);
  return *std::move(taken);
}

void BatchAhead::start() {
  if (thread_.joinable()) wanted_.release();
}

void BatchAhead::wait() {
  if (thread_.joinable()) built_.acquire();
}

}  // namespace attn
