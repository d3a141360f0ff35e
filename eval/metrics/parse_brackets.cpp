#include "eval/metrics/parse_brackets.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace attn {
namespace {

std::string_view category(std::string_view label) {
  return label.substr(0, label.find_first_of("-="));
}

bool is_deleted(std::string_view label, const EvalbParameters& parameters) {
  return std::ranges::any_of(parameters.delete_labels, [&](const std::string& deleted) {
    return parameters.same_label(label, deleted);
  });
}

class BracketReader {
 public:
  explicit BracketReader(const EvalbParameters& parameters) : parameters_(parameters) {}

  void read(const Tree& tree) {
    if (tree.is_leaf()) {
      read_word({tree.word, tree.label});
      return;
    }
    const int64_t index = static_cast<int64_t>(result_.brackets.size());
    result_.brackets.push_back({.start = position(), .label = category(tree.label)});
    open_.push_back(index);
    for (const Tree& child : tree.children) read(child);
    open_.pop_back();
    result_.brackets[static_cast<size_t>(index)].end = position();
  }

  ParseBrackets take() { return std::move(result_); }

 private:
  int64_t position() const { return static_cast<int64_t>(result_.words.size()); }

  void read_word(const TaggedWord& word) {
    if (!parameters_.delete_labels_for_length.contains(word.tag)) ++result_.length;
    const bool may_be_quote = word.word == "'" || word.word == "\"" || word.word == "/";
    if (may_be_quote && parameters_.quote_labels.contains(word.tag)) {
      result_.quotes.push_back(
          {word, position(), static_cast<int64_t>(result_.brackets.size()), open_});
    }
    // EQ_LABEL does not apply to tags here, only to brackets.
    if (!parameters_.delete_labels.contains(word.tag)) result_.words.push_back(word);
  }

  const EvalbParameters& parameters_;
  ParseBrackets result_;
  std::vector<int64_t> open_;
};

void mark_counting(ParseBrackets& parse, const EvalbParameters& parameters) {
  for (ParseBracket& bracket : parse.brackets) {
    bracket.counts = bracket.start != bracket.end && !is_deleted(bracket.label, parameters);
  }
}

/// Restores the deleted quote `number` as a word.
void put_back(ParseBrackets& parse, size_t number) {
  const ParseQuote& quote = parse.quotes[number];
  parse.words.insert(parse.words.begin() + quote.index, quote.word);
  for (size_t i = static_cast<size_t>(quote.brackets_before); i < parse.brackets.size(); ++i) {
    ++parse.brackets[i].start;
    ++parse.brackets[i].end;
  }
  for (const int64_t i : quote.open) ++parse.brackets[static_cast<size_t>(i)].end;
  for (size_t i = number; i < parse.quotes.size(); ++i) ++parse.quotes[i].index;
}

bool starts_before(const ParseQuote& quote, int64_t index) {
  return quote.index < index;
}

}  // namespace

int64_t ParseBrackets::counting() const {
  return std::ranges::count_if(brackets, [](const ParseBracket& b) { return b.counts; });
}

ParseBrackets parse_brackets(std::span<const Tree> trees, const EvalbParameters& parameters) {
  BracketReader reader(parameters);
  for (const Tree& tree : trees) reader.read(tree);
  ParseBrackets result = reader.take();
  mark_counting(result, parameters);
  return result;
}

void restore_quotes(ParseBrackets& gold, ParseBrackets& predicted,
                    const EvalbParameters& parameters) {
  const auto deleted = [&](const ParseQuote& quote) {
    return parameters.delete_labels.contains(quote.word.tag);
  };
  for (size_t p = 0; p < predicted.quotes.size(); ++p) {
    // Restoring a word also moves the quote itself; compare with its previous index.
    const int64_t index = predicted.quotes[p].index;
    const auto first =
        std::lower_bound(gold.quotes.begin(), gold.quotes.end(), index, starts_before);
    for (size_t g = static_cast<size_t>(first - gold.quotes.begin());
         g < gold.quotes.size() && gold.quotes[g].index == index; ++g) {
      if (deleted(gold.quotes[g]) && !deleted(predicted.quotes[p])) {
        put_back(gold, g);
      } else if (deleted(predicted.quotes[p]) && !deleted(gold.quotes[g])) {
        put_back(predicted, p);
      }
    }
  }
  mark_counting(gold, parameters);
  mark_counting(predicted, parameters);
}

int64_t match_brackets(ParseBrackets& gold, ParseBrackets& predicted,
                       const EvalbParameters& parameters) {
  const auto span = [](const ParseBracket& b) { return std::tuple(b.start, b.end); };
  // Predicted brackets by span; within a span in their original order.
  std::vector<size_t> order(predicted.brackets.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto span_of = [&](size_t i) { return span(predicted.brackets[i]); };
  std::ranges::stable_sort(order, {}, span_of);

  int64_t matched = 0;
  for (size_t g = 0; g < gold.brackets.size(); ++g) {
    ParseBracket& of_gold = gold.brackets[g];
    if (!of_gold.counts) continue;
    for (const size_t p : std::ranges::equal_range(order, span(of_gold), {}, span_of)) {
      ParseBracket& found = predicted.brackets[p];
      if (!found.counts || found.match >= 0) continue;
      if (parameters.labelled && !parameters.same_label(of_gold.label, found.label)) continue;
      of_gold.match = static_cast<int64_t>(p);
      found.match = static_cast<int64_t>(g);
      ++matched;
      break;
    }
  }
  return matched;
}

int64_t count_crossing(const ParseBrackets& gold, const ParseBrackets& predicted) {
  // A bracket [s, e) is crossed if a gold one starts inside and ends after it, or ends inside and
  // starts before it. It suffices to know the farthest end per start and vice versa.
  const size_t places = std::max(gold.words.size(), predicted.words.size()) + 1;
  std::vector<int64_t> farthest_end(places, -1);
  std::vector<int64_t> farthest_start(places, std::numeric_limits<int64_t>::max());
  for (const ParseBracket& bracket : gold.brackets) {
    if (!bracket.counts) continue;
    int64_t& end = farthest_end[static_cast<size_t>(bracket.start)];
    int64_t& start = farthest_start[static_cast<size_t>(bracket.end)];
    end = std::max(end, bracket.end);
    start = std::min(start, bracket.start);
  }
  const auto crosses = [&](const ParseBracket& bracket) {
    if (!bracket.counts) return false;
    for (int64_t i = bracket.start + 1; i < bracket.end; ++i) {
      const size_t place = static_cast<size_t>(i);
      if (farthest_end[place] > bracket.end || farthest_start[place] < bracket.start) return true;
    }
    return false;
  };
  return std::ranges::count_if(predicted.brackets, crosses);
}

}  // namespace attn
