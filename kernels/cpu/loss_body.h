// Label-smoothed loss and its gradient on one row of logits, in place. Part of body.h.

static float log_sum_exp(const float* logits, int64_t classes) {
  const float largest = largest_of(logits, classes);
  float sum = 0.0f;
  for (int64_t c = 0; c < classes; ++c) sum += exp_of(logits[c] - largest);
  return largest + __builtin_logf(sum);
}

static int64_t next_above(const float* values, int64_t begin, int64_t end, float threshold) {
  for (; begin + 64 <= end; begin += 64) {  // skips blocks without a hit
    int32_t hits = 0;
    for (int64_t i = begin; i < begin + 64; ++i) hits += values[i] > threshold;
    if (hits != 0) break;
  }
  while (begin < end && !(values[begin] > threshold)) ++begin;
  return begin;
}

static double smoothed_loss(float* logits, int64_t classes, int64_t target, SmoothedTargets targets,
                            bool gradient, double* nll_of_target) {
  const float largest = largest_of(logits, classes);
  const float at_target = logits[target];
  const float at_excluded = targets.excluded >= 0 ? logits[targets.excluded] : 0.0f;
  // Logits are summed relative to the largest, for precision.
  float sum_logits = 0.0f, sum = 0.0f;
  for (int64_t c = 0; c < classes; ++c) {
    const float z = logits[c] - largest;
    const float e = exp_of(z);
    sum_logits += z;
    sum += e;
    logits[c] = gradient ? e : logits[c];
  }
  const double log_sum = __builtin_log(static_cast<double>(sum));
  const double nll = log_sum - (static_cast<double>(at_target) - largest);
  const bool excludes = targets.excluded >= 0 && targets.excluded != target;
  const double others = static_cast<double>(classes - 1 - (excludes ? 1 : 0));
  const double sum_others = static_cast<double>(sum_logits) - (at_target - largest) -
                            (excludes ? at_excluded - largest : 0.0f);
  const float log_z = static_cast<float>(log_sum + largest);
  *nll_of_target = nll;
  if (gradient) {
    // d(z log² Z) / d logit = 2 z log Z p.
    const float inverse = (1.0f / sum) * (1.0f + 2.0f * targets.z_loss * log_z);
    for (int64_t c = 0; c < classes; ++c)
      logits[c] = logits[c] * inverse - targets.smoothing_per_class;
    logits[target] += targets.smoothing_per_class - targets.target_probability;
    if (excludes) logits[targets.excluded] += targets.smoothing_per_class;
  }
  return targets.target_probability * nll +
         targets.smoothing_per_class * (others * log_sum - sum_others) +
         static_cast<double>(targets.z_loss) * log_z * log_z;
}
