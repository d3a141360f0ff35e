// Learning rates, and errors of the config of a training.
#include "train/config.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/golden_json.h"

using namespace attn;

TEST_CASE("learning rates are those of their schedule, times the scale") {
  struct Rate {
    int64_t step;
    double expected;
  };
  const auto check = [](TrainConfig config, const std::vector<Rate>& rates) {
    CAPTURE(enum_name(config.schedule));
    config.validate();
    for (const double scale : {1.0, 2.0}) {
      config.learning_rate_scale = scale;
      for (const auto& [step, expected] : rates) {
        CAPTURE(step);
        CHECK(learning_rate(config, 512, step) == Approx(scale * expected).epsilon(1e-9));
      }
    }
  };
  TrainConfig config;
  const double peak = std::pow(512.0, -0.5) * std::pow(4000.0, -0.5);
  check(config, {{1, 1.7469281074e-07}, {1000, peak / 4}, {4000, peak}, {16000, peak / 2}});
  config.schedule = Schedule::inverse_sqrt;
  config.learning_rate = 0.005;
  config.warmup = 2000;
  check(config, {{500, 0.00125}, {2000, 0.005}, {8000, 0.0025}});
  config.schedule = Schedule::constant;
  config.warmup = 10;
  check(config, {{5, 0.0025}, {10, 0.005}, {5000, 0.005}});
  config.steps = 50;
  config.warmup = 100;
  for (const Schedule schedule : {Schedule::cosine, Schedule::wsd}) {  // end during their warm-up
    config.schedule = schedule;
    check(config, {{1, 0.00005}, {25, 0.00125}, {50, 0.0025}});
  }
  config.steps = 100;  // wsd's warm-up reaches into its decay
  config.warmup = 80, config.decay_share = 0.4;
  check(config, {{40, 0.0025}, {70, 0.004375}, {80, 0.005}, {90, 0.0025}, {100, 0.0}});
  config.schedule = Schedule::constant;
  config.warmup = 0;
  CHECK(learning_rate(config, 128, 1) == 0.005);
}

TEST_CASE("the cosine and warm-up-stable-decay schedules are those of PyTorch's schedulers") {
  const Json golden = testing::golden_json("train/data/training.json");
  TrainConfig config;
  config.steps = golden.at("steps").get<int64_t>();
  config.warmup = golden.at("warmup").get<int64_t>();
  config.learning_rate = golden.at("rate").get<double>();
  config.final_rate = golden.at("final_rate").get<double>();
  config.decay_share = golden.at("decay_share").get<double>();
  for (const Schedule schedule : {Schedule::cosine, Schedule::wsd}) {
    config.schedule = schedule;
    CAPTURE(enum_name(schedule));
    const auto rates = golden.at(std::string(enum_name(schedule))).get<std::vector<double>>();
    REQUIRE(static_cast<int64_t>(rates.size()) == config.steps);
    for (int64_t step = 1; step <= config.steps; ++step) {
      CHECK(learning_rate(config, 128, step) ==
            Approx(rates[static_cast<size_t>(step - 1)]).epsilon(1e-9));
    }
    CHECK(learning_rate(config, 128, config.steps + 1000) == Approx(rates.back()).margin(1e-12));
  }
}

TEST_CASE("errors of the training config name the option") {
  using Config = TrainConfig;
  CHECK_NOTHROW(Config{.accumulate = kMaxAccumulated}.validate());
  const std::vector<std::pair<void (*)(Config&), std::string>> mistakes = {
      {[](Config& c) { c.warmup = 0; }, "warmup: 0"},
      {[](Config& c) { c.label_smoothing = 1.5; }, "label_smoothing: 1.5"},
      {[](Config& c) { c.accumulate = kMaxAccumulated + 1; }, "accumulate: 4097"},
      {[](Config& c) { c.schedule = Schedule::wsd, c.decay_share = 1.5; }, "decay_share: 1.5"},
      {[](Config& c) { c.optimizer.kind = OptimizerKind::muon, c.optimizer.muon.momentum = 1.0; },
       "momentum: 1"},
      {[](Config& c) { c.optimizer.kind = OptimizerKind::lion, c.optimizer.lion.beta2 = -1; },
       "beta2: -1"},
      {[](Config& c) { c.residual_precision = Precision::bf16; },
       "residual_precision: bf16: requires train.precision=bf16"},
      {[](Config& c) { c.ema = 0.99, c.average_last = 5; }, "average_last: 5: must be 0"},
  };
  for (const auto& [change, message] : mistakes) {
    Config config;
    change(config);
    CHECK_THROWS_WITH(config.validate(), testing::contains(message));
  }
}
