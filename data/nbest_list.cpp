#include "data/nbest_list.h"

#include <cmath>

#include "base/format.h"
#include "base/parse_number.h"

namespace attn {
namespace {

constexpr std::string_view kSeparator = " ||| ", kLogProb = "logp= ";

}  // namespace

std::string nbest_list_line(size_t sentence, const std::string& text, double log_prob,
                            double score) {
  return format("%zu ||| ", sentence) + text + format(" ||| logp= %.6f ||| %.6f", log_prob, score);
}

bool has_nbest_columns(std::string_view line) {
  return line.find(kSeparator) != line.npos;
}

std::optional<NbestEntry> read_nbest_line(std::string_view line) {
  // The text may have anything in it, so the columns after it are read from the end.
  const size_t first = line.find(kSeparator), last = line.rfind(kSeparator);
  if (first == line.npos || last == first) return {};
  const size_t middle = line.rfind(kSeparator, last - 1);
  if (middle == line.npos || middle <= first) return {};
  const size_t begin = first + kSeparator.size(), column = middle + kSeparator.size();
  const std::string_view probability = line.substr(column, last - column);
  if (!probability.starts_with(kLogProb)) return {};
  const auto sentence = parse_number<int64_t>(line.substr(0, first));
  const auto log_prob = parse_number<double>(probability.substr(kLogProb.size()));
  if (!sentence || *sentence < 0 || !log_prob || !std::isfinite(*log_prob)) return {};
  // With collapsed spaces the separators around an empty text share one: "0 ||| ||| logp= …".
  const std::string_view text = line.substr(begin, middle > begin ? middle - begin : 0);
  return NbestEntry{*sentence, text, *log_prob};
}

}  // namespace attn
