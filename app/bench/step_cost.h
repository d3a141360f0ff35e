// The cost of a training step: output of `attn bench step`, input of the dry run.
#pragma once

#include <cstdint>

namespace attn {

/// Costs of training, per update of the experiment as it is written and measured on this machine.
struct StepBenchmark {
  bool real_data =
      false;  ///< false: the training text is missing, pairs of 10 to 40 tokens instead
  int64_t parameters = 0;
  double flops_per_update = 0.0;
  double tokens_per_update = 0.0;  ///< target tokens
  double flops_per_second = 0.0;
  double tokens_per_second = 0.0;
  double seconds_per_update = 0.0;
  double measured_batch_tokens =
      0.0;              ///< of data.batch_tokens, when that is more than was measured
  double memory = 0.0;  ///< peak_memory, scaled to data.batch_tokens
  int64_t updates_measured = 0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("real_data", self.real_data, "false: the text is missing; pairs of 10 to 40 tokens");
    visit("parameters", self.parameters, "trained");
    visit("flops_per_update", self.flops_per_update, "of the matrix products, closed form");
    visit("tokens_per_update", self.tokens_per_update, "target tokens");
    visit("flops_per_second", self.flops_per_second, "measured");
    visit("tokens_per_second", self.tokens_per_second, "target tokens, measured");
    visit("seconds_per_update", self.seconds_per_update, "from the measured rate");
    visit("measured_batch_tokens", self.measured_batch_tokens, "limit of the batches measured");
    visit("memory", self.memory, "bytes, scaled to the experiment's batches");
    visit("updates_measured", self.updates_measured, "after the first, which is not counted");
  }
};

}  // namespace attn
