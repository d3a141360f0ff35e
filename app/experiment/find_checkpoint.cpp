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
constexpr size_t kMaxStepsShown = 12;

// "runs/base has @best (step 400), @last (step 800), @average; steps 200, 400, 800".
std::string inventory(const RunDirectory& run) {
  const auto all = list_checkpoints(run.checkpoints());
  const bool averaged = ModelDirectory(run.averaged()).has_weights();
  if (all.empty()) {
    return run.path().string() + " has " + (averaged ? "only @average" : "no checkpoints yet");
  }
  std::string text = run.path().string() + " has ";
  if (const auto best = best_checkpoint(run.checkpoints())) {
    text += "@best (step " + std::to_string(best->checkpoint.step) + "), ";
  }
  text += "@last (step " + std::to_string(all.back().step) + ")";
  if (averaged) text += ", @average";
  text += "; steps ";
  const size_t first = all.size() > kMaxStepsShown ? all.size() - kMaxStepsShown : 0;
  if (first > 0) text += std::to_string(all.front().step) + ", …, ";
  for (size_t i = first; i < all.size(); ++i) {
    text += (i > first ? ", " : "") + std::to_string(all[i].step);
  }
  return text;
}

std::string shown(const CheckpointSelector& selector) {
  return selector.run.string() + "@" + selector.which;
}

[[noreturn]] void missing(const CheckpointSelector& selector, const std::string& why) {
  throw DataError(shown(selector) + ": " + why + "; " + inventory(selector.run));
}

fs::path averaged_weights(const CheckpointSelector& selector) {
  const ModelDirectory averaged(RunDirectory(selector.run).averaged());
  if (!averaged.has_weights()) {
    missing(selector,
            "no average; create it with `attn average " + shell_word(selector.run.string()) + "`");
  }
  return averaged.path();
}

// The newest checkpoint; std::nullopt if there is none. A damaged one is an error: scores of an
// earlier one would be taken for those of the last. Only a resumed training continues from that.
std::optional<fs::path> last_checkpoint(const RunDirectory& run) {
  const auto all = list_checkpoints(run.checkpoints());
  if (all.empty()) return {};
  try {
    verify_checkpoint(all.back().path, kNeeded);
  } catch (const DataError& error) {
    const auto valid = latest_checkpoint(run.checkpoints(), kNeeded);
    throw DataError(std::string(error.what()) +
                    (valid ? "; the last valid checkpoint is " + run.path().string() + "@" +
                                 std::to_string(valid->step)
                           : "; the run has no valid checkpoint"));
  }
  return all.back().path;
}

fs::path find_selected(const CheckpointSelector& selector) {
  const RunDirectory run(selector.run);
  if (run.has_weights()) {
    throw ConfigError(shown(selector) + ": " + run.path().string() +
                      " is a checkpoint, not a run; leave out @" + selector.which);
  }
  const auto step = selected_step(selector);
  if (step) {
    const fs::path path = checkpoint_path(run.checkpoints(), *step);
    if (!fs::exists(path)) missing(selector, "no checkpoint at this step");
    return path;
  }
  if (selector.which == "average") return averaged_weights(selector);
  if (selector.which == "last") {
    const auto last = last_checkpoint(run);
    if (!last) missing(selector, "no checkpoint");
    return *last;
  }
  const auto best = best_checkpoint(run.checkpoints());
  if (!best) missing(selector, "no checkpoint is marked as the best");
  return best->checkpoint.path;
}

// The last known step of a run that has saved a checkpoint, else 0.
int64_t saved_step(const RunDirectory& run) {
  const fs::path folder = run.checkpoints();
  const auto result = read_result(run);
  int64_t step = result ? result->step : 0;
  const auto stored = list_checkpoints(folder);
  if (!stored.empty()) step = std::max({step, stored.back().step, int64_t{1}});
  int64_t measured = 0;
  for (const Json& record : read_metrics(run)) {
    measured = std::max(measured, step_of(record));
  }
  const auto described = read_run_file(run);
  const bool saved = step > 0 || fs::exists(best_mark(folder)) ||
                     (described && described->contains(kFirstCheckpoint));
  return saved ? std::max({step, measured, int64_t{1}}) : 0;
}

}  // namespace

