#include "train/checkpoint_store.h"

#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/safetensors.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using testing::contains;
using testing::TemporaryDirectory;
using testing::write_text;

void fill_checkpoint(const fs::path& path) {
  fs::create_directories(path);
  const std::vector<float> values(6, 1.5F);
  const std::vector<TensorView> views = {{"w", "F32", {6}, std::as_bytes(std::span(values))}};
  write_safetensors(path / "model.safetensors", views);
  write_safetensors(path / "optimizer.safetensors", views);
  write_text(path / "config.json", "{}");
}

void make_checkpoints(const fs::path& folder, std::initializer_list<int64_t> steps) {
  for (const int64_t step : steps) fill_checkpoint(checkpoint_path(folder, step));
}

std::vector<int64_t> steps_in(const fs::path& folder) {
  std::vector<int64_t> steps;
  for (const auto& checkpoint : list_checkpoints(folder)) steps.push_back(checkpoint.step);
  return steps;
}

using Steps = std::vector<int64_t>;

}  // namespace

TEST_CASE("checkpoints are listed by step") {
  const TemporaryDirectory folder;
  CHECK(checkpoint_path("run/checkpoints", 500) == fs::path("run/checkpoints/step-00000500"));
  CHECK(list_checkpoints(folder / "none").empty());
  CHECK_FALSE(latest_checkpoint(folder / "none"));
  make_checkpoints(folder.path(), {1000, 0, 20, 123456789, 99999999});
  CHECK(steps_in(folder.path()) == Steps{0, 20, 1000, 99999999, 123456789});
  CHECK(latest_checkpoint(folder.path())->step == 123456789);
  CHECK(latest_checkpoint(folder.path())->path == folder / "step-123456789");
}

TEST_CASE("other files are not listed as checkpoints") {
  const TemporaryDirectory folder;
  for (const char* name :
       {"step-5", "step-000000005", "step-0000000x", "step--0000005", "step-", "best-00000005",
        "step-00000005.tmp-1-0", "step-00000005.tmp-deleted", "step-99999999999999999999"}) {
    fs::create_directory(folder / name);
  }
  write_text(folder / "step-00000007", "a file");
  CHECK(list_checkpoints(folder.path()).empty());
  write_text(folder / "file", "");
  CHECK_THROWS_WITH(list_checkpoints(folder / "file"), contains("Not a directory"));
}

TEST_CASE("the latest checkpoint is one with all its files") {
  const TemporaryDirectory folder;
  make_checkpoints(folder.path(), {10, 20, 30});
  const fs::path newest = checkpoint_path(folder.path(), 30);
  CHECK_NOTHROW(verify_checkpoint(newest));
  const std::vector<std::string_view> with_tokenizer = {"model.safetensors", "tokenizer.model"};
  CHECK_THROWS_WITH(verify_checkpoint(newest, with_tokenizer),
                    contains("tokenizer.model': No such file or directory"));
  SECTION("missing") {
    fs::remove(newest / "model.safetensors");
    CHECK_THROWS_WITH(verify_checkpoint(newest), contains("model.safetensors': No such file"));
  }
  SECTION("empty") {
    write_text(newest / "config.json", "");
    CHECK_THROWS_WITH(verify_checkpoint(newest), contains("config.json' is empty"));
  }
  SECTION("truncated") {
    fs::resize_file(newest / "optimizer.safetensors", 50);
    CHECK_THROWS_WITH(verify_checkpoint(newest), contains("truncated"));
  }
  SECTION("a directory") {
    fs::remove(newest / "model.safetensors");
    fs::create_directory(newest / "model.safetensors");
    CHECK_THROWS_AS(verify_checkpoint(newest), DataError);
  }
  CHECK(latest_checkpoint(folder.path())->step == 20);
}

