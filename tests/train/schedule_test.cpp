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

TEST_CASE("the paper's schedule rises linearly to its peak at the warm-up and then decays") {
  const TrainConfig config;
  const double peak = std::pow(512.0, -0.5) * std::pow(4000.0, -0.5);
  CHECK(learning_rate(config, 512, 4000) == Approx(peak).epsilon(1e-12));
  CHECK(learning_rate(config, 512, 1000) == Approx(peak / 4).epsilon(1e-12));
  CHECK(learning_rate(config, 512, 16000) == Approx(peak / 2).epsilon(1e-12));
  CHECK(learning_rate(config, 512, 1) == Approx(1.7469281074e-07).epsilon(1e-9));
}

TEST_CASE("the inverse square root reaches the stated peak and halves at four times the warm-up") {
  TrainConfig config;
  config.schedule = Schedule::inverse_sqrt;
  config.learning_rate = 0.005;
  config.warmup = 2000;
  CHECK(learning_rate(config, 128, 2000) == Approx(0.005));
  CHECK(learning_rate(config, 128, 500) == Approx(0.00125));
  CHECK(learning_rate(config, 128, 8000) == Approx(0.0025));
  for (int64_t step = 2; step < 5000; ++step) {
    CHECK(learning_rate(config, 128, step) <= 0.005);
  }
}

TEST_CASE("a constant rate holds after the warm-up, and the scale multiplies every schedule") {
  TrainConfig config;
  config.schedule = Schedule::constant;
  config.warmup = 10;
  CHECK(learning_rate(config, 128, 5) == Approx(0.0005));
  CHECK(learning_rate(config, 128, 5000) == Approx(0.001));
  config.learning_rate_scale = 2;
  CHECK(learning_rate(config, 128, 5000) == Approx(0.002));
  config.warmup = 0;
  CHECK(learning_rate(config, 128, 1) == Approx(0.002));
}

TEST_CASE("a schedule of points is linear between them and constant outside") {
  TrainConfig config;
  config.schedule = Schedule::points;
  config.points = {{10, 0.0}, {20, 0.004}, {100, 0.004}, {200, 0.001}};
  config.learning_rate_scale = 2;
  for (const auto& [step, rate] : {std::pair{1, 0.0},
                                   {10, 0.0},
                                   {15, 0.002},
                                   {20, 0.004},
                                   {60, 0.004},
                                   {150, 0.0025},
                                   {200, 0.001},
                                   {5000, 0.001}}) {
    CHECK(learning_rate(config, 128, step) == Approx(2 * rate));
  }
  CHECK_NOTHROW(config.validate());
  for (const std::vector<std::vector<double>>& wrong :
       std::vector<std::vector<std::vector<double>>>{
           {}, {{0, 0}}, {{0, 1}, {0, 2}}, {{5, 1}, {4, 2}}, {{1, 2, 3}}, {{1}}, {{0, -1}}}) {
    config.points = wrong;
    CHECK_THROWS_WITH(config.validate(), testing::contains("points"));
  }
}

TEST_CASE("a cosine that ends during its warm-up rises and does not decay") {
  TrainConfig config;
  config.schedule = Schedule::cosine;
  config.steps = 50;
  config.warmup = 100;
  config.learning_rate = 0.01;
  for (int64_t step = 1; step <= config.steps; ++step) {
    CHECK(learning_rate(config, 128, step) == Approx(0.0001 * static_cast<double>(step)));
  }
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
  const auto invalid = [](auto change) {
    TrainConfig config;
    change(config);
    config.validate();
  };
  using Config = TrainConfig;
  CHECK_THROWS_WITH(invalid([](Config& c) { c.warmup = 0; }), testing::contains("warmup: 0"));
  CHECK_THROWS_WITH(invalid([](Config& c) { c.label_smoothing = 1.5; }),
                    testing::contains("label_smoothing: 1.5"));
  CHECK_NOTHROW(invalid([](Config& c) { c.accumulate = kMaxAccumulated; }));
  CHECK_THROWS_WITH(invalid([](Config& c) { c.accumulate = kMaxAccumulated + 1; }),
                    testing::contains("accumulate: 16777217"));
  CHECK_THROWS_WITH(invalid([](Config& c) { c.schedule = Schedule::wsd, c.decay_share = 1.5; }),
                    testing::contains("decay_share: 1.5"));
  CHECK_THROWS_WITH(invalid([](Config& c) {
                      c.optimizer.kind = OptimizerKind::muon, c.optimizer.muon.momentum = 1.0;
                    }),
                    testing::contains("momentum: 1"));
  CHECK_THROWS_WITH(invalid([](Config& c) {
                      c.optimizer.kind = OptimizerKind::lion, c.optimizer.lion.beta2 = -1;
                    }),
                    testing::contains("beta2: -1"));
  CHECK_THROWS_WITH(invalid([](Config& c) { c.residual_precision = Precision::bf16; }),
                    testing::contains("residual_precision: bf16: requires train.precision=bf16"));
  CHECK_THROWS_WITH(invalid([](Config& c) { c.ema = 0.99, c.average_last = 5; }),
                    testing::contains("average_last: 5: must be 0"));
}

// As an argument: a lower value is better.
constexpr bool kLower = true;

TEST_CASE("the first value is the best, whatever it is; later ones must be better") {
  const bool lower = GENERATE(true, false);
  const double sign = lower ? 1.0 : -1.0;
  TrainState state;
  state.step = 10;
  CHECK(record_validation(state, sign * 100.0, lower));
  CHECK(state.best == sign * 100.0);
  CHECK(state.best_step == 10);
  state.step = 20;
  CHECK_FALSE(record_validation(state, sign * 100.0, lower));
  CHECK_FALSE(record_validation(state, sign * 101.0, lower));
  CHECK(state.without_better == 2);
  state.step = 30;
  CHECK(record_validation(state, sign * 99.0, lower));
  CHECK(state.best_step == 30);
  CHECK(state.without_better == 0);
}

TEST_CASE(
    "a result after the last update, not on schedule, can be the best but costs no patience") {
  TrainState state;
  state.step = 10;
  record_validation(state, 5.0, kLower);
  state.step = 12;
  CHECK_FALSE(record_validation(state, 6.0, kLower, /*scheduled=*/false));
  CHECK(state.without_better == 0);
  CHECK(record_validation(state, 4.0, kLower, /*scheduled=*/false));
  CHECK(state.best_step == 12);
}

TEST_CASE("NaN is worse than any number, also as the first value") {
  for (const bool lower : {true, false}) {
    TrainState state;
    state.step = 10;
    CHECK(record_validation(state, NAN, lower));
    state.step = 20;
    CHECK_FALSE(record_validation(state, NAN, lower));
    CHECK(state.without_better == 1);
    state.step = 30;
    CHECK(record_validation(state, 5.0, lower));
    CHECK(state.best_step == 30);
    state.step = 40;
    CHECK_FALSE(record_validation(state, NAN, lower));
    CHECK(state.best == 5.0);
  }
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
