#include "train/checkpoint_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/parse_number.h"
#include "base/safetensors.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "step-";

std::string name_of(int64_t step) {
  const std::string digits = std::to_string(step);
  return std::string(prefix) + std::string(8 - std::min<size_t>(8, digits.size()), '0') + digits;
}

/// The inverse of name_of.
std::optional<int64_t> step_of(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto step = parse_number<int64_t>(name.substr(prefix.size()));
  if (!step || *step < 0 || name_of(*step) != name) return std::nullopt;
  return step;
}

void remove_checkpoint(const fs::path& checkpoint) {
  const fs::path doomed = checkpoint.string() + temporary_suffix();
  std::error_code error;
  fs::rename(checkpoint, doomed, error);
  if (!error) fs::remove_all(doomed, error);
  if (error) throw_file_error("delete", checkpoint, error.value());
}

void verify_file(const fs::path& file, Verified verified) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error) throw_file_error("use the checkpoint: its file", file, error.value());
  if (size == 0)
    throw DataError("cannot use the checkpoint: its file '" + file.string() + "' is empty");
  if (file.extension() != ".safetensors") return;
  const SafetensorsFile read(file);
  if (verified == Verified::tensors) read.require_checksum();
}

// A file that exists but cannot be read, for want of permission or because its file system does not
// answer, says nothing about its content.
void require_readable(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe waits
  char first = 0;
  const bool read = descriptor >= 0 && ::pread(descriptor, &first, 1, 0) >= 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (read || error == ENOENT || error == ENOTDIR || error == EISDIR || error == ESPIPE) return;
  throw_file_error("read", file, error);
}

bool is_valid(const fs::path& checkpoint) {
  for (const std::string_view file : checkpoint_files) require_readable(checkpoint / file);
  try {
    verify_checkpoint(checkpoint);
    return true;
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace

CheckpointSchedule checkpoint_schedule(const TrainConfig& config, int64_t last_step) {
  return {.every = config.checkpoint_every, .end = last_step > 0 ? last_step : config.steps};
}

fs::path best_mark(const fs::path& checkpoints) {
  return checkpoints / "best";
}

fs::path checkpoint_path(const fs::path& checkpoints, int64_t step) {
  return checkpoints / name_of(step);
}

std::vector<StoredCheckpoint> list_checkpoints(const fs::path& checkpoints) try {
  std::vector<StoredCheckpoint> found;
  if (!fs::exists(checkpoints)) return found;
  for (const fs::directory_entry& entry : fs::directory_iterator(checkpoints)) {
    const auto step = step_of(entry.path().filename().string());
    std::error_code ignored;
    if (step && entry.is_directory(ignored)) found.push_back({*step, entry.path()});
  }
  std::ranges::sort(found, {}, &StoredCheckpoint::step);
  return found;
} catch (const fs::filesystem_error& error) {
  throw_file_error("read", checkpoints, error.code().value());
}

std::vector<StoredCheckpoint> scheduled_checkpoints(const fs::path& checkpoints,
                                                    const CheckpointSchedule& schedule) {
  std::vector<StoredCheckpoint> found = list_checkpoints(checkpoints);
  std::erase_if(found, [&](const auto& checkpoint) { return !schedule.has(checkpoint.step); });
  size_t first = found.empty() ? 0 : found.size() - 1;
  while (first > 0 && found[first - 1].step == schedule.before(found[first].step)) --first;
  found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(first));
  return found;
}

void verify_checkpoint(const fs::path& checkpoint, std::span<const std::string_view> files,
                       Verified verified) {
  for (const std::string_view file : files) verify_file(checkpoint / file, verified);
}

std::optional<StoredCheckpoint> latest_checkpoint(const fs::path& checkpoints) {
  const auto all = list_checkpoints(checkpoints);
  const auto newest = std::ranges::find_if(
      all.rbegin(), all.rend(), [](const StoredCheckpoint& one) { return is_valid(one.path); });
  return newest == all.rend() ? std::nullopt : std::optional(*newest);
}

void mark_best(const fs::path& checkpoints, int64_t step, double score) {
  const fs::path checkpoint = checkpoint_path(checkpoints, step);
  std::error_code unknown;
  if (!fs::is_directory(checkpoint, unknown)) {
    throw DataError("cannot mark '" + checkpoint.string() + "' as the best: it does not exist");
  }
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, score).ptr;
  write_file_atomically(best_mark(checkpoints),
                        name_of(step) + " " + std::string(digits, end) + "\n");
}

std::optional<BestCheckpoint> best_checkpoint(const fs::path& checkpoints) {
  const fs::path file = best_mark(checkpoints);
  std::error_code unknown;
  if (fs::status(file, unknown).type() == fs::file_type::not_found) return std::nullopt;
  const std::string line = read_file(file, 1000);
  const size_t space = line.find(' ');
  const auto step = step_of(std::string_view(line).substr(0, space));
  std::optional<double> score;
  if (space != std::string::npos && line.ends_with('\n')) {
    score = parse_number<double>(std::string_view(line).substr(space + 1, line.size() - space - 2));
  }
  if (!step || !score) {
    throw DataError("'" + file.string() +
                    "' is not the name of a checkpoint and its score: delete the file, or write "
                    "a line such as \"step-00000500 4.92\"");
  }
  BestCheckpoint best{.checkpoint = {*step, checkpoint_path(checkpoints, *step)}, .score = *score};
  if (!fs::is_directory(best.checkpoint.path, unknown)) return std::nullopt;
  return best;
}

void prune_checkpoints(const fs::path& checkpoints, const CheckpointSchedule& schedule,
                       int64_t keep_last) {
  auto all = list_checkpoints(checkpoints);
  if (keep_last <= 0 || all.empty()) return;
  const auto best = best_checkpoint(checkpoints);
  const int64_t newest = all.back().step;
  int64_t kept = 0;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    const bool scheduled = schedule.has(it->step) && kept++ < keep_last;
    const bool is_best = best && best->checkpoint.step == it->step;
    if (!scheduled && !is_best && it->step != newest) remove_checkpoint(it->path);
  }
}

}  // namespace attn
