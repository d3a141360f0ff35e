#include "eval/metrics/parse_tables.h"

#include <algorithm>
#include <functional>

namespace attn {
namespace {

std::pair<int64_t, int64_t> range_of_ten(int64_t value) {
  const int64_t last = (value + 9) / 10 * 10;
  return {last == 0 ? 0 : last - 9, last};
}

std::pair<int64_t, int64_t> span_range(int64_t words) {
  if (words <= 5) return {words, words};
  if (words <= 10) return {6, 10};
  return range_of_ten(words);
}

}  // namespace

void ParseTables::add(const ParseBrackets& gold, const ParseBrackets& predicted, int64_t length) {
  BracketTableRow& of_length = lengths_[range_of_ten(length)];
  ++of_length.sentences;
  const auto add_bracket = [&](const ParseBracket& bracket, const BracketCounts& counts) {
    auto label = labels_.find(bracket.label);
    if (label == labels_.end()) label = labels_.try_emplace(std::string(bracket.label)).first;
    label->second += counts;
    spans_[span_range(bracket.end - bracket.start)].counts += counts;
    of_length.counts += counts;
  };
  for (const ParseBracket& bracket : gold.brackets) {
    if (bracket.counts) add_bracket(bracket, {1, 0, bracket.match >= 0, 0});
  }
  for (const ParseBracket& bracket : predicted.brackets) {
    if (bracket.counts) add_bracket(bracket, {0, 1, 0, bracket.match >= 0});
  }
}

std::vector<BracketTableRow> ParseTables::named(const Ranges& ranges) {
  std::vector<BracketTableRow> rows;
  for (const auto& [range, row] : ranges) {
    rows.push_back(row);
    std::string& name = rows.back().name;
    name = std::to_string(range.first);
    if (range.second != range.first) name.append("-").append(std::to_string(range.second));
  }
  return rows;
}

std::vector<BracketTableRow> ParseTables::by_label() const {
  std::vector<BracketTableRow> rows;
  for (const auto& [label, counts] : labels_) rows.push_back({label, 0, counts});
  std::ranges::stable_sort(rows, std::greater<>(),
                           [](const BracketTableRow& row) { return row.counts.gold; });
  return rows;
}

std::vector<BracketTableRow> ParseTables::by_length() const {
  return named(lengths_);
}
std::vector<BracketTableRow> ParseTables::by_span() const {
  return named(spans_);
}

}  // namespace attn
