#include "data/parsing/tag_dictionary.h"

#include "base/error.h"
#include "base/parse_number.h"
#include "data/lines.h"
#include "data/word_vocabulary.h"

namespace attn {
namespace {

[[noreturn]] void broken(const std::string& name, int64_t line) {
  throw DataError(name + ":" + std::to_string(line) +
                  ": expected a line of a tag dictionary (word, tab, TAG:count …)");
}

int64_t parse_count(std::string_view text, const std::string& name, int64_t line) {
  const auto count = parse_number<int64_t>(text);
  constexpr int64_t max_count = int64_t{1} << 40;  // whose sums cannot overflow
  if (!count || *count < 1 || *count > max_count) broken(name, line);
  return *count;
}

}  // namespace

void TagDictionary::add(std::span<const std::string> words, std::span<const std::string> leaves) {
  for (size_t i = 0; i < words.size(); ++i) ++counts_[words[i]][leaves[i]];
}

std::vector<std::string> TagDictionary::symbols(std::string_view word, int64_t min_count) const {
  const auto found = counts_.find(word);
  if (found == counts_.end()) return {};
  int64_t seen = 0;
  for (const auto& [symbol, count] : found->second) seen += count;
  std::vector<std::string> symbols;
  if (seen < min_count) return symbols;
  const double rare = rare_share * static_cast<double>(seen);
  for (const auto& [symbol, count] : found->second) {
    if (static_cast<double>(count) >= rare) symbols.push_back(symbol);
  }
  return symbols;
}

std::string TagDictionary::serialized() const {
  std::string text;
  for (const auto& [word, symbols] : counts_) {
    text += word + "\t";
    for (const auto& [symbol, count] : symbols) {
      text += (text.ends_with('\t') ? "" : " ") + symbol + ":" + std::to_string(count);
    }
    text += '\n';
  }
  return text;
}

TagDictionary parse_tag_dictionary(std::string_view text, const std::string& name) {
  TagDictionary dictionary;
  for (int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    const size_t tab = line.find('\t');
    if (tab == 0 || tab == std::string_view::npos) broken(name, number);
    auto& symbols = dictionary.counts_[std::string(line.substr(0, tab))];
    for (const std::string& part : split_words(line.substr(tab + 1))) {
      const size_t colon = part.rfind(':');
      if (colon == 0 || colon == std::string::npos) broken(name, number);
      symbols[part.substr(0, colon)] =
          parse_count(std::string_view(part).substr(colon + 1), name, number);
    }
    if (symbols.empty()) broken(name, number);
  }
  return dictionary;
}

TagDictionary learn_tags(const std::filesystem::path& words, const std::filesystem::path& symbols,
                         TreeForm form, const LabelSet& labels) {
  TagDictionary dictionary;
  LineReader word_lines(words), symbol_lines(symbols);
  std::string word_line, symbol_line;
  while (word_lines.next(word_line) && symbol_lines.next(symbol_line)) {
    if (word_lines.cut() || symbol_lines.cut()) continue;  // dropped from training, too
    std::vector<std::string> leaves;
    for (std::string& text : split_words(symbol_line)) {
      const auto symbol = read_symbol(text, form, labels);
      if (symbol && symbol->kind == TreeSymbol::Kind::leaf) leaves.push_back(std::move(text));
    }
    const std::vector<std::string> line = split_words(word_line);
    if (line.size() != leaves.size()) {
      throw DataError(symbols.string() + ":" + std::to_string(symbol_lines.number()) + ": " +
                      std::to_string(leaves.size()) + " leaves for " + std::to_string(line.size()) +
                      " words");
    }
    dictionary.add(line, leaves);
  }
  return dictionary;
}

}  // namespace attn
