// Small parallel texts for the tests of the data layer.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"

namespace attn::testing {

inline void write_text(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string join_lines(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : joined(lines, "\n") + "\n";
}

/// Made-up sentences of 1 to `max_words` words over some 60 word forms, the same for the same seed.
inline std::vector<std::string> made_up_lines(size_t count, uint64_t seed,
                                              uint64_t max_words = 12) {
  const std::vector<std::string> stems = {"lak", "mor", "tefu", "gäs", "piru", "óle", "kan", "shö"};
  const std::vector<std::string> ends = {"", "en", "ta", "st", "ung", "ei", "ß"};
  Random random(seed);
  std::vector<std::string> lines(count);
  for (auto& line : lines) {
    for (uint64_t words = 1 + random.below(max_words); words > 0; --words) {
      line += (line.empty() ? "" : " ") + stems[random.below(stems.size())] +
              ends[random.below(ends.size())];
    }
  }
  return lines;
}

}  // namespace attn::testing