std::optional<CheckpointSelector> checkpoint_selector(const fs::path& path) {
  const std::string text = path.string();
  const size_t at = text.rfind('@');
  if (at == std::string::npos || at == 0 || text.find('/', at) != std::string::npos) return {};
  CheckpointSelector selector{.run = text.substr(0, at), .which = text.substr(at + 1)};
  if (fs::exists(path) || !fs::exists(selector.run)) return {};
  return selector;
}

std::optional<int64_t> selected_step(const CheckpointSelector& selector) {
  const std::string& which = selector.which;
  if (which == "best" || which == "last" || which == "average") return {};
  const auto step = parse_number<int64_t>(which);
  if (step && *step >= 0) return step;
  throw ConfigError(shown(selector) + ": \"" + which + "\" is not best, last, average or a step; " +
                    inventory(selector.run));
}

fs::path find_checkpoint(const fs::path& path) {
  if (const auto selector = checkpoint_selector(path)) return find_selected(*selector);
  const RunDirectory run(path);
  if (run.has_weights()) return path;
  const ModelDirectory averaged(run.averaged());
  if (averaged.has_weights()) return averaged.path();
  if (const auto left = interrupted_replacement(averaged.path())) {
    throw DataError(left->string() + ": left under this name when `attn average` was killed; run " +
                    "it again, or rename this to " + averaged.path().filename().string());
  }
  if (!fs::exists(path)) {
    throw DataError(path.string() + ": no such run or checkpoint");
  }
  require_input(path, {InputKind::run, InputKind::checkpoint});
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  if (RunDirectory::is_checkpoints(folder)) {
    const fs::path its = RunDirectory::of_checkpoints(folder).path();
    throw ConfigError(path.string() + ": a run's checkpoint directory; give the run, " +
                      its.string() + ", or " + its.string() + "@best; " + inventory(its));
  }
  if (!fs::is_directory(path)) {
    throw DataError(
        path.string() +
        ": a file; give the directory of a run or checkpoint, and a text with --input or on "
        "standard input");
  }
  const fs::path checkpoints = run.checkpoints();
  if (const auto best = best_checkpoint(checkpoints)) return best->checkpoint.path;
  if (const auto last = last_checkpoint(run)) return *last;
  throw DataError(path.string() + ": neither a checkpoint (no " + std::string(kWeightsFile) +
                  ") nor a run with checkpoints; train one with `attn train`");
}

void require_no_checkpoint(const fs::path& path) {
  if (const auto selector = checkpoint_selector(path)) {
    throw ConfigError(path.string() + ": a run resumes from its newest checkpoint; give the run, " +
                      selector->run.string());
  }
  const fs::path whole = fs::absolute(path / ".").lexically_normal().parent_path();
  const bool folder = RunDirectory::is_checkpoints(whole);
  const RunDirectory run =
      folder ? RunDirectory::of_checkpoints(whole) : RunDirectory::of_checkpoint(whole);
  const bool inside = run.path() != whole && run.has_config();
  if (!fs::is_directory(path) || (!inside && !ModelDirectory(path).has_weights())) return;
  const fs::path shown =
      path.is_absolute() ? run.path() : run.path().lexically_proximate(fs::current_path());
  throw ConfigError(
      path.string() + ": is " + (folder ? "a run's checkpoint directory" : "a checkpoint") +
      ", not a run; " +
      (inside ? "the run is " + shown.string() : "give the run directory it belongs to"));
}

std::optional<StoredCheckpoint> checkpoint_to_resume(const RunDirectory& run) {
  const fs::path folder = run.checkpoints();
  auto newest = latest_checkpoint(folder, checkpoint_files, Verified::tensors);
  if (newest) return newest;
  const int64_t step = saved_step(run);
  if (step == 0) return {};
  std::string missing = folder.string() + " has none";
  const auto broken = list_checkpoints(folder);
  if (!fs::exists(folder)) missing = "there is no " + folder.string();
  try {
    if (!broken.empty()) {
      verify_checkpoint(broken.back().path, checkpoint_files, Verified::tensors);
    }
  } catch (const DataError& error) {
    missing = error.what();
  }
  throw DataError(run.path().string() + ": trained to step " + std::to_string(step) +
                  ", but no checkpoint is complete (" + missing +
                  "); restore the missing files, or start a new run with --run");
}

}  // namespace attn