TEST_CASE("the best is remembered with its score") {
  const TemporaryDirectory folder;
  CHECK_FALSE(best_checkpoint(folder.path()));
  make_checkpoints(folder.path(), {10, 20});
  mark_best(folder.path(), 10, 1.0 / 3.0);
  mark_best(folder.path(), 20, -4.9e-7);
  REQUIRE(best_checkpoint(folder.path()));
  CHECK(best_checkpoint(folder.path())->checkpoint.step == 20);
  CHECK(best_checkpoint(folder.path())->checkpoint.path == checkpoint_path(folder.path(), 20));
  CHECK(best_checkpoint(folder.path())->score == -4.9e-7);
  CHECK(read_file(folder / "best") == "step-00000020 -4.9e-07\n");
  CHECK_THROWS_WITH(mark_best(folder.path(), 30, 1.0), contains("it does not exist"));
  fs::remove_all(checkpoint_path(folder.path(), 20));
  CHECK_FALSE(best_checkpoint(folder.path()));
}

TEST_CASE("an invalid mark of the best is rejected") {
  const TemporaryDirectory folder;
  make_checkpoints(folder.path(), {10});
  for (const char* line : {"", "\n", "step-00000010\n", "step-00000010 \n", "step-00000010 x\n",
                           "step-00000010 1.5", "step-00000010 1.5 \n", "../evil 1\n", " 1\n"}) {
    write_text(folder / "best", line);
    INFO(line);
    CHECK_THROWS_WITH(best_checkpoint(folder.path()), contains("best' is not the name"));
  }
  write_text(folder / "best", std::string(5000, 's'));
  CHECK_THROWS_AS(best_checkpoint(folder.path()), DataError);
}

TEST_CASE("pruning keeps the last and the best") {
  const TemporaryDirectory folder;
  make_checkpoints(folder.path(), {10, 20, 30, 40, 50});
  write_text(folder / "notes.txt", "mine");
  prune_checkpoints(folder.path(), {.every = 10}, 0);
  prune_checkpoints(folder.path(), {.every = 10}, 5);
  prune_checkpoints(folder.path(), {.every = 10}, 9);
  CHECK(steps_in(folder.path()).size() == 5);
  mark_best(folder.path(), 20, 1.0);
  prune_checkpoints(folder.path(), {.every = 10}, 2);
  CHECK(steps_in(folder.path()) == Steps{20, 40, 50});
  mark_best(folder.path(), 50, 2.0);
  prune_checkpoints(folder.path(), {.every = 10}, 2);
  CHECK(steps_in(folder.path()) == Steps{40, 50});
  prune_checkpoints(folder.path(), {.every = 10}, 1);
  CHECK(steps_in(folder.path()) == Steps{50});
  CHECK(fs::exists(folder / "notes.txt"));
  CHECK_NOTHROW(prune_checkpoints(folder / "none", {}, 1));
}

TEST_CASE("an unscheduled checkpoint does not displace a scheduled one") {
  const TemporaryDirectory folder;
  const CheckpointSchedule schedule{.every = 10, .end = 45};
  for (const int64_t step : {10, 12, 20, 25, 30, 35, 40, 42, 45}) {
    make_checkpoints(folder.path(), {step});
    if (step == 12) mark_best(folder.path(), 12, 1.0);
    prune_checkpoints(folder.path(), schedule, 2);
    if (step == 25) CHECK(steps_in(folder.path()) == Steps{10, 12, 20, 25});
    if (step == 30) CHECK(steps_in(folder.path()) == Steps{12, 20, 30});
    if (step == 42) CHECK(steps_in(folder.path()) == Steps{12, 30, 40, 42});
  }
  CHECK(steps_in(folder.path()) == Steps{12, 40, 45});
}

TEST_CASE("the last scheduled checkpoints are those of an uninterrupted run") {
  const TemporaryDirectory folder;
  const auto steps = [&](const CheckpointSchedule& schedule) {
    Steps found;
    for (const auto& one : scheduled_checkpoints(folder.path(), schedule)) {
      found.push_back(one.step);
    }
    return found;
  };
  CHECK(steps({}).empty());
  make_checkpoints(folder.path(), {10, 20, 32, 40, 50, 60, 65, 67});
  CHECK(steps({.every = 10, .end = 67}) == Steps{40, 50, 60, 67});  // 20 may be an old best
  CHECK(steps({.every = 10, .end = 100}) == Steps{40, 50, 60});
  CHECK(steps({.every = 20, .end = 100}) == Steps{20, 40, 60});
  CHECK(steps({.every = 1000, .end = 100}).empty());
  CHECK(steps({.every = 1000, .end = 67}) == Steps{67});
}

}  // namespace attn
