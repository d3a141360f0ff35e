#include "app/commands/parse_list.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace attn {
namespace {

constexpr std::string_view kSeparator = " ||| ", kLogProb = "logp= ";

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace

ParseListReader::ParseListReader(const std::filesystem::path& path) : reader_(path) {
  advance();
}

std::optional<int64_t> ParseListReader::lines() const {
  if (is_nbest_list_) return {};
  return reader_.number();
}

ParseListReader::Entry ParseListReader::entry_of(const std::string& line,
                                                 const std::string& place) const {
  std::string_view text = line;
  Entry entry{.sentence = reader_.number() - 1, .log_prob = 0.0, .place = place};
  if (is_nbest_list_) {
    // A word may contain the separator, so the columns after the tree are read from the end.
    const size_t first = text.find(kSeparator), last = text.rfind(kSeparator);
    const size_t middle =
        last == 0 || last == text.npos ? text.npos : text.rfind(kSeparator, last - 1);
    std::optional<int64_t> sentence;
    std::optional<double> log_prob;
    if (first != text.npos && middle != text.npos && first < middle) {
      sentence = number<int64_t>(text.substr(0, first));
      const std::string_view column =
          text.substr(middle + kSeparator.size(), last - middle - kSeparator.size());
      if (column.starts_with(kLogProb)) log_prob = number<double>(column.substr(kLogProb.size()));
    }
    if (!sentence || *sentence < 0 || !log_prob) {
      throw DataError(place +
                      ": expected \"index ||| tree ||| logp= number ||| score\", as printed "
                      "by attn parse --nbest-list");
    }
    entry.sentence = *sentence;
    entry.log_prob = *log_prob;
    text = text.substr(first + kSeparator.size(), middle - first - kSeparator.size());
  }
  std::vector<Tree> trees = parse_trees(text, path().string(), {}, reader_.number());
  if (trees.size() > 1) throw DataError(place + ": several trees; expected one tree per line");
  if (trees.size() == 1 && !tree_words(trees[0]).empty()) entry.tree = std::move(trees[0]);
  return entry;
}

void ParseListReader::advance() {
  const int64_t before = next_ ? next_->sentence : 0;
  std::string line;
  if (!reader_.next(line)) {
    next_.reset();
    return;
  }
  const std::string place = path().string() + ":" + std::to_string(reader_.number());
  if (reader_.cut()) throw DataError(place + ": a line of more than 1 MiB; expected a tree");
  if (reader_.number() == 1) is_nbest_list_ = line.find(kSeparator) != line.npos;
  Entry entry = entry_of(line, place);
  if (entry.sentence < before) {
    throw DataError(place + ": sentence " + std::to_string(entry.sentence) + " after sentence " +
                    std::to_string(before) + "; an n-best list must be sorted by sentence");
  }
  next_ = std::move(entry);
}

ParseList ParseListReader::parses_of(int64_t sentence) {
  ParseList list;
  while (next_ && next_->sentence <= sentence) {
    if (next_->tree) {
      if (list.trees.empty()) list.place = next_->place;
      list.trees.push_back(std::move(*next_->tree));
      list.log_probs.push_back(next_->log_prob);
    }
    advance();
  }
  return list;
}

}  // namespace attn
