#include "app/experiment/find_checkpoint.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "app/experiment/run_result.h"
#include "app/machine/shell.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse_number.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kNeeded = {kWeightsFile, kConfigFile};

// A path such as "runs/base@best", split at the '@'.
struct Selector {
  RunDirectory run;
  std::string which;

  std::string text() const { return run.path().string() + "@" + which; }
};

// std::nullopt if `path` exists, or if what is before the last '@' does not.
std::optional<Selector> selector_of(const fs::path& path) {
  const std::string text = path.string();
  const size_t at = text.rfind('@');
  if (at == std::string::npos || text.find('/', at) != std::string::npos || fs::exists(path) ||
      !fs::exists(text.substr(0, at))) {
    return {};
  }
  return Selector{.run = fs::path(text.substr(0, at)), .which = text.substr(at + 1)};
}

// The newest checkpoint; std::nullopt if there is none. A damaged one is an error: scores of an
// earlier one would be taken for those of the last. Only a resumed training continues from that.
std::optional<fs::path> last_checkpoint(const RunDirectory& run) {
  const auto all = list_checkpoints(run.checkpoints());
  if (all.empty()) return {};
  verify_checkpoint(all.back().path, kNeeded);
  return all.back().path;
}

fs::path find_selected(const Selector& selector) {
  const auto& [run, which] = selector;
  if (run.has_weights()) {
    throw ConfigError(selector.text() + ": " + run.path().string() +
                      " is a checkpoint, not a run; leave out @" + which);
  }
  const auto missing = [&](const std::string& why) {
    return DataError(selector.text() + ": " + why + "; its checkpoints are in " +
                     run.checkpoints().string());
  };
  if (which == "average") {
    if (RunDirectory(run.averaged()).has_weights()) return run.averaged();
    throw missing("no average; create it with `attn average " + shell_word(run.path().string()) +
                  "`");
  }
  if (which == "last") {
    if (const auto last = last_checkpoint(run)) return *last;
    throw missing("no checkpoint");
  }
  if (which == "best") {
    if (const auto best = best_checkpoint(run.checkpoints())) return best->checkpoint.path;
    throw missing("no checkpoint is marked as the best");
  }
  const auto step = parse_number<int64_t>(which);
  if (!step || *step < 0) {
    throw ConfigError(selector.text() + ": \"" + which + "\" is not best, last, average or a step");
  }
  const fs::path path = checkpoint_path(run.checkpoints(), *step);
  if (!fs::exists(path)) throw missing("no checkpoint at this step");
  return path;
}

}  // namespace

fs::path find_checkpoint(const fs::path& path) {
  if (const auto selector = selector_of(path)) return find_selected(*selector);
  const RunDirectory run(path);
  if (run.has_weights()) return path;
  const ModelDirectory averaged(run.averaged());
  if (averaged.has_weights()) return averaged.path();
  if (!fs::exists(path)) throw DataError(path.string() + ": no such run or checkpoint");
  require_input(path, {InputKind::run, InputKind::checkpoint});
  if (!fs::is_directory(path)) {
    throw DataError(path.string() +
                    ": a file; give the directory of a run or checkpoint, and a text with --input "
                    "or on standard input");
  }
  if (const auto best = best_checkpoint(run.checkpoints())) return best->checkpoint.path;
  if (const auto last = last_checkpoint(run)) return *last;
  throw DataError(path.string() + ": neither a checkpoint (no " + std::string(kWeightsFile) +
                  ") nor a run with checkpoints; train one with `attn train`");
}

std::optional<StoredCheckpoint> checkpoint_to_resume(const RunDirectory& run) {
  const fs::path folder = run.checkpoints();
  auto newest = latest_checkpoint(folder, checkpoint_files, Verified::tensors);
  if (newest) return newest;
  const auto is_evaluation = [](const Json& record) { return record.value("kind", "") == "eval"; };
  const bool saved = run.has_trained() || fs::exists(best_mark(folder)) ||
                     std::ranges::any_of(read_metrics(run), is_evaluation);  // each after a save
  if (!saved) return {};
  const auto damaged = list_checkpoints(folder);
  std::string why = "there is none";
  try {
    if (!damaged.empty())
      verify_checkpoint(damaged.back().path, checkpoint_files, Verified::tensors);
  } catch (const DataError& error) {
    why = error.what();
  }
  throw DataError(run.path().string() + ": was trained, but no checkpoint is complete (" + why +
                  "); restore the missing files, or start a new run with --run");
}

}  // namespace attn
