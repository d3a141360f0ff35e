#include "data/parsing/parse_list.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "data/lines.h"
#include "data/nbest_list.h"

namespace attn {
namespace {

// A larger gap in an n-best list is an error, so that an index is no loop of its size.
constexpr int64_t kMaxMissing = 100'000;

bool is_unfinished(std::string_view line) {
  return std::ranges::count(line, '(') > std::ranges::count(line, ')');
}

}  // namespace

ParseListReader::ParseListReader(const std::filesystem::path& path) : reader_(path) {
  advance();
}

std::optional<int64_t> ParseListReader::lines() const {
  if (is_nbest_list_) return {};
  return reader_.number();
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
  if (reader_.number() == 1) is_nbest_list_ = has_nbest_columns(line);
  Entry entry{.sentence = reader_.number() - 1, .place = place};
  std::string_view text = line;
  if (is_nbest_list_) {
    const auto read = read_nbest_line(line);
    if (!read) {
      throw DataError(place +
                      ": expected \"index ||| tree ||| logp= number ||| score\", as printed by "
                      "attn parse --nbest-list");
    }
    if (read->sentence < before || read->sentence - before > kMaxMissing) {
      throw DataError(place + ": sentence " + std::to_string(read->sentence) + " after sentence " +
                      std::to_string(before) +
                      "; an n-best list must be sorted by sentence, without large gaps");
    }
    entry.sentence = read->sentence;
    entry.log_prob = read->log_prob;
    text = read->text;
  }
  if (is_unfinished(text)) {
    throw DataError(place + ": the tree does not end on this line; expected one tree per line");
  }
  std::vector<Tree> trees = parse_trees(text, path().string(), {}, reader_.number());
  if (trees.size() > 1) throw DataError(place + ": several trees; expected one tree per line");
  if (trees.size() == 1 && !tree_words(trees[0]).empty()) entry.tree = std::move(trees[0]);
  next_ = std::move(entry);
}

ParseList ParseListReader::parses_of(int64_t sentence) {
  ParseList list;
  while (next_ && next_->sentence <= sentence) {
    if (next_->tree) {
      list.trees.push_back(std::move(*next_->tree));
      list.log_probs.push_back(next_->log_prob);
      list.places.push_back(std::move(next_->place));
    }
    advance();
  }
  return list;
}

std::string kept_text(int64_t kept, int64_t sentences) {
  const double share = 100.0 * static_cast<double>(kept) / std::max(1.0, double(sentences));
  return format("kept %ld of %ld sentences (%.1f %%)", kept, sentences, share);
}

void require_same_lines(std::span<const ParseListReader> readers, int64_t sentences) {
  std::string counts;
  bool differ = false;
  for (const ParseListReader& reader : readers) {
    const auto lines = reader.lines();
    differ |= lines && *lines != sentences;
    counts += (counts.empty() ? "" : ", ") + reader.path().string() + " " +
              (lines ? std::to_string(*lines) : "at most " + std::to_string(sentences));
  }
  if (differ) {
    throw DataError("the files have different numbers of lines (" + counts +
                    "); give parses of the same sentences");
  }
}

void require_same_words(std::span<const ParseList> lists) {
  const std::vector<std::string> words = tree_words(lists.front().trees.front());
  for (const ParseList& list : lists) {
    for (size_t i = 0; i < list.trees.size(); ++i) {
      if (tree_words(list.trees[i]) == words) continue;
      throw DataError(list.places[i] + ": different words than " + lists.front().places.front() +
                      "; give parses of the same sentences");
    }
  }
}

int64_t for_each_sentence(std::span<const std::string> files,
                          const std::function<void(int64_t, std::vector<ParseList>)>& use) {
  std::vector<ParseListReader> readers;
  for (const std::string& file : files) readers.emplace_back(file);
  int64_t sentence = 0;
  for (; !std::ranges::all_of(readers, &ParseListReader::at_end); ++sentence) {
    std::vector<ParseList> lists;
    for (ParseListReader& reader : readers) {
      ParseList list = reader.parses_of(sentence);
      if (!list.trees.empty()) lists.push_back(std::move(list));
    }
    use(sentence, std::move(lists));
  }
  require_same_lines(readers, sentence);
  if (sentence == 0) throw DataError(files.front() + ": empty file; expected trees");
  return sentence;
}

}  // namespace attn
