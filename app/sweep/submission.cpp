#include "app/sweep/submission.h"

#include <algorithm>

#include "app/experiment/resume.h"
#include "app/experiment/run_directory.h"
#include "app/sweep/prepare.h"
#include "app/sweep/status.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "data/text_hashes.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "submitted";
constexpr const char* kTexts = "texts.json";
constexpr int64_t kLargestTexts = 1 << 26;

std::string file_of(const std::string& name) {
  return name + ".json";
}

void require_same_training_text(const fs::path& submission, const std::string& name,
                                const PlannedRun& run, const fs::path& sweep) {
  if (RunDirectory(run.directory).has_trained()) return;  // then the training run itself compares
  const fs::path path = submission / kTexts;
  const Json texts = parse_json(read_file(path, kLargestTexts), path.string());
  TextHashes hashes(hash_cache_file(sweep));
  if (!texts.contains(name)) return;
  for (const auto& [what, key] : training_keys(run.experiment.data, hashes)) {
    const Json& before = texts.at(name);
    if (!before.contains(what) || before.at(what) == Json(key)) continue;
    throw DataError(name + ": data." + what +
                    " has changed since the sweep was submitted; submit it again");
  }
}

}  // namespace

fs::path write_submission(const SweepPlan& plan) {
  std::map<std::string, std::string> files;
  Json texts = Json::object();
  {
    TextHashes hashes(hash_cache_file(plan.directory));
    for (const PlannedRun& run : plan.runs) {
      const std::string name = run_name(plan, run);
      files[file_of(name)] = write_experiment(run.experiment).dump(2) + "\n";
      texts[name] = training_keys(run.experiment.data, hashes);
    }
  }
  files[kTexts] = texts.dump(1) + "\n";
  Hasher key;
  for (const auto& [name, text] : files) {
    key.update(hash_text(name));
    key.update(hash_text(text));
  }
  const fs::path folder = plan.directory / kFolder / to_hex(key.digest());
  if (fs::exists(folder)) return folder;
  make_directories(folder.parent_path());
  AtomicDirectory directory(folder);
  for (const auto& [name, text] : files) {
    make_directories((directory.path() / name).parent_path());
    write_file_atomically(directory.path() / name, text);
  }
  directory.commit();
  return folder;
}

PlannedRun submitted_run(const fs::path& submission, const std::string& name) {
  const fs::path config = submission / file_of(name);
  const fs::path parts = name;
  const bool leads_out = std::find(parts.begin(), parts.end(), "..") != parts.end();
  if (!fs::exists(submission / kTexts) || leads_out || !fs::exists(config)) {
    throw ConfigError("--task " + name + ": " + submission.string() +
                      " has no such run; submit the sweep again with attn sweep FILE --slurm");
  }
  const fs::path sweep = submission.parent_path().parent_path();
  PlannedRun run{.experiment = load_resolved(config), .directory = sweep / name};
  run.config = config;
  if (RunDirectory(run.directory).has_config()) {
    if (const auto changed = row_conflicts(run.directory, run.experiment); !changed.empty()) {
      throw ConfigError(name + ": was trained with a different config (" + changed.front() +
                        ") than the one submitted; submit the sweep again");
    }
  }
  require_same_training_text(submission, name, run, sweep);
  return run;
}

}  // namespace attn
