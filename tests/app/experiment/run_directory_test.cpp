// A run: its directory, results, checkpoints and progress.
#include "app/experiment/run_directory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "app/experiment/progress_line.h"
#include "app/experiment/run_result.h"
#include "base/error.h"
#include "base/file.h"
#include "base/safetensors.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "train/checkpoint_store.h"

using namespace attn;
namespace fs = std::filesystem;
using testing::contains;

TEST_CASE("the run of a checkpoint, of an average and of a run itself is the run") {
  const RunDirectory run("runs/a");
  CHECK(RunDirectory::of_checkpoint(checkpoint_path(run.checkpoints(), 500)).path() == run.path());
  CHECK(RunDirectory::of_checkpoint(run.averaged()).path() == run.path());
  CHECK(RunDirectory::of_checkpoint(run.path()).path() == run.path());
  CHECK(RunDirectory::of_checkpoint(run.averaged() / "").path() == run.path());
}

TEST_CASE("a trailing slash does not change a run") {
  CHECK(RunDirectory("runs/a/").path() == fs::path("runs/a"));
  CHECK(RunDirectory("/").path() == fs::path("/"));
  CHECK(RunDirectory("").path().empty());
  const testing::TemporaryDirectory directory;
  const fs::path run = directory.path() / "row" / "seed-1";
  fs::create_directories(run);
  log_failure(directory.path() / "row" / "seed-1.log", "ended by signal 9");
  CHECK(failure_of(run) == "ended by signal 9");
  CHECK(failure_of(run / "") == "ended by signal 9");
}

TEST_CASE("a config alone is a run that has not trained; a checkpoint or a result has") {
  const testing::TemporaryDirectory directory;
  const RunDirectory run(directory.path());
  CHECK_FALSE(run.has_run());
  write_file_atomically(run.config(), "{}");
  CHECK(run.has_run());
  CHECK_FALSE(run.has_trained());
  SECTION("a checkpoint") {
    fs::create_directories(checkpoint_path(run.checkpoints(), 20));
  }
  SECTION("a result") {
    write_file_atomically(run.result(), "{}");
  }
  CHECK(run.has_trained());
}

TEST_CASE("a run has one holder, which the error names") {
  const testing::TemporaryDirectory folder;
  {
    const RunLock lock(folder / "run");
    CHECK_THROWS_WITH(RunLock(folder / "run"),
                      testing::contains("another process is training this run (process " +
                                        std::to_string(::getpid()) + " on "));
    CHECK_THROWS_WITH(RunLock(folder / "run", 0.3),
                      testing::contains("another process is training"));
  }
  CHECK_NOTHROW(RunLock(folder / "run"));
}

TEST_CASE("a lock of a process that was killed, or of another boot, is free at once") {
  const testing::TemporaryDirectory folder;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const RunLock lock(folder.path());
    ::_exit(0);  // without its destructor
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(std::filesystem::exists(folder / "lock"));
  CHECK_NOTHROW(RunLock(folder.path()));
  std::ofstream(folder / "lock") << "process 1 on another machine, before its reboot";
  CHECK_NOTHROW(RunLock(folder.path()));
}

TEST_CASE("a result is read back as it was written") {
  const testing::TemporaryDirectory run;
  CHECK_FALSE(read_result(run.path()).has_value());
  RunResult result{.step = 7, .parameters = 1 << 20, .seconds = 2.5, .peak_memory = 12};
  result.results["valid"] = {
      .values = {{"ppl", 3.25}}, .signature = "s", .output = "eval/valid-7.txt", .text = "hash"};
  write_result(run.path(), result);
  CHECK(read_result(run.path()) == result);
}

TEST_CASE("an invalid result names its file and the remedy") {
  const testing::TemporaryDirectory run;
  run.write("result.json", R"({"step": "seven"})");
  CHECK_THROWS_AS(read_result(run.path()), DataError);
  CHECK_THROWS_WITH(read_result(run.path()), contains("result.json") && contains("delete it"));
}

