// The rows of all decoding steps so far, by what continues them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "model/segments.h"
#include "model/step_rows.h"

namespace attn {

/// For each current row, the rows of all decoding steps that it continues (back-pointers), so that
/// nothing is copied when beams reorder.
class StepAncestors {
 public:
  /// Begins a step: row r continues row parents[r] of the previous step. At the first step the
  /// parents are ignored.
  void advance(std::span<const int64_t> parents) {
    next_.resize(parents.size());
    for (size_t r = 0; r < parents.size(); ++r) {
      if (steps_ > 0) next_[r] = past_[static_cast<size_t>(parents[r])];
      next_[r].push_back(static_cast<int32_t>(r));
    }
    past_.swap(next_);
    ++steps_;
    tensors_.clear();
  }
  int64_t steps() const { return steps_; }  ///< begun so far
  /// For each current row, its rows at the last `steps` steps, the present one included.
  std::vector<const int32_t*> last(int64_t steps) const {
    std::vector<const int32_t*> rows;
    for (const auto& past : past_) rows.push_back(past.data() + steps_ - steps);
    return rows;
  }
  /// [R] int64: for each current row, its row `back` steps ago (below steps()). Copied to
  /// `device`, the same in all calls, once a step.
  torch::Tensor rows(int64_t back, torch::Device device) const {
    torch::Tensor& tensor = tensors_[back];
    if (tensor.defined()) return tensor;
    std::vector<int64_t> rows;
    for (const int32_t* row : last(back + 1)) rows.push_back(*row);
    return tensor = int64_tensor(rows, device);
  }

 private:
  std::vector<std::vector<int32_t>> past_, next_;  // of each row, its row at every step
  int64_t steps_ = 0;
  mutable std::map<int64_t, torch::Tensor> tensors_;  // of rows()
};

/// The rows of a step as segments, one for each of `count` sentences; none of a finished one.
inline Segments by_sentence(const StepRows& step, int64_t count, torch::Device device) {
  std::vector<int64_t> rows(static_cast<size_t>(count), 0);
  for (const int64_t sentence : step.sentences) ++rows[static_cast<size_t>(sentence)];
  return Segments(rows, device);
}

}  // namespace attn
