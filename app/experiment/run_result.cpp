#include "app/experiment/run_result.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "app/experiment/experiment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "data/corpus.h"
#include "data/lines.h"
#include "model/size.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// `use` of the content of a run directory's file. Throws DataError if it is not as attn wrote it.
template <class Use>
auto use_written(const fs::path& path, Use use) {
  try {
    require_regular_file(path);
    return use(parse_json(read_file(path, kMaxConfigBytes), path.filename().string()));
  } catch (const ConfigError& error) {
    throw DataError(path.string() + ": corrupt (" + error.what() +
                    "); delete it, then resume the run");
  }
}

// Whether the fields that readers take as text, and the step, have their types.
bool is_record(const Json& record) {
  if (!record.is_object()) return false;
  for (const char* key : {"kind", "name", "signature", "text", "option", "options"}) {
    const auto found = record.find(key);
    if (found != record.end() && !found->is_string()) return false;
  }
  const auto step = record.find("step");
  return step == record.end() || step->is_number_integer();
}

constexpr std::string_view kFailed = "failed: ";
constexpr std::streamoff kTail = 1 << 16;

// Calls `look` with the lines at the end of the log, from `begin` on.
template <class Look>
void for_last_lines(const fs::path& log, std::streamoff begin, Look look) {
  std::ifstream file;
  if (fs::is_regular_file(log)) file.open(log, std::ios::binary | std::ios::ate);
  if (!file.is_open()) return;
  file.seekg(std::max<std::streamoff>(file.tellg() - std::streampos(kTail), begin));
  for (std::string line; std::getline(file, line);) look(line);
}

// The reason written by log_failure; std::nullopt unless it is the last line of the log.
std::optional<std::string> logged_failure(const fs::path& log) {
  std::string line;
  for_last_lines(log, 0, [&](const std::string& one) {
    if (!one.empty()) line = one;
  });
  if (!line.starts_with(kFailed)) return {};
  return printable(line.substr(kFailed.size()));
}

}  // namespace

void write_result(const RunDirectory& run, const RunResult& result) {
  write_file_atomically(run.result(), write_config(result).dump(2) + "\n");
}

std::optional<RunResult> read_result(const RunDirectory& run) {
  const fs::path path = run.result();
  if (!fs::exists(path)) return {};
  return use_written(path, [](const Json& json) {
    RunResult result;
    read_config(result, json);
    return result;
  });
}

std::optional<RunResult> finished_result(const RunDirectory& run, const TrainConfig& config) {
  auto result = read_result(run);
  if (!result || result->step >= config.steps) return result;
  // Early stopping (train.patience) or a loss that is not finite ended the run before the
  // train.steps that it had.
  const bool ended_early = (config.patience > 0 || result->end == RunEnd::diverged) &&
                           result->step < load_description(run).train.steps;
  return ended_early ? result : std::nullopt;
}

Json read_run_file(const RunDirectory& run) {
  const fs::path path = run.run_file();
  if (!fs::exists(path)) return Json::object();
  return use_written(path, [](Json json) {
    if (!json.is_object()) throw ConfigError("expected an object");
    return json;
  });
}

std::string as_read(const Json& facts, const std::optional<RunResult>& result) {
  std::set<std::string> names;
  for (const Json& name : facts.value(kAsRead, Json())) {
    if (name.is_string()) names.insert(name.get<std::string>());
  }
  if (result) names.insert(result->as_read.begin(), result->as_read.end());
  return printable(joined(names, ", "));
}

std::optional<int64_t> recorded(const RunDirectory& run, const char* key, int64_t max) {
  if (!run.has_trained()) return {};
  const auto count = number_at(read_run_file(run), key);
  if (!count || *count < 1 || *count > static_cast<double>(max)) return {};
  return static_cast<int64_t>(*count);
}

std::optional<double> number_at(const Json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_number()) return {};
  return found->get<double>();
}

std::string text_at(const Json& record, const char* key) {
  const Json value = record.is_object() ? record.value(key, Json()) : Json();
  return value.is_string() ? value.get<std::string>() : "";
}

int64_t step_of(const Json& record) {
  constexpr double largest = 1e15;
  const double step = number_at(record, "step").value_or(0.0);
  return step > 0.0 && step <= largest ? static_cast<int64_t>(step) : 0;
}

std::vector<Json> read_metrics(const RunDirectory& run) {
  std::vector<Json> records;
  if (!fs::exists(run.metrics())) return records;
  require_regular_file(run.metrics());
  const std::string content = read_file(run.metrics());  // a power cut may have left any bytes
  for (std::string_view text = content; !text.empty();) {
    Json record = parse_record(take_line(text));
    if (is_record(record)) records.push_back(std::move(record));
  }
  return records;
}

bool has_scores(const Json& record) {
  const std::string kind = record.value("kind", "");
  return (kind == "eval" || kind == "average" || kind == "best") && record.contains("name");
}

std::map<std::string, EvaluatorResult> results_at(const RunDirectory& run, int64_t step) {
  std::map<std::string, EvaluatorResult> results;
  for (const Json& record : read_metrics(run)) {
    if (!has_scores(record) || record.value("step", int64_t{-1}) != step) continue;
    const auto name = record["name"].get<std::string>();
    EvaluatorResult& result = results[name];
    result = {};  // a later record of the step replaces an earlier one: an average, a new evaluator
    for (const auto& [key, value] : record.items()) {
      if (key == "kind" || key == "step" || key == "name" || key == "eval_seconds") continue;
      if (key == "signature") {
        result.signature = value.get<std::string>();
      } else if (key == "text") {
        result.text = value.get<std::string>();
      } else if (value.is_number()) {  // skips non-finite numbers, which are strings in the log
        result.values[key] = value.get<double>();
      }
    }
    if (fs::exists(run.output(name, step))) result.output = RunDirectory::output_name(name, step);
  }
  return results;
}

double epoch_flops(const EncodedCorpus& corpus, const ModelConfig& model,
                   const VocabularySizes& vocabulary) {
  double sum = 0.0;
  for (int64_t i = 0; i < corpus.size(); ++i) {
    sum += forward_flops(
        model, vocabulary,
        {.source = corpus.source_length(i) + 1, .target = corpus.target_length(i) + 1});
  }
  return 3 * sum;
}

std::string last_error(const fs::path& log, std::uintmax_t begin) {
  constexpr std::string_view kError = "attn: ";
  std::string error, last;
  for_last_lines(log, static_cast<std::streamoff>(begin), [&](const std::string& line) {
    if (line.starts_with(kError)) error = line.substr(kError.size());
    if (line.find_first_not_of("- \t") != std::string::npos) last = line;  // no rule of mpirun
  });
  return error.empty() ? last : error;
}

void log_failure(const fs::path& log, const std::string& why) noexcept {
  try {
    const auto status = fs::symlink_status(log);
    if (fs::exists(status) && !fs::is_regular_file(status)) return;  // a link or a pipe
    std::string line(why.substr(0, why.find_last_not_of('\n') + 1));
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::ofstream(log, std::ios::app) << kFailed << line << std::endl;
  } catch (...) {  // the failure itself is reported
  }
}

std::optional<std::string> failure_of(const fs::path& run) {
  const RunDirectory directory(run);
  const fs::path own = directory.log();
  const fs::path outer = fs::path(directory.path()).concat(".log");
  if (auto why = logged_failure(own)) return why;
  std::error_code none;
  const auto written = fs::last_write_time(own, none);
  const bool resumed = !none && written > fs::last_write_time(outer, none);
  return resumed && !none ? std::nullopt : logged_failure(outer);
}

}  // namespace attn
