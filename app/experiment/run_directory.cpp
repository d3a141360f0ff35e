#include "app/experiment/run_directory.h"

#include "train/checkpoint_store.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckpoints = "checkpoints";
constexpr const char* kAveraged = "averaged";
constexpr const char* kEvaluations = "eval";
constexpr const char* kOutput = ".txt";

}  // namespace

fs::path ModelDirectory::config() const {
  return path_ / kConfigFile;
}

fs::path ModelDirectory::weights() const {
  return path_ / kWeightsFile;
}

fs::path ModelDirectory::training_state() const {
  return path_ / kTrainingStateFile;
}

fs::path ModelDirectory::evaluation() const {
  return path_ / kEvaluationFile;
}

bool ModelDirectory::has_config() const {
  return fs::exists(config());
}

bool ModelDirectory::has_weights() const {
  return fs::exists(weights());
}

RunDirectory RunDirectory::of_checkpoint(const fs::path& checkpoint) {
  const fs::path path = ModelDirectory(checkpoint).path();
  const fs::path above = path.parent_path();
  if (path.filename() == kAveraged) return above;
  return is_checkpoints(above) ? of_checkpoints(above) : RunDirectory(path);
}

RunDirectory RunDirectory::of_checkpoints(const fs::path& folder) {
  return folder.parent_path();
}

bool RunDirectory::is_checkpoints(const fs::path& folder) {
  return folder.filename() == kCheckpoints;
}

fs::path RunDirectory::checkpoints() const {
  return path() / kCheckpoints;
}

fs::path RunDirectory::averaged() const {
  return path() / kAveraged;
}

std::string RunDirectory::output_name(const std::string& evaluator, int64_t step) {
  std::string name = kEvaluations;
  name.append("/").append(evaluator).append("-").append(std::to_string(step));
  return name + kOutput;
}

fs::path RunDirectory::output(const std::string& evaluator, int64_t step) const {
  return path() / output_name(evaluator, step);
}

fs::path RunDirectory::output(const std::string& evaluator) const {
  return path() / kEvaluations / (evaluator + kOutput);
}

std::vector<fs::path> RunDirectory::results() const {
  std::vector<fs::path> files = {
      config(),           run_file(),         metrics(),          result(), heads(),    lock(),
      shared_tokenizer(), source_tokenizer(), target_tokenizer(), tags(),   features(), pieces()};
  for (const char* name : kReportFiles) files.push_back(path() / name);
  return files;
}

bool RunDirectory::has_run() const {
  return has_config() || has_trained();
}

bool RunDirectory::has_trained() const {
  return fs::exists(result()) || !list_checkpoints(checkpoints()).empty();
}

}  // namespace attn
