#include "train/throughput.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace attn;

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
