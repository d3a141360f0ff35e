#include "data/lines.h"

#include <unistd.h>
#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/utf8.h"

namespace attn {
namespace {

/// For the first line of each text. Throws DataError if the text is compressed or in UTF-16.
void begin_text(std::string& first_line, const std::string& file, ByteOrderMark mark) {
  constexpr std::string_view kCompressed[] = {"\x1F\x8B", "BZh", "\x28\xB5\x2F\xFD", "\xFD\x37zXZ"};
  for (const std::string_view start : kCompressed) {
    const bool is_word = start == "BZh" && first_line.find("1AY&SY") != 4;
    if (!first_line.starts_with(start) || is_word) continue;
    throw DataError(file + ": compressed (gzip, bzip2, zstd or xz); decompress it first");
  }
  // Mostly ASCII in UTF-16 without a byte order mark is valid UTF-8 with NULs.
  if (first_line.starts_with("\xFF\xFE") || first_line.starts_with("\xFE\xFF") ||
      first_line.substr(0, 2).find('\0') != std::string::npos) {
    throw DataError(file + ":1: UTF-16; convert the text, e.g. with iconv -f UTF-16 -t UTF-8");
  }
  if (mark == ByteOrderMark::drop) first_line = without_byte_order_mark(first_line);
}

}  // namespace

LineReader::LineReader(const std::filesystem::path& path, size_t longest, ByteOrderMark mark)
    : path_(path == "-" ? "standard input" : path),
      longest_(longest),
      mark_(mark),
      file_(path == "-" ? ::fdopen(::dup(STDIN_FILENO), "rbe") : std::fopen(path_.c_str(), "rbe"),
            std::fclose),
      buffer_(size_t{1} << 18) {
  if (!file_) throw_file_error("read", path_, errno);
}

bool LineReader::fill() {
  if (!file_) return false;
  ssize_t count = 0;
  do {
    count = ::read(::fileno(file_.get()), buffer_.data(), buffer_.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) throw_file_error("read", path_, errno);
  if (count == 0) file_.reset();
  unread_ = {buffer_.data(), static_cast<size_t>(count)};
  hasher_.update(unread_);
  return count > 0;
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
    const size_t room = longest_ - line.size();
    cut_ = cut_ || piece.size() > room;
    line += piece.substr(0, room);
  }
  if (line.ends_with('\r')) line.pop_back();
  if (number_ == 1) begin_text(line, path_.string(), mark_);
  return true;
}

std::vector<std::string> read_lines(const std::filesystem::path& path, ByteOrderMark mark,
                                    size_t limit) {
  std::vector<std::string> lines;
  LineReader reader(path, limit, mark);
  size_t bytes = 0;
  for (std::string line; reader.next(line); lines.emplace_back(line)) {  // no excess capacity
    bytes += line.size() + 1;
    if (!reader.cut() && bytes <= limit) continue;
    throw DataError(path.string() + ": larger than the " + std::to_string(limit) +
                    " bytes allowed for this text");
  }
  return lines;
}

std::string_view take_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
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
