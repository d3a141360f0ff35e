#include "base/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

Json without_non_finite(const Json& value) {
  if (!value.is_number_float() || std::isfinite(value.get<double>())) return value;
  if (std::isnan(value.get<double>())) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

std::string_view as_text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// Whether a record was written after the checkpoint of `step`: its step is later, or it is of this
/// kind and step, or it is a block that was lost (NULs): up to the checkpoint all are synced. False
/// for foreign lines, which are kept.
bool is_after(std::string_view line, int64_t step, std::string_view last_kind) {
  if (line.find('\0') != std::string_view::npos) return true;
  const auto record = Json::parse(line.begin(), line.end(), nullptr, false);
  if (!record.is_object()) return false;
  const auto found = record.find("step");
  if (found == record.end() || !found->is_number_integer()) return false;
  const auto at = found->get<int64_t>();
  const auto kind = record.find("kind");
  const bool last = !last_kind.empty() && kind != record.end() && *kind == last_kind;
  return at > step || (last && at == step);
}

void cut(const fs::path& path, size_t from, size_t to) {
  if (from == to) return;
  if (fs::is_symlink(path)) throw_file_error("write", path, ELOOP);  // a stranger's
  if (::truncate(path.c_str(), static_cast<off_t>(to)) != 0) throw_file_error("write", path, errno);
}

}  // namespace

MetricsLog::MetricsLog(fs::path path) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file_ < 0) throw_file_error("write", path_, errno);
  try {
    keep_until_step(path_, std::numeric_limits<int64_t>::max());  // without a torn line
  } catch (...) {
    ::close(file_);
    throw;
  }
}

MetricsLog::~MetricsLog() {
  ::close(file_);
}

void MetricsLog::write(std::string_view kind, const Json& fields) {
  Json record = {{"kind", kind}};
  for (const auto& [name, value] : fields.items()) record[name] = without_non_finite(value);
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  ssize_t count = 0;
  do {
    count = ::write(file_, line.data(), line.size());
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(line.size())) return;
  const int error = count < 0 ? errno : ENOSPC;  // a short write to a file: the disk is full
  if (count > 0) keep_until_step(path_, std::numeric_limits<int64_t>::max());
  throw_file_error("write", path_, error);
}

void MetricsLog::sync() {
  if (::fsync(file_) != 0 && errno != EINVAL) throw_file_error("write", path_, errno);
}

void keep_until_step(const fs::path& path, int64_t step, std::string_view last_kind) {
  std::error_code unknown;  // errors are reported when the file is opened
  if (fs::status(path, unknown).type() == fs::file_type::not_found) return;
  size_t size = 0, kept = 0;
  {
    const MappedFile file(path);
    const std::string_view text = as_text(file);
    size = text.size();
    for (size_t end = 0; (end = text.find('\n', kept)) != std::string_view::npos; kept = end + 1) {
      if (is_after(text.substr(kept, end - kept), step, last_kind)) break;
    }
  }
  cut(path, size, kept);
}

}  // namespace attn
