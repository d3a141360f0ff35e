#include "base/error.h"

#include <cerrno>
#include <system_error>

#include "base/format.h"
#include "base/utf8.h"

namespace attn {

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t valid = find_invalid_utf8(text).value_or(text.size());
    for (const char c : text.substr(0, valid)) {
      const auto byte = static_cast<unsigned char>(c);
      const bool shown = byte >= 0x20 && byte != 0x7F;
      if (c == '\n' || c == '\t') {
        out += c == '\n' ? "\\n" : "\\t";
      } else {
        out += shown ? std::string(1, c) : format("\\x%02x", byte);
      }
    }
    text.remove_prefix(valid);
    if (text.empty()) break;
    out += format("\\x%02x", static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
  }
  return out;
}

void throw_file_error(std::string_view action, const std::filesystem::path& path, int error) {
  throw DataError("cannot " + std::string(action) + " '" + path.string() +
                  "': " + std::generic_category().message(error == 0 ? EIO : error));
}

}  // namespace attn
