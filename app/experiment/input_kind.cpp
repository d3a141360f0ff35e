#include "app/experiment/input_kind.h"

#include <algorithm>
#include <array>

#include "app/experiment/run_directory.h"
#include "app/machine/shell.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

bool is_sweep_directory(const fs::path& path) {
  return fs::is_directory(path) && fs::exists(path / kSweepFile);
}

// The content of a JSON file; null if it is not valid JSON.
Json json_of(const fs::path& path) {
  if (!fs::is_regular_file(path) || fs::file_size(path) > kMaxConfigBytes) return {};
  return Json::parse(read_file(path, kMaxConfigBytes), nullptr, false);
}

std::string sweep_source(const fs::path& directory) {
  const Json plan = json_of(directory / kSweepFile);
  const bool known = plan.is_object() && plan.contains("source") && plan["source"].is_string();
  return known ? plan["source"].get<std::string>() : "FILE";
}

void require_no_file(const fs::path& path) {
  if (!fs::exists(path) || fs::is_directory(path)) return;
  throw ConfigError(path.string() + ": a file; give a directory with --run");
}

// The first run of a sweep's row; empty if the path is none.
fs::path run_of_row(const fs::path& path) {
  fs::path first;
  if (!fs::is_directory(path) || ModelDirectory(path).has_config()) return first;
  for (const auto& entry : fs::directory_iterator(path)) {
    const bool run = entry.path().filename().string().starts_with("seed-") && is_run(entry.path());
    if (run && (first.empty() || entry.path() < first)) first = entry.path();
  }
  return first;
}

// A run of a sweep, as an example: the first one that has been started.
fs::path example_run(const fs::path& sweep) {
  std::string first = "ROW";
  const Json plan = json_of(sweep / kSweepFile);
  if (plan.is_object() && plan.contains("rows") && plan["rows"].is_array()) {
    for (const Json& row : plan["rows"]) {
      if (!row.is_object() || !row.contains("name") || !row["name"].is_string()) continue;
      const auto name = row["name"].get<std::string>();
      if (const fs::path run = run_of_row(sweep / name); !run.empty()) return run;
      if (first == "ROW") first = name;
    }
  }
  return sweep / first / "seed-N";
}

// Whether the JSON is that of a sweep directory's sweep.json.
bool is_sweep_plan(const Json& json) {
  return is_sweep_file(json) && json.contains("source") && json.contains("command");
}

}  // namespace

bool is_sweep_file(const Json& json) {
  return json.is_object() && json.contains("rows") && !json.contains("model");
}

bool is_config_file(const Json& json) {
  constexpr std::array sections = {"data", "model", "train", "search", "eval", "runtime"};
  return json.is_object() && !json.contains("rows") &&
         (json.contains("base") ||
          std::any_of(sections.begin(), sections.end(),
                      [&](const char* key) { return json.contains(key); }));
}

void require_config_path(const fs::path& path) {
  if (!fs::is_directory(path)) return;
  if (is_sweep_directory(path)) {
    throw ConfigError(path.string() + ": a sweep directory, not a config; the sweep is " +
                      sweep_source(path) + ", a run's config is " +
                      (example_run(path) / kConfigFile).string());
  }
  const ModelDirectory directory(path);
  if (directory.has_config()) {
    throw ConfigError(path.string() + ": a run, not a config; its config is " +
                      directory.config().string());
  }
  throw ConfigError(path.string() + ": a directory, not a config");
}

void require_config(const Json& json, const fs::path& path) {
  if (!is_sweep_file(json)) return;
  throw ConfigError(path.string() + ": a sweep, not a config; train its rows with: attn sweep " +
                    shell_word(path.string()));
}

