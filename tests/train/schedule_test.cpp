#include "train/config.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"

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

TEST_CASE("errors of the training config name the option") {
  TrainConfig config;
  config.warmup = 0;
  CHECK_THROWS_WITH(config.validate(), testing::contains("warmup: 0"));
  config = {};
  config.label_smoothing = 1.5;
  CHECK_THROWS_WITH(config.validate(), testing::contains("label_smoothing: 1.5"));
  config = {};
  config.accumulate = kMaxAccumulated;
  CHECK_NOTHROW(config.validate());
  ++config.accumulate;
  CHECK_THROWS_WITH(config.validate(), testing::contains("accumulate: 16777217"));
}

TEST_CASE("half a cosine leads from the peak to the final rate at the last step") {
  TrainConfig config;
  config.schedule = Schedule::cosine;
  config.steps = 1100;
  config.warmup = 100;
  config.learning_rate = 0.01;
  config.final_rate = 0.1;
  CHECK(learning_rate(config, 128, 50) == Approx(0.005));
  CHECK(learning_rate(config, 128, 100) == Approx(0.01));
  CHECK(learning_rate(config, 128, 600) == Approx(0.0055));
  CHECK(learning_rate(config, 128, 350) == Approx(0.001 + 0.009 * (0.5 + std::sqrt(0.125))));
  CHECK(learning_rate(config, 128, 1100) == Approx(0.001));
  CHECK(learning_rate(config, 128, 5000) == Approx(0.001));
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

TEST_CASE("warm-up, stable, decay: constant until the last share, then linear") {
  TrainConfig config;
  config.schedule = Schedule::wsd;
  config.steps = 1000;
  config.warmup = 100;
  config.learning_rate = 0.01;
  config.decay_share = 0.4;
  CHECK(learning_rate(config, 128, 10) == Approx(0.001));
  CHECK(learning_rate(config, 128, 100) == Approx(0.01));
  CHECK(learning_rate(config, 128, 600) == Approx(0.01));
  CHECK(learning_rate(config, 128, 800) == Approx(0.005));
  CHECK(learning_rate(config, 128, 1000) == Approx(0.0).margin(1e-12));
  config.decay_share = 1.5;
  CHECK_THROWS_WITH(config.validate(), testing::contains("decay_share: 1.5"));
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
  }
}

TEST_CASE("invalid options of an optimizer are named, and an average of averages is an error") {
  TrainConfig config;
  config.optimizer.kind = OptimizerKind::muon;
  config.optimizer.muon.momentum = 1.0;
  CHECK_THROWS_WITH(config.validate(), testing::contains("momentum: 1"));
  config = {};
  config.optimizer.kind = OptimizerKind::lion;
  config.optimizer.lion.beta2 = -1;
  CHECK_THROWS_WITH(config.validate(), testing::contains("beta2: -1"));
  config = {};
  config.ema = 0.99;
  config.average_last = 5;
  CHECK_THROWS_WITH(config.validate(), testing::contains("average_last: 5: must be 0"));
}
