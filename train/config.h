// The options of training: the paper's section 5 is the default.
#pragma once

#include <cstdint>

#include "base/enum_names.h"
#include "kernels/precision.h"

namespace attn {

enum class Schedule {
  paper,         ///< section 5.3: d_model^-0.5 min(step^-0.5, step warmup^-1.5)
  inverse_sqrt,  ///< linear to `learning_rate` over the warm-up, then its inverse square root
  constant       ///< `learning_rate`, after a linear warm-up
};
/// Which classes share label smoothing's ε; V is the vocabulary size. It changes row (D) of
/// Table 3.
enum class Smoothing {
  wrong,         ///< ε / (V - 1) on each wrong class: Tensor2Tensor, fairseq
  wrong_no_pad,  ///< ε / (V - 2): also leaves out the token that is never a target (padding in
                 ///< JoeyNMT and the Annotated Transformer, BOS here)
  all            ///< ε / V on all classes, the target too: PyTorch
};

template <>
struct EnumNames<Schedule> {
  static constexpr auto values =
      std::to_array<EnumName<Schedule>>({{Schedule::paper, "paper"},
                                         {Schedule::inverse_sqrt, "inverse_sqrt"},
                                         {Schedule::constant, "constant"}});
};
template <>
struct EnumNames<Smoothing> {
  static constexpr auto values =
      std::to_array<EnumName<Smoothing>>({{Smoothing::wrong, "wrong"},
                                          {Smoothing::wrong_no_pad, "wrong_no_pad"},
                                          {Smoothing::all, "all"}});
};

/// Bounds what dropout's seeds must tell apart (dropout_seed in train/trainer.h).
inline constexpr int64_t kMostAccumulated = int64_t{1} << 24;

/// A union tagged by `schedule`.
struct TrainConfig {
  static constexpr const char* kTag = "schedule";

  int64_t steps = 100000;
  int64_t accumulate = 1;
  Schedule schedule = Schedule::paper;
  int64_t warmup = 4000;
  double learning_rate = 0.001;
  double learning_rate_scale = 1.0;
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;
  double weight_decay = 0.0;
  double clip_norm = 0.0;
  double label_smoothing = 0.1;
  Smoothing smoothing = Smoothing::wrong;
  Precision precision = Precision::fp32;
  int64_t patience = 0;
  int64_t log_every = 50;
  int64_t checkpoint_every = 1000;
  double checkpoint_minutes = 0.0;
  int64_t keep_last = 5;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("steps", self.steps, "updates of the weights, in all");
    visit("accumulate", self.accumulate, "batches taken for one update");
    visit("schedule", self.schedule, "learning rate as a function of the step");
    visit("warmup", self.warmup, "steps over which the learning rate rises linearly");
    if (self.schedule != Schedule::paper) {
      visit("learning_rate", self.learning_rate, "the schedule's peak");
    }
    visit("learning_rate_scale", self.learning_rate_scale, "factor on the schedule's value");
    visit("beta1", self.beta1, "Adam's decay of the first moment");
    visit("beta2", self.beta2, "Adam's decay of the second moment");
    visit("epsilon", self.epsilon, "Adam's ε");
    visit("weight_decay", self.weight_decay, "decoupled weight decay (0: none, as in the paper)");
    visit("clip_norm", self.clip_norm, "greatest norm of the gradient (0: no clipping)");
    visit("label_smoothing", self.label_smoothing, "ε_ls");
    visit("smoothing", self.smoothing, "which classes share ε_ls");
    visit("precision", self.precision, "of matrix products; weights and sums stay fp32");
    visit("patience", self.patience,
          "stop after so many validations without improvement (0: never)");
    visit("log_every", self.log_every, "steps between two lines of the log");
    visit("checkpoint_every", self.checkpoint_every, "steps between two checkpoints");
    visit("checkpoint_minutes", self.checkpoint_minutes,
          "also a checkpoint to go on from after so many minutes (0: none)");
    visit("keep_last", self.keep_last,
          "checkpoints by steps that are kept, besides the best and the newest (0: all)");
  }
  bool operator==(const TrainConfig&) const = default;
  /// Throws ConfigError naming the first option that contradicts itself.
  void validate() const;
};

}  // namespace attn
