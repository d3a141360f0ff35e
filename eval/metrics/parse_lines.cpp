#include "eval/metrics/parse_lines.h"

#include <algorithm>

#include "base/error.h"

namespace attn {
namespace {

std::vector<ParseLine> one_tree_each(std::span<const std::string> lines, const std::string& source,
                                     const TreeOptions& options) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  std::vector<ParseLine> result;
  for (Tree& tree : parse_trees(text, source, options)) {
    result.emplace_back();
    result.back().trees.push_back(std::move(tree));
  }
  return result;
}

bool is_blank(const ParseLine& line) {
  return line.trees.empty() && line.malformed.empty();
}

}  // namespace

std::vector<ParseLine> parse_lines(std::span<const std::string> lines, const std::string& source,
                                   const TreeOptions& options) {
  std::vector<ParseLine> result(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    try {
      result[i].trees = parse_trees(lines[i], source, options, static_cast<int64_t>(i) + 1);
    } catch (const DataError& error) {
      result[i].malformed = error.what();
    }
  }
  return result;
}

std::vector<ParseLine> gold_parses(std::span<const std::string> lines, const std::string& source) {
  const TreeOptions options = {.require_words = true};
  std::vector<ParseLine> result = parse_lines(lines, source, options);
  const auto malformed = [](const ParseLine& line) { return !line.malformed.empty(); };
  if (std::ranges::any_of(result, malformed)) return one_tree_each(lines, source, options);
  // The last sentence of a gold file is never empty.
  while (!result.empty() && is_blank(result.back())) result.pop_back();
  return result;
}

std::vector<ParseLine> predicted_parses(std::span<const std::string> lines,
                                        const std::string& source, size_t sentences) {
  std::vector<ParseLine> result = parse_lines(lines, source);
  while (result.size() > sentences && is_blank(result.back())) result.pop_back();
  if (result.size() == sentences) return result;
  try {
    std::vector<ParseLine> trees = one_tree_each(lines, source, {});
    if (trees.size() == sentences) return trees;
  } catch (const DataError&) {
    // Not that layout, either: the caller reports the number of lines.
  }
  return result;
}

}  // namespace attn
