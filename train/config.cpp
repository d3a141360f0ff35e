#include "train/config.h"

#include <string>

#include "base/check.h"

namespace attn {

void TrainConfig::validate() const {
  require(steps >= 1, "steps", steps, "must be positive");
  require(accumulate >= 1 && accumulate <= kMostAccumulated, "accumulate", accumulate,
          "must be from 1 to " + std::to_string(kMostAccumulated));
  require(warmup >= 0, "warmup", warmup, "must be 0 or more");
  require(schedule != Schedule::paper || warmup >= 1, "warmup", warmup,
          "must be positive with the paper's schedule");
  require(learning_rate > 0, "learning_rate", learning_rate, "must be positive");
  require(learning_rate_scale > 0, "learning_rate_scale", learning_rate_scale, "must be positive");
  require(beta1 >= 0 && beta1 < 1, "beta1", beta1, "must be at least 0 and below 1");
  require(beta2 >= 0 && beta2 < 1, "beta2", beta2, "must be at least 0 and below 1");
  require(epsilon > 0, "epsilon", epsilon, "must be positive");
  require(weight_decay >= 0, "weight_decay", weight_decay, "must be 0 or more");
  require(clip_norm >= 0, "clip_norm", clip_norm, "must be 0 or more");
  require(label_smoothing >= 0 && label_smoothing < 1, "label_smoothing", label_smoothing,
          "must be at least 0 and below 1");
  require(patience >= 0, "patience", patience, "must be 0 or more");
  require(log_every >= 1, "log_every", log_every, "must be positive");
  require(checkpoint_every >= 1, "checkpoint_every", checkpoint_every, "must be positive");
  require(checkpoint_minutes >= 0, "checkpoint_minutes", checkpoint_minutes, "must be 0 or more");
  require(keep_last >= 0, "keep_last", keep_last, "must be 0 or more");
  require(average_last >= 0, "average_last", average_last, "must be 0 or more");
  require(keep_last == 0 || average_last <= keep_last, "average_last", average_last,
          "must not exceed keep_last");
}

}  // namespace attn
