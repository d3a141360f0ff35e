#include "data/lines.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"

namespace attn {

LineReader::LineReader(std::filesystem::path path)
    : path_(std::move(path)), buffer_(size_t{1} << 18) {
  errno = 0;
  file_.open(path_, std::ios::binary);
  if (!file_) throw_file_error("read", path_, errno);
}

bool LineReader::fill() {
  errno = 0;
  file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  if (file_.bad()) throw_file_error("read", path_, errno);
  unread_ = {buffer_.data(), static_cast<size_t>(file_.gcount())};
  hasher_.update(unread_);
  return !unread_.empty();
}

bool LineReader::next(std::string& line) {
  line.clear();
  cut_ = false;
  if (unread_.empty() && !fill()) return false;
  ++number_;
  bool ended = false;
  while (!ended && (!unread_.empty() || fill())) {
    const size_t end = unread_.find('\n');
    ended = end != std::string_view::npos;
    const std::string_view piece = unread_.substr(0, end);
    unread_.remove_prefix(ended ? end + 1 : piece.size());
    const size_t room = max_bytes - line.size();
    cut_ = cut_ || piece.size() > room;
    line += piece.substr(0, room);
  }
  if (line.ends_with('\r')) line.pop_back();
  if (number_ == 1) begin_text(line, path_.string());
  return true;
}

void require_utf8(std::string_view line, const std::string& file, size_t number) {
  const auto offset = find_invalid_utf8(line);
  if (!offset) return;
  throw DataError(file + ":" + std::to_string(number) + ": byte " + std::to_string(*offset + 1) +
                  " of the line is not valid UTF-8; convert the file, e.g. with iconv -t UTF-8");
}

void require_utf8(std::span<const std::string> lines, const std::string& file) {
  for (size_t i = 0; i < lines.size(); ++i) require_utf8(lines[i], file, i + 1);
}

std::vector<std::string> read_utf8_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines = read_lines(path);
  require_utf8(lines, path.string());
  return lines;
}

void require_same_hash(const std::filesystem::path& path, uint64_t keyed, uint64_t read) {
  if (read == keyed) return;
  throw DataError(path.string() + ": changed while being read; start again when it is complete");
}

}  // namespace attn
