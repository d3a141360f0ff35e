// The course of a training: learning rates, its end, and what is logged.
#include "train/config.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"
#include "train/loop.h"
#include "train/throughput.h"

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
  config.schedule = Schedule::cosine;  // ends during its warm-up
  config.steps = 50;
  config.warmup = 100;
  check(config, {{1, 0.00005}, {25, 0.00125}, {50, 0.0025}});
  config.schedule = Schedule::points;  // linear between them and constant outside
  config.points = {{10, 0.0}, {20, 0.004}, {100, 0.004}, {200, 0.001}};
  check(config, {{1, 0.0},
                 {10, 0.0},
                 {15, 0.002},
                 {20, 0.004},
                 {60, 0.004},
                 {150, 0.0025},
                 {200, 0.001},
                 {5000, 0.001}});
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
      {[](Config& c) { c.accumulate = kMaxAccumulated + 1; }, "accumulate: 16777217"},
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
  const std::vector<std::vector<std::vector<double>>> wrong_points = {
      {}, {{0, 0}}, {{0, 1}, {0, 2}}, {{5, 1}, {4, 2}}, {{1, 2, 3}}, {{1}}, {{0, -1}}};
  for (const auto& points : wrong_points) {
    Config config;
    config.schedule = Schedule::points;
    config.points = points;
    CHECK_THROWS_WITH(config.validate(), testing::contains("points"));
  }
}

TEST_CASE("the first value is the best, later ones must be better, and NaN is worse than any") {
  const bool lower = GENERATE(true, false), scheduled = GENERATE(true, false);
  const double sign = lower ? 1.0 : -1.0;
  TrainState state;
  int64_t best = 0, without_better = 0;
  const auto record = [&](double value, bool better) {
    state.step += 10;
    CAPTURE(value);
    CHECK(record_validation(state, sign * value, lower, scheduled) == better);
    if (better) best = state.step;
    // A result after the last update, not on schedule, costs no patience.
    without_better = better ? 0 : without_better + (scheduled ? 1 : 0);
    CHECK(state.best_step == best);
    CHECK(state.without_better == without_better);
  };
  record(NAN, true);
  record(NAN, false);
  record(100.0, true);
  record(100.0, false);
  record(101.0, false);
  record(NAN, false);
  record(99.0, true);
  CHECK(state.best == sign * 99.0);
}

TEST_CASE("training ends at its last step, or after as many validations as its patience") {
  TrainConfig config;
  config.steps = 100;
  TrainState state;
  state.step = 99;
  state.without_better = 1000;
  CHECK_FALSE(is_finished(state, config));
  config.patience = 1001;
  CHECK_FALSE(is_finished(state, config));
  config.patience = 1000;
  CHECK(is_finished(state, config));
  config.patience = 0;
  state.step = 100;
  CHECK(is_finished(state, config));
}

namespace {

StepReport report(int64_t step, double loss, int64_t target_tokens) {
  StepReport made;
  made.step = step;
  made.loss = loss;
  made.nll = loss / 2;
  made.learning_rate = 0.1 * static_cast<double>(step);
  made.target_tokens = target_tokens;
  return made;
}

}  // namespace

TEST_CASE("means are over target tokens, and restart with every log line") {
  Throughput throughput({}, 10);
  throughput.add(report(1, 4.0, 30));
  throughput.add(report(2, 2.0, 10));
  const TrainingInterval first = throughput.take_interval();
  CHECK(first.step == 2);
  CHECK(first.loss == Approx(3.5));
  CHECK(first.perplexity == Approx(std::exp(1.75)));
  CHECK(first.learning_rate == 0.2);
  throughput.add(report(3, 1.0, 5));
  CHECK(throughput.interval().loss == Approx(1.0));
  CHECK(throughput.interval().step == 3);
}

TEST_CASE("seconds continue from an earlier process and omit excluded time") {
  TrainState begun;
  begun.step = 5;
  begun.seconds = 1000.0;
  Throughput throughput(begun, 10);
  CHECK(throughput.seconds() >= 1000.0);
  throughput.exclude(500.0);
  CHECK(throughput.seconds() < 1000.0);
  throughput.add(report(6, 1.0, 5));
  CHECK(throughput.interval().seconds < 1000.0);
}
