#include "train/config.h"

#include "base/check.h"

namespace attn {
namespace {

void require_share(const char* name, double value) {
  require(value >= 0 && value < 1, name, value, "must be at least 0 and below 1");
}

}  // namespace

void AdamOptions::validate() const {
  require_share("beta1", beta1);
  require_share("beta2", beta2);
  require(epsilon >= 1.2e-38, "epsilon", epsilon, "must be at least 1.2e-38 (float32)");
  require(weight_decay >= 0, "weight_decay", weight_decay, "must be 0 or more");
}

void MuonOptions::validate() const {
  require_share("momentum", momentum);
  require(rate_scale > 0, "muon_rate_scale", rate_scale, "must be positive");
  rest.validate();
}

int64_t TrainConfig::bytes_per_parameter() const {
  const int64_t state =
      OptimizerConfig::with_chosen(optimizer, [](const auto& options) { return options.kState; });
  const int64_t average = ema > 0 ? 1 : 0;
  return (2 + state + average) * static_cast<int64_t>(sizeof(float));
}

void TrainConfig::validate() const {
  require(steps >= 1, "steps", steps, "must be positive");
  require_between("accumulate", accumulate, 1, kMaxAccumulated);
  require(warmup >= 0, "warmup", warmup, "must be 0 or more");
  require(schedule != Schedule::paper || warmup >= 1, "warmup", warmup,
          "must be positive with the paper's schedule");
  require(learning_rate > 0, "learning_rate", learning_rate, "must be positive");
  require(learning_rate_scale > 0, "learning_rate_scale", learning_rate_scale, "must be positive");
  require_between("final_rate", final_rate, 0, 1);
  require(decay_share > 0 && decay_share <= 1, "decay_share", decay_share,
          "must be above 0 and at most 1");
  OptimizerConfig::with_chosen(optimizer, [](const auto& options) { options.validate(); });
  require(clip_norm >= 0, "clip_norm", clip_norm, "must be 0 or more");
  require_share("label_smoothing", label_smoothing);
  require(z_loss >= 0, "z_loss", z_loss, "must be 0 or more");
  require(residual_precision == Precision::fp32 || precision == Precision::bf16,
          "residual_precision", "bf16", "requires train.precision=bf16");
  require_share("ema", ema);
  require(ema == 0 || average_last == 0, "average_last", average_last,
          "must be 0 with train.ema, which is an average already");
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
