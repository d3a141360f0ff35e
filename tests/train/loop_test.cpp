#include "train/loop.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/copying_task.h"

using namespace attn;
using attn::testing::copying_training;
using attn::testing::CopyingTask;

namespace {

using Events = std::vector<std::string>;

/// A training run that records each callback and step of the loop, as "log 2".
struct Recorded {
  TrainConfig config;
  CopyingTask task;
  LoopCallbacks callbacks;
  Events events;
  int64_t stop_at = -1;

  explicit Recorded(const TrainConfig& train) : config(train), task(train) {
    callbacks.stepped = [](const Throughput&) {};
    callbacks.log = [this](const TrainingInterval& interval) {
      CHECK(interval.step == step());
      note("log");
    };
    callbacks.save = [this] { note("save"); };
    callbacks.mark_best = [this] { note("best"); };
    callbacks.stop_requested = [this] { return step() == stop_at; };
  }

  int64_t step() const { return task.trainer.state.step; }
  void note(const std::string& what) { events.push_back(what + " " + std::to_string(step())); }

  /// An evaluator that returns these values in order; lower is better. The first one with a
  /// schedule selects the best checkpoint.
  void add(const std::string& name, int64_t every, std::vector<double> values) {
    const auto& all = callbacks.evaluations;
    const bool first = std::none_of(all.begin(), all.end(),
                                    [](const LoopEvaluation& one) { return one.selects_best; });
    callbacks.evaluations.push_back({.every = every,
                                     .selects_best = every > 0 && first,
                                     .lower_is_better = true,
                                     .run =
                                         [this, name, values, at = size_t{0}]() mutable {
                                           note(name);
                                           return values.at(at++);
                                         },
                                     .log =
                                         [this, name](bool best, double seconds) {
                                           CHECK(seconds >= 0.0);
                                           if (best) note(name + " is best");
                                         }});
  }
  LoopEnd run() { return train_loop(task.trainer, config, callbacks); }
};

TrainConfig training(int64_t steps) {
  TrainConfig config = copying_training();
  config.steps = steps;
  config.log_every = config.checkpoint_every = 1000;
  return config;
}

}  // namespace

TEST_CASE("a step is logged, evaluated, saved and marked as the best, in this order") {
  TrainConfig config = training(4);
  config.log_every = 2;
  Recorded recorded(config);
  recorded.add("loss", 2, {3.0, 2.0});
  CHECK(recorded.run() == LoopEnd::finished);
  CHECK(recorded.events == Events{"log 2", "loss 2", "loss is best 2", "save 2", "best 2", "log 4",
                                  "loss 4", "loss is best 4", "save 4", "best 4"});
  CHECK(recorded.task.trainer.state.best == 2.0);
  CHECK(recorded.task.trainer.state.best_step == 4);
}

TEST_CASE("the last step is logged, saved and evaluated by all, whatever their schedules") {
  TrainConfig config = training(3);
  Recorded recorded(config);
  recorded.add("bleu", 0, {1.0});
  recorded.add("loss", 2, {3.0, 4.0});
  CHECK(recorded.run() == LoopEnd::finished);
  CHECK(recorded.events == Events{"loss 2", "loss is best 2", "save 2", "best 2", "log 3", "bleu 3",
                                  "loss 3", "save 3"});
}

TEST_CASE("only the evaluator that is to select the best checkpoint does") {
  Recorded recorded(training(2));
  recorded.add("end", 0, {1.0});
  recorded.add("first", 1, {5.0, 6.0});
  recorded.add("second", 1, {5.0, 4.0});
  recorded.run();
  CHECK(recorded.events == Events{"first 1", "first is best 1", "second 1", "save 1", "best 1",
                                  "log 2", "end 2", "first 2", "second 2", "save 2"});
  CHECK(recorded.task.trainer.state.without_better == 1);
}

TEST_CASE("checkpoints are saved by steps; without an evaluator none is the best") {
  TrainConfig config = training(5);
  config.checkpoint_every = 2;
  Recorded recorded(config);
  recorded.run();
  CHECK(recorded.events == Events{"save 2", "save 4", "log 5", "save 5"});
}

TEST_CASE("out of patience, training ends after the evaluators that were not due") {
  TrainConfig config = training(100);
  config.patience = 2;
  Recorded recorded(config);
  recorded.add("bleu", 0, {1.0});
  recorded.add("loss", 1, {1.0, 2.0, 2.0});
  CHECK(recorded.run() == LoopEnd::finished);
  CHECK(recorded.events == Events{"loss 1", "loss is best 1", "save 1", "best 1", "loss 2",
                                  "loss 3", "bleu 3", "log 3", "save 3"});
  SECTION("and does not go on when it is called again") {
    recorded.events.clear();
    CHECK(recorded.run() == LoopEnd::finished);
    CHECK(recorded.events.empty());
  }
}

TEST_CASE("a requested stop saves and ends as interrupted, but at the last step as finished") {
  Recorded recorded(training(4));
  recorded.stop_at = 2;
  CHECK(recorded.run() == LoopEnd::interrupted);
  CHECK(recorded.events == Events{"save 2"});
  recorded.stop_at = 4;
  CHECK(recorded.run() == LoopEnd::finished);
  CHECK(recorded.events == Events{"save 2", "log 4", "save 4"});
}

TEST_CASE("a resumed training follows the schedule of an uninterrupted one") {
  TrainConfig config = training(7);
  config.log_every = config.checkpoint_every = 3;
  Recorded whole(config), parts(config);
  whole.add("loss", 2, {9.0, 8.0, 9.0, 9.0});
  parts.add("loss", 2, {9.0, 8.0, 9.0, 9.0});
  whole.run();
  parts.stop_at = 5;
  CHECK(parts.run() == LoopEnd::interrupted);
  CHECK(parts.events.back() == "save 5");
  parts.events.pop_back();
  parts.stop_at = -1;
  CHECK(parts.run() == LoopEnd::finished);
  CHECK(parts.events == whole.events);
  CHECK(torch::equal(parts.task.weights(), whole.task.weights()));
}

TEST_CASE("checkpoint_minutes adds checkpoints between scheduled steps") {
  TrainConfig config = training(3);
  config.checkpoint_minutes = 1e-9;
  Recorded recorded(config);
  recorded.run();
  CHECK(recorded.events == Events{"save 1", "save 2", "log 3", "save 3"});
}

TEST_CASE("a checkpoint has the seconds of training, without evaluating and saving") {
  using Clock = std::chrono::steady_clock;
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  Recorded recorded(training(2));
  recorded.task.trainer.state.seconds = 1000.0;
  double saved = 0.0;
  int64_t pauses = 0;
  recorded.callbacks.evaluations.push_back(
      {.every = 1,
       .selects_best = true,
       .lower_is_better = true,
       .run =
           [&] {
             pause();
             return static_cast<double>(-++pauses);
           },
       .log = [](bool, double seconds) { CHECK(seconds >= 0.05); }});
  recorded.callbacks.save = [&] {
    saved = recorded.task.trainer.state.seconds;
    pause();
    ++pauses;
  };
  recorded.callbacks.mark_best = [] {};
  const auto begin = Clock::now();
  recorded.run();
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  CHECK(pauses == 4);  // the last one after the checkpoint's time was taken
  CHECK(saved > 1000.0);
  CHECK(saved - 1000.0 <= elapsed - 4 * 0.05);
}
