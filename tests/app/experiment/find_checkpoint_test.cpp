#include "app/experiment/find_checkpoint.h"

#include <fstream>

#include "app/experiment/run_directory.h"
#include "base/error.h"
#include "base/file.h"
#include "base/safetensors.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "train/checkpoint_store.h"

using namespace attn;
using attn::testing::contains;

namespace fs = std::filesystem;

namespace {

void fill(const fs::path& path) {
  fs::create_directories(path);
  const std::vector<float> values(2, 1.0F);
  const std::vector<TensorView> views = {{"w", "F32", {2}, std::as_bytes(std::span(values))}};
  write_safetensors(path / "model.safetensors", views);
  write_file_atomically(path / "config.json", "{}");
}

std::string message(const fs::path& path) {
  try {
    return "found " + find_checkpoint(path).string();
  } catch (const UserError& error) {
    return error.what();
  }
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
    CHECK_THAT(message(path), contains(run.step(300).string()) && !contains("found"));
  }
}

TEST_CASE("an error for a missing checkpoint names their directory") {
  const Run run;
  const std::string has = "its checkpoints are in " + run.run.checkpoints().string();
  CHECK_THAT(message(run.at("150")), contains("no checkpoint at this step") && contains(has));
  CHECK_THAT(message(run.at("average")), contains("attn average") && contains(has));
  CHECK_THAT(message(run.at("bets")), contains("not best, last, average or a step"));
  CHECK_THAT(message(run.at("")), contains("not best, last, average or a step"));
  CHECK_THAT(message(run.at("-1")), contains("not best, last, average or a step"));
  CHECK_THAT(message(run.step(100).string() + "@best"), contains("is a checkpoint, not a run"));
  fs::remove_all(run.step(200));
  CHECK_THAT(message(run.at("best")), contains("no checkpoint is marked as the best"));
  const fs::path none = run.folder.path() / "none";
  fs::create_directories(none);
  CHECK_THAT(message(none.string() + "@last"), contains("@last: no checkpoint"));
  CHECK_THAT(message(run.folder.path() / "nowhere@best"), contains("no such run or checkpoint"));
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
