#include "base/edit_distance.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/unicode.h"

namespace attn {

int64_t edit_distance(std::string_view a, std::string_view b) {
  // Restricted Damerau: three rows suffice.
  std::vector<int64_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> choices) {
  constexpr size_t kShortestPrefix = 3;
  const std::string written = to_lower(word);
  std::string best;
  int64_t best_distance = static_cast<int64_t>(word.size()) / 3 + 2;  // exclusive maximum
  if (word.size() < 5) best_distance = 2;  // of a short word, two edits leave little
  for (const auto& choice : choices) {
    const std::string name = to_lower(choice);
    const bool is_prefix = written.size() >= kShortestPrefix && name.starts_with(written);
    const bool is_part = is_prefix || written.ends_with("_" + name);  // heads of num_heads
    const int64_t edits = edit_distance(written, name);
    const int64_t distance = is_part ? std::min<int64_t>(edits, 1) : edits;
    if (distance < best_distance) {
      best_distance = distance;
      best = choice;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> choices) {
  if (choices.empty()) return "";
  const std::string near = nearest(word, choices);
  return near.empty() ? "; one of: " + joined(choices, ", ") : "; did you mean " + near + "?";
}

}  // namespace attn
