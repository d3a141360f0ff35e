#include "train/loop.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace attn;

// As an argument: a lower value is better.
constexpr bool kLower = true;

TEST_CASE("the first value is the best, whatever it is; later ones must be better") {
  TrainState state;
  state.step = 10;
  CHECK(record_validation(state, 100.0, kLower));
  CHECK(state.best == 100.0);
  CHECK(state.best_step == 10);
  state.step = 20;
  CHECK_FALSE(record_validation(state, 100.0, kLower));
  CHECK(state.without_better == 1);
  state.step = 30;
  CHECK(record_validation(state, 99.0, kLower));
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

TEST_CASE("of a metric where higher is better, only higher values are the best") {
  TrainState state;
  state.step = 10;
  CHECK(record_validation(state, 20.0, /*lower_is_better=*/false));
  CHECK_FALSE(record_validation(state, 20.0, /*lower_is_better=*/false));
  CHECK_FALSE(record_validation(state, 19.0, /*lower_is_better=*/false));
  CHECK(record_validation(state, 21.0, /*lower_is_better=*/false));
  CHECK(state.best == 21.0);
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
