// Options of training; the defaults are the paper's (section 5).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/enum_names.h"
#include "kernels/precision.h"
#include "train/optimizer_config.h"

namespace attn {

enum class Schedule {
  paper,         ///< section 5.3: d_model^-0.5 min(step^-0.5, step warmup^-1.5)
  inverse_sqrt,  ///< linear warm-up to `learning_rate`, then inverse square root decay
  constant,      ///< constant `learning_rate` after a linear warm-up
  cosine,        ///< linear warm-up, then half a cosine down to the last step (Loshchilov and
                 ///< Hutter 2017)
  wsd            ///< linear warm-up, constant, linear decay at the end (Hägele et al. 2024, who
                 ///< find a decay as 1 - √ of its progress better)
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
                                         {Schedule::constant, "constant"},
                                         {Schedule::cosine, "cosine"},
                                         {Schedule::wsd, "wsd"}});
};
template <>
struct EnumNames<Smoothing> {
  static constexpr auto values =
      std::to_array<EnumName<Smoothing>>({{Smoothing::wrong, "wrong"},
                                          {Smoothing::wrong_no_pad, "wrong_no_pad"},
                                          {Smoothing::all, "all"}});
};

/// Upper bound of `accumulate`; see dropout_seed in train/trainer.h.
inline constexpr int64_t kMaxAccumulated = 4096;

/// A union tagged by `schedule` and by `optimizer`.
struct TrainConfig {
  static constexpr std::array kTags = {"schedule", "optimizer"};

  int64_t steps = 100000;
  int64_t accumulate = 1;
  Schedule schedule = Schedule::paper;
  int64_t warmup = 4000;
  double learning_rate = 0.001;
  double learning_rate_scale = 1.0;
  double final_rate = 0.0;
  double decay_share = 0.2;
  OptimizerConfig optimizer = {};
  double clip_norm = 0.0;
  double ema = 0.0;
  double label_smoothing = 0.1;
  Smoothing smoothing = Smoothing::wrong;
  double z_loss = 0.0;
  Precision precision = Precision::fp32;
  Precision residual_precision = Precision::fp32;
  int64_t patience = 0;
  int64_t log_every = 50;
  int64_t checkpoint_every = 1000;
  double checkpoint_minutes = 0.0;
  int64_t keep_last = 5;
  int64_t average_last = 0;
  std::string init_from;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("steps", self.steps, "number of updates");
    visit("accumulate", self.accumulate, "batches per update (gradient accumulation)");
    visit("schedule", self.schedule, "learning-rate schedule");
    visit("warmup", self.warmup, "steps of linear warm-up");
    if (self.schedule != Schedule::paper) {
      visit("learning_rate", self.learning_rate, "peak learning rate");
    }
    if (self.decays_to_the_end()) {
      visit("final_rate", self.final_rate,
            "learning rate of the last step, as a fraction of the peak");
    }
    if (self.schedule == Schedule::wsd) {
      visit("decay_share", self.decay_share,
            "fraction of the steps, at the end, over which the learning rate decays");
    }
    visit("learning_rate_scale", self.learning_rate_scale, "factor on the scheduled learning rate");
    visit("optimizer", self.optimizer.kind,
          "optimizer; muon: matrices of linear and recurrent layers by Muon, everything else "
          "(embeddings, output projection, biases, gains) by AdamW");
    OptimizerConfig::with_chosen(self.optimizer,
                                 [&](auto& options) { options.fields(options, visit); });
    visit("clip_norm", self.clip_norm, "gradient clipping: maximum norm; 0: none");
    visit("ema", self.ema,
          "decay of an exponential moving average of the weights (at update t at most "
          "(1 + t) / (10 + t), as in TensorFlow), which is evaluated and saved instead of the "
          "current weights; 0: none");
    visit("label_smoothing", self.label_smoothing, "ε_ls of label smoothing");
    visit("smoothing", self.smoothing,
          "which classes share ε_ls: all wrong ones, all wrong ones but BOS, or all");
    visit("z_loss", self.z_loss,
          "weight of the z-loss, (ln Z)² per target token, which the logged loss includes (Z: the "
          "softmax's denominator; PaLM: 1e-4); 0: none");
    visit("precision", self.precision,
          "precision of matrix products; weights and accumulation stay fp32");
    visit("residual_precision", self.residual_precision,
          "data type of the Transformer's residual stream in training: of embeddings and of the "
          "rows after each sub-layer; bf16 requires precision=bf16");
    visit("patience", self.patience,
          "early stopping after so many validations without improvement, scoring the best; 0: off");
    visit("log_every", self.log_every, "steps between log lines");
    visit("checkpoint_every", self.checkpoint_every, "steps between checkpoints");
    visit("checkpoint_minutes", self.checkpoint_minutes,
          "minutes between extra checkpoints to resume from; 0: none");
    visit("keep_last", self.keep_last,
          "scheduled checkpoints to keep, besides the best and the newest; 0: all");
    visit("average_last", self.average_last,
          "number of most recent scheduled checkpoints (all, if fewer) to average at the end of "
          "training; the average is scored instead of the last weights (section 6.1); 0: off");
    visit("init_from", self.init_from,
          "fine-tuning: run or checkpoint (RUN@best, …) that provides the initial weights, and the "
          "vocabularies unless data specifies others; empty: random initialization");
  }
  /// Whether the learning rate of a step depends on `steps`.
  bool decays_to_the_end() const {
    return schedule == Schedule::cosine || schedule == Schedule::wsd;
  }
  /// Bytes that training keeps for each parameter, in float32: the weight, its gradient, the
  /// tensors of Optimizer::state() and, with `ema`, the average.
  int64_t bytes_per_parameter() const;
  bool operator==(const TrainConfig&) const = default;
  /// Throws ConfigError naming the first invalid option.
  void validate() const;
};

/// Section 5.3: the learning rate of update `step` (from 1) for a model of width `d_model`, a pure
/// function (train/schedule.cpp).
double learning_rate(const TrainConfig& config, int64_t d_model, int64_t step);

}  // namespace attn
