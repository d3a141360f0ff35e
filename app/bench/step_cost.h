// The cost of a training step: output of `attn bench step`, input of the dry run.
#pragma once

#include <cstdint>

namespace attn {

/// Cost of training, measured on this machine and scaled to the experiment's batches.
struct StepBenchmark {
  bool real_data = false;  ///< false: synthetic pairs, since the text is missing
  int64_t parameters = 0;
  int64_t source_vocabulary = 0, target_vocabulary = 0, source_features = 0;
  double flops_per_update = 0.0;
  double tokens_per_update = 0.0;  ///< target tokens
  double tokens_per_pair = 0.0;    ///< target tokens, EOS included
  double flops_per_second = 0.0;
  double tokens_per_second = 0.0;
  double seconds_per_update = 0.0;
  double measured_batch_tokens = 0.0;  ///< batch limit of the measurement, <= data.batch_tokens
  double memory = 0.0;                 ///< bytes: peak_memory, scaled to data.batch_tokens
  double fixed_memory = 0.0;  ///< bytes of it that do not depend on the batch: weights, gradients,
                              ///< optimizer state
  int64_t updates_measured = 0;
  double peak_flops = 0.0;  ///< FLOP/s of this machine (app/machine/peak.h)

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("real_data", self.real_data, "false: synthetic pairs, since the text is missing");
    visit("parameters", self.parameters, "trainable parameters");
    visit("source_vocabulary", self.source_vocabulary, "entries");
    visit("target_vocabulary", self.target_vocabulary, "entries");
    visit("source_features", self.source_features, "tags, word classes and pieces");
    visit("flops_per_update", self.flops_per_update, "FLOPs of the matrix products, closed form");
    visit("tokens_per_update", self.tokens_per_update, "target tokens");
    visit("tokens_per_pair", self.tokens_per_pair, "target tokens of a sentence pair, with EOS");
    visit("flops_per_second", self.flops_per_second, "measured");
    visit("tokens_per_second", self.tokens_per_second, "target tokens, measured");
    visit("seconds_per_update", self.seconds_per_update, "from the measured rate");
    visit("measured_batch_tokens", self.measured_batch_tokens, "limit of the batches measured");
    visit("memory", self.memory, "bytes, scaled to the experiment's batches");
    visit("fixed_memory", self.fixed_memory, "bytes of weights, gradients and optimizer state");
    visit("updates_measured", self.updates_measured, "number of updates, without the first one");
    visit("peak_flops", self.peak_flops, "peak FLOP/s of matrix products on this machine");
  }
};

}  // namespace attn
