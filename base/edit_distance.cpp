#include "base/edit_distance.h"

#include <algorithm>
#include <vector>

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
  std::string best;
  int64_t best_distance = static_cast<int64_t>(word.size()) / 3 + 2;  // exclusive maximum
  for (const auto& choice : choices) {
    const int64_t distance = edit_distance(word, choice);
    if (distance < best_distance) {
      best_distance = distance;
      best = choice;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> choices) {
  const std::string near = nearest(word, choices);
  if (!near.empty()) return "; did you mean " + near + "?";
  std::string all = "; one of: ";
  for (size_t i = 0; i < choices.size(); ++i) all += (i ? ", " : "") + choices[i];
  return all;
}

}  // namespace attn
