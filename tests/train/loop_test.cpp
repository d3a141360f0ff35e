// What the training loop does at each step, when it ends, and what it measures.
#include "train/loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/temporary_directory.h"

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
    callbacks.evaluated = [this] { note("evaluated"); };
    callbacks.mark_best = [this] { note("best"); };
    callbacks.stop_requested = [this] { return step() == stop_at; };
  }

  int64_t step() const { return task.trainer.state.step; }
  void note(const std::string& what) { events.push_back(what + " " + std::to_string(step())); }

  /// An evaluator that returns these values in order; lower is better. The first one with a
  /// schedule selects the best checkpoint.
  void add(const std::string& name, int64_t every, std::vector<double> values) {
    LoopEvaluation one{.every = every, .lower_is_better = true};
    one.selects_best =
        every > 0 && std::ranges::none_of(callbacks.evaluations, &LoopEvaluation::selects_best);
    one.run = [this, name, values, at = size_t{0}]() mutable {
      note(name);
      return std::optional(values.at(at++));
    };
    one.log = [this, name](bool best, double seconds) {
      CHECK(seconds >= 0.0);
      if (best) note(name + " is best");
    };
    callbacks.evaluations.push_back(one);
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

TEST_CASE("a step is logged, saved on schedule, evaluated, and saved and marked as the best") {
  TrainConfig config = training(4);
  config.log_every = 2;
  Recorded recorded(config);
  recorded.add("loss", 2, {3.0, 2.0});
  CHECK(recorded.run() == LoopEnd::finished);
  CHECK(recorded.events == Events{"log 2", "loss 2", "loss is best 2", "save 2", "best 2", "log 4",
                                  "save 4", "loss 4", "loss is best 4", "best 4", "evaluated 4"});
  CHECK(recorded.task.trainer.state.best == 2.0);
  CHECK(recorded.task.trainer.state.best_step == 4);
}

TEST_CASE("all evaluate at the last step, whatever their schedules, and one selects the best") {
  Recorded recorded(training(3));
  recorded.add("end", 0, {1.0});
  recorded.add("first", 2, {5.0, 6.0});
  recorded.add("second", 2, {5.0, 4.0});
  CHECK(recorded.run() == LoopEnd::finished);
  CHECK(recorded.events == Events{"first 2", "first is best 2", "second 2", "save 2", "best 2",
                                  "log 3", "save 3", "end 3", "first 3", "second 3",
                                  "evaluated 3"});
}

TEST_CASE("checkpoints are saved by steps and by time; without an evaluator none is the best") {
  TrainConfig config = training(3);
  config.checkpoint_every = 2;
  Recorded by_steps(config);
  by_steps.run();
  CHECK(by_steps.events == Events{"save 2", "log 3", "save 3"});
  config.checkpoint_minutes = 1e-9;
  Recorded by_time(config);
  by_time.run();
  CHECK(by_time.events == Events{"save 1", "save 2", "log 3", "save 3"});
}

TEST_CASE("out of patience, training saves and ends") {
  TrainConfig config = training(100);
  config.patience = 2;
  Recorded recorded(config);
  recorded.add("bleu", 0, {});  // scored when the result is written
  recorded.add("loss", 1, {1.0, 2.0, 2.0});
  CHECK(recorded.run() == LoopEnd::finished);
  CHECK(recorded.events ==
        Events{"loss 1", "loss is best 1", "save 1", "best 1", "loss 2", "loss 3", "save 3"});
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

TEST_CASE("a stop does not evaluate any more; the evaluation is made by a resumed training") {
  Recorded recorded(training(4));
  recorded.add("loss", 2, {5.0, 6.0});
  recorded.stop_at = 2;
  CHECK(recorded.run() == LoopEnd::interrupted);
  CHECK(recorded.events == Events{"save 2"});
  CHECK(recorded.task.trainer.state.evaluation_pending == 1);
  recorded.stop_at = 4;
  CHECK(recorded.run() == LoopEnd::interrupted);
  CHECK(recorded.events ==
        Events{"save 2", "loss 2", "loss is best 2", "best 2", "evaluated 2", "log 4", "save 4"});
  recorded.stop_at = -1;
  CHECK(recorded.run() == LoopEnd::finished);
  CHECK(recorded.task.trainer.state.without_better == 1);
}

TEST_CASE("a stop during an evaluation saves, and none of the step's evaluations counts") {
  Recorded recorded(training(4));
  recorded.add("loss", 2, {5.0, 4.0, 6.0});
  bool stop = true;
  recorded.callbacks.evaluations.push_back(
      {.every = 2,
       .run = [&] { return stop ? std::nullopt : std::optional(1.0); },
       .log = [](bool, double) {}});
  CHECK(recorded.run() == LoopEnd::interrupted);
  CHECK(recorded.events == Events{"loss 2", "loss is best 2", "save 2"});
  CHECK(recorded.task.trainer.state.best_step == 0);
  stop = false;
  CHECK(recorded.run() == LoopEnd::finished);
  CHECK(recorded.task.trainer.state.best == 4.0);
  CHECK(recorded.task.trainer.state.best_step == 2);
}

TEST_CASE("the first number is the best, later ones must be better; NaN and infinity never are") {
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
  record(NAN, false);
  record(INFINITY, false);
  record(100.0, true);
  record(100.0, false);
  record(101.0, false);
  record(NAN, false);
  record(99.0, true);
  CHECK(state.best == sign * 99.0);
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

namespace {

struct Killed {};

// A run directory, and one process after another that trains in it.
class KilledRun {
 public:
  explicit KilledRun(const TrainConfig& config) : config_(config) {}

  // Trains to the end, or until the process is killed before or after what its `kill`th action
  // does; -1: never.
  void process(int kill, bool after) {
    Recorded run(config_);
    Trainer& trainer = run.task.trainer;
    if (saved_) {
      run.task.load(directory_.path());
      if (trainer.state.evaluation_pending != 0 && std::filesystem::exists(evaluation_)) {
        load_evaluation(evaluation_, trainer.state);
      }
      if (trainer.state.best_step == trainer.state.step) best = trainer.state.step;
    }
    while (!log.empty() && (log.back().step > trainer.state.step ||
                            (log.back().step == trainer.state.step && log.back().evaluation &&
                             trainer.state.evaluation_pending != 0))) {
      log.pop_back();
    }
    int actions = 0;
    const auto act = [&](const std::function<void()>& work) {
      if (actions == kill && !after) throw Killed();
      work();
      if (actions++ == kill) throw Killed();
    };
    run.callbacks.log = [&](const TrainingInterval& interval) {
      act([&] { log.push_back({interval.step, false, interval.loss}); });
    };
    run.callbacks.save = [&] {
      act([&] {
        std::filesystem::remove(evaluation_);
        run.task.save(directory_.path());
        saved_ = true;
      });
    };
    run.callbacks.evaluated = [&] { act([&] { save_evaluation(evaluation_, trainer.state); }); };
    run.callbacks.mark_best = [&] { act([&] { best = trainer.state.step; }); };
    for (const int64_t every : {2, 3, 0}) {
      run.callbacks.evaluations.push_back(
          {.every = every,
           .selects_best = every == 2,
           .lower_is_better = true,
           .run = [&] { return std::optional(value(run.step())); },
           .log =
               [&](bool, double) {
                 act([&] { log.push_back({run.step(), true, value(run.step())}); });
               }});
    }
    try {
      run.run();
      ended = true;
    } catch (const Killed&) {
    }
    end_weights = run.task.weights();
    end = trainer.state;
  }

  struct Record {
    int64_t step = 0;
    bool evaluation = false;
    double value = 0.0;
    bool operator==(const Record&) const = default;
  };
  std::vector<Record> log;
  int64_t best = 0;
  bool ended = false;
  TrainState end;
  torch::Tensor end_weights;

 private:
  static double value(int64_t step) { return std::abs(static_cast<double>(step) - 4.1); }

  TrainConfig config_;
  testing::TemporaryDirectory directory_;
  std::filesystem::path evaluation_ = directory_ / "evaluation";
  bool saved_ = false;
};

}  // namespace

TEST_CASE("killed at any action, a resumed training ends like an undisturbed one") {
  TrainConfig config = training(9);
  config.checkpoint_every = 3;
  config.log_every = 4;
  config.patience = GENERATE(0, 2);
  KilledRun whole(config);
  whole.process(-1, false);
  CHECK(whole.ended);
  CHECK(whole.best == 4);
  CHECK(whole.end.step == (config.patience > 0 ? 8 : 9));
  for (int kill = 0;; ++kill) {
    for (const bool after : {false, true}) {
      KilledRun killed(config);
      killed.process(kill, after);
      if (killed.ended) return;  // all actions have been
      killed.process(-1, false);
      CAPTURE(config.patience, kill, after);
      CHECK((killed.log == whole.log));
      CHECK(killed.best == whole.best);
      CHECK(killed.end.best == whole.end.best);
      CHECK(killed.end.best_step == whole.end.best_step);
      CHECK(killed.end.without_better == whole.end.without_better);
      CHECK(killed.end.evaluation_pending == 0);
      CHECK(torch::equal(killed.end_weights, whole.end_weights));
    }
  }
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
             return std::optional(static_cast<double>(-++pauses));
           },
       .log = [](bool, double seconds) { CHECK(seconds >= 0.05); }});
  recorded.callbacks.save = [&] {
    saved = recorded.task.trainer.state.seconds;
    pause();
    ++pauses;
  };
  recorded.callbacks.evaluated = recorded.callbacks.mark_best = [] {};
  const auto begin = Clock::now();
  recorded.run();
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  CHECK(pauses == 4);  // the last one after the checkpoint's time was taken
  CHECK(saved > 1000.0);
  CHECK(saved - 1000.0 <= elapsed - 4 * 0.05);
}