void require_sweep_path(const fs::path& path) {
  const auto resume = [](const fs::path& directory) {
    return "resume it with: attn sweep " + shell_word(sweep_source(directory)) + " --run " +
           shell_word(directory.string());
  };
  if (path.filename() == kSweepFile && is_sweep_plan(json_of(path))) {
    throw ConfigError(path.string() + ": the plan of a sweep directory, not a sweep; " +
                      resume(path.has_parent_path() ? path.parent_path() : "."));
  }
  if (!fs::is_directory(path)) return;
  if (is_sweep_directory(path)) {
    throw ConfigError(path.string() + ": a sweep directory; " + resume(path));
  }
  if (ModelDirectory(path).has_config()) {
    throw ConfigError(path.string() + ": a run, not a sweep; resume it with: attn train " +
                      shell_word(path.string()) + " --resume");
  }
  throw ConfigError(path.string() + ": a directory, not a sweep");
}

void require_sweep(const Json& json, const fs::path& path) {
  if (!is_config_file(json)) return;
  if (json.contains("base") && json.size() == 1) return;  // may be a sweep without "rows"
  for (const auto& [key, value] : json.items()) {  // a misspelt key: the reader suggests "rows"
    if (edit_distance(key, "rows") <= 2) return;
  }
  throw ConfigError(path.string() +
                    ": a config, not a sweep (\"rows\" is missing); train it with: attn train " +
                    shell_word(path.string()));
}

bool is_run(const fs::path& path) {
  const ModelDirectory directory(path);
  return fs::is_directory(path) && !is_sweep_directory(path) && directory.has_config() &&
         !directory.has_weights();
}

void require_report_path(const fs::path& path) {
  const Json json = json_of(path);
  if (is_sweep_file(json) || is_config_file(json)) {
    throw ConfigError(path.string() + ": a " + (is_sweep_file(json) ? "sweep" : "config") +
                      ", not a results directory; give " + ("runs" / path.stem()).string() +
                      ", or the directory given to --run");
  }
  const RunDirectory run = RunDirectory::of_checkpoint(path);
  if (ModelDirectory(path).has_weights() && run.path() != path) {
    throw ConfigError(path.string() + ": a checkpoint; give its run, " + run.path().string());
  }
}

void require_no_sweep(const fs::path& path) {
  require_no_file(path);
  if (!is_sweep_directory(path)) return;
  throw ConfigError(path.string() + ": a sweep directory; resume the sweep with: attn sweep " +
                    shell_word(sweep_source(path)) + " --run " + shell_word(path.string()) +
                    ", or give another directory with --run");
}

void require_no_run(const fs::path& path) {
  require_no_file(path);
  if (is_run(path)) {
    throw ConfigError(path.string() + ": a run; give another directory with --run");
  }
}

void require_no_other_sweep(const fs::path& path, const fs::path& source) {
  if (!is_sweep_directory(path)) return;
  const fs::path other = sweep_source(path);
  std::error_code error;  // one that has been moved or deleted, or is relative to another directory
  if (!fs::exists(other, error) || fs::equivalent(other, source, error)) return;
  throw ConfigError(path.string() + ": contains runs of another sweep, " + other.string() +
                    "; choose another directory for " + source.string() + " with --run");
}

void require_no_config(const fs::path& path) {
  const Json json = json_of(path);
  if (path.filename() == kConfigFile && is_run(path.parent_path())) {
    throw ConfigError(path.string() + ": the config of a run; give the run, " +
                      path.parent_path().string());
  }
  if (is_sweep_directory(path)) {
    throw ConfigError(path.string() + ": a sweep directory; give one of its runs, e.g. " +
                      example_run(path).string());
  }
  if (const fs::path run = run_of_row(path); !run.empty()) {
    throw ConfigError(path.string() + ": a row of a sweep; give one of its runs, e.g. " +
                      run.string());
  }
  if (is_sweep_file(json)) {
    throw ConfigError(path.string() + ": a sweep, not a run; train it with: attn sweep " +
                      shell_word(path.string()) + ", then give one of its runs");
  }
  if (is_config_file(json)) {
    throw ConfigError(path.string() + ": a config, not a run; train it with: attn train " +
                      shell_word(path.string()) + ", then give " + ("runs" / path.stem()).string());
  }
}

}  // namespace attn
