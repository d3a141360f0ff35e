// Section 5.3: the learning rate as a pure function of the step.
#pragma once

#include <cstdint>

#include "train/config.h"

namespace attn {

/// The learning rate of update `step` (from 1) for a model of width `d_model`.
double learning_rate(const TrainConfig& config, int64_t d_model, int64_t step);

}  // namespace attn