TEST_CASE("a run has finished when it made its steps, or stopped by its patience") {
  const testing::TemporaryDirectory run;
  write_result(run.path(), {.step = 100});
  CHECK(finished_result(run.path(), {.steps = 100}).has_value());
  CHECK_FALSE(finished_result(run.path(), {.steps = 200}).has_value());
  const auto had_steps = [&](const std::string& steps) {
    run.write("config.json", R"({"train": {"patience": 3, "steps": )" + steps +
                                 R"(}, "eval": [{"name": "valid", "kind": "loss", "every": 10}]})");
    return finished_result(run.path(), {.steps = 200, .patience = 3}).has_value();
  };
  CHECK(had_steps("150"));
  CHECK_FALSE(had_steps("100"));  // it was not stopped early and can be extended
}

TEST_CASE("a run was as read if it was so when it started or when it finished") {
  const Json plain = {{"commit", "a"}}, edited = {{"as_read", {"norm", "attention"}}};
  CHECK(as_read(plain, std::nullopt).empty());
  CHECK(as_read(plain, RunResult{}).empty());
  CHECK(as_read(edited, std::nullopt) == "attention, norm");
  CHECK(as_read(edited, RunResult{.as_read = {"softmax", "norm"}}) == "attention, norm, softmax");
}

TEST_CASE("a torn or foreign line of the metrics is passed over") {
  const testing::TemporaryDirectory run;
  CHECK(read_metrics(run.path()).empty());
  run.write("metrics.jsonl", R"({"kind": "train", "step": 1}
nonsense
[1]
{"kind": 3}
{"kind": "eval", "name": 5, "step": 3}
{"kind": "train", "step": "x"}
{"kind": "tr)");
  const auto records = read_metrics(run.path());
  REQUIRE(records.size() == 1);
  CHECK(number_at(records[0], "step") == 1.0);
}

TEST_CASE("an evaluator's result at a step has the finite values of its record") {
  const testing::TemporaryDirectory run;
  run.write("metrics.jsonl",
            R"({"kind": "eval", "name": "test", "step": 10, "bleu": 20, "text": "old"})"
            "\n"
            R"({"kind": "eval", "name": "test", "step": 20, "bleu": 21.5, "ppl": "Infinity",)"
            R"( "eval_seconds": 3, "signature": "sig", "text": "hash"})"
            "\n");
  run.write("eval/test-20.txt", "a\n");
  const auto results = results_at(run.path(), 20);
  REQUIRE(results.size() == 1);
  const EvaluatorResult expected{
      .values = {{"bleu", 21.5}}, .signature = "sig", .output = "eval/test-20.txt", .text = "hash"};
  CHECK(results.at("test") == expected);
}

TEST_CASE("the last record of an evaluator at a step replaces earlier ones") {
  const testing::TemporaryDirectory run;
  run.write(
      "metrics.jsonl",
      R"({"kind": "eval", "name": "test", "step": 10, "bleu": 20, "ppl": 7, "signature": "a"})"
      "\n"
      R"({"kind": "average", "name": "test", "step": 10, "chrf": 50, "ppl": "Infinity"})"
      "\n");
  const EvaluatorResult expected{.values = {{"chrf", 50.0}}};
  CHECK(results_at(run.path(), 10).at("test") == expected);
}

TEST_CASE("a step that training cannot reach is none, nor is a number that is not finite") {
  const auto step = [](const char* record) { return step_of(parse_json(record, "t")); };
  CHECK(step(R"({"step": 4})") == 4);
  for (const char* none : {R"({"step": 0})", R"({"kind": "eval"})", R"({"step": -3})",
                           R"({"step": 18446744073709551615})"}) {
    CHECK(step(none) == 0);
  }
  const Json record = parse_json(R"({"step": 4, "ppl": "Infinity"})", "t");
  CHECK(number_at(record, "step") == 4.0);
  CHECK_FALSE(number_at(record, "ppl").has_value());
  CHECK_FALSE(number_at(record, "bleu").has_value());
}

namespace {

void fill(const fs::path& path) {
  fs::create_directories(path);
  const std::vector<float> values(2, 1.0F);
  const std::vector<TensorView> views = {{"w", "F32", {2}, std::as_bytes(std::span(values))}};
  write_safetensors(path / "model.safetensors", views);
  write_file_atomically(path / "config.json", "{}");
}

// RUN with steps 100, 200 and 300, of which 200 is the best.
struct Run {
  testing::TemporaryDirectory folder;
  fs::path path = folder.path() / "base";
  RunDirectory run{path};

  Run() {
    for (const int64_t step : {100, 200, 300}) fill(checkpoint_path(run.checkpoints(), step));
    write_file_atomically(run.config(), "{}");
    mark_best(run.checkpoints(), 200, 1.5);
  }
  fs::path at(const std::string& which) const { return path.string() + "@" + which; }
  fs::path step(int64_t step) const { return checkpoint_path(run.checkpoints(), step); }
};

}  // namespace

TEST_CASE("a run's checkpoints are selected by @best, @last, @average and @STEP") {
  const Run run;
  CHECK(find_checkpoint(run.at("best")) == run.step(200));
  CHECK(find_checkpoint(run.at("last")) == run.step(300));
  CHECK(find_checkpoint(run.at("100")) == run.step(100));
  CHECK(find_checkpoint(run.path.string() + "/@last") == run.step(300));
  CHECK(find_checkpoint(run.path) == run.step(200));
  fill(run.run.averaged());
  CHECK(find_checkpoint(run.at("average")) == run.run.averaged());
  CHECK(find_checkpoint(run.at("best")) == run.step(200));
  CHECK(find_checkpoint(run.path) == run.run.averaged());
}

TEST_CASE("a damaged last checkpoint is an error") {
  const Run run;
  fs::remove(best_mark(run.run.checkpoints()));
  for (const fs::path& path : {run.path, run.at("last")}) {
    CHECK(find_checkpoint(path) == run.step(300));
  }
  fs::resize_file(run.step(300) / "model.safetensors", 20);
  for (const fs::path& path : {run.path, run.at("last")}) {
    CHECK_THROWS_WITH(find_checkpoint(path), contains(run.step(300).string()));
  }
}

TEST_CASE("an error for a missing checkpoint names their directory") {
  const Run run;
  const std::string has = "its checkpoints are in " + run.run.checkpoints().string();
  CHECK_THROWS_WITH(find_checkpoint(run.at("150")),
                    contains("no checkpoint at this step") && contains(has));
  CHECK_THROWS_WITH(find_checkpoint(run.at("average")), contains("attn average") && contains(has));
  CHECK_THROWS_WITH(find_checkpoint(run.at("bets")), contains("not best, last, average or a step"));
  CHECK_THROWS_WITH(find_checkpoint(run.at("")), contains("not best, last, average or a step"));
  CHECK_THROWS_WITH(find_checkpoint(run.at("-1")), contains("not best, last, average or a step"));
  CHECK_THROWS_WITH(find_checkpoint(run.step(100).string() + "@best"),
                    contains("is a checkpoint, not a run"));
  fs::remove_all(run.step(200));
  CHECK_THROWS_WITH(find_checkpoint(run.at("best")),
                    contains("no checkpoint is marked as the best"));
  const fs::path none = run.folder.path() / "none";
  fs::create_directories(none);
  CHECK_THROWS_WITH(find_checkpoint(none.string() + "@last"), contains("@last: no checkpoint"));
  CHECK_THROWS_WITH(find_checkpoint(run.folder.path() / "nowhere@best"),
                    contains("no such run or checkpoint"));
}

TEST_CASE("a name with '@' is a name where it exists") {
  const Run run;
  const fs::path named = run.at("best");
  fs::rename(run.path, named);
  const RunDirectory renamed(named);
  CHECK(find_checkpoint(named) == checkpoint_path(renamed.checkpoints(), 200));
  CHECK(find_checkpoint(named.string() + "@last") == checkpoint_path(renamed.checkpoints(), 300));
  CHECK(find_checkpoint(checkpoint_path(renamed.checkpoints(), 100)) ==
        checkpoint_path(renamed.checkpoints(), 100));
}

TEST_CASE("progress has a rate, and the time left if the total is known") {
  const auto text = [](int64_t total, int64_t done, double seconds) {
    return progress_text({.what = "translating", .unit = "sentences", .total = total}, done,
                         seconds);
  };
  CHECK(text(400, 100, 50) == "translating  100/400 sentences  2.0/s  2 min 30 s left");
  CHECK(text(0, 1000, 5) == "translating  1000 sentences  200/s");
  CHECK(text(99, 100, 50) == "translating  100 sentences  2.0/s");
  CHECK(text(0, 0, 12) == "translating  12 s");
}
