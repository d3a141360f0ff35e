#include "eval/metrics/ter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/check.h"
#include "base/format.h"
#include "base/unicode.h"

namespace attn {
namespace {

using Words = std::vector<uint32_t>;

// Tercom's limits, and sacreBLEU's on the shifts that are tried.
constexpr int64_t kMaxShiftSize = 10, kMaxShiftDistance = 50, kBeamWidth = 25,
                  kMaxShiftCandidates = 1000;
constexpr int64_t kInfinity = 10'000'000'000'000'000;

enum class Edit : char { none, substitute, insert, erase, unknown };

/// Edit distance near the diagonal, between a changing hypothesis and a reference. Only the cells
/// near the diagonal exist; the others cost kInfinity.
class EditDistance {
 public:
  EditDistance(std::span<const uint32_t> reference, size_t hypothesis) : reference_(reference) {
    const auto rows = static_cast<int64_t>(hypothesis) + 1;
    const auto columns = static_cast<int64_t>(reference.size()) + 1;
    const double ratio =
        hypothesis == 0 ? 1.0
                        : static_cast<double>(reference.size()) / static_cast<double>(hypothesis);
    const auto width = static_cast<int64_t>(
        kBeamWidth < ratio / 2 ? std::ceil(ratio / 2 + kBeamWidth) : kBeamWidth);
    int64_t cells = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const auto diagonal = static_cast<int64_t>(std::floor(static_cast<double>(i) * ratio));
      Row row{.begin = 0, .end = columns, .offset = cells};
      if (i > 0) row.begin = std::max<int64_t>(0, diagonal - width);
      if (i > 0 && i + 1 < rows) row.end = std::min(columns, diagonal + width);
      rows_.push_back(row);
      cells += std::max<int64_t>(0, row.end - row.begin);
    }
    cells_.resize(static_cast<size_t>(cells));
  }

  /// Computes the cells of a hypothesis of the given length.
  int64_t operator()(std::span<const uint32_t> hypothesis) {
    for (int64_t j = 0; j < rows_.front().end; ++j) *find(0, j) = {j, Edit::insert};
    for (int64_t i = 1; i < static_cast<int64_t>(rows_.size()); ++i) {
      const Row& row = rows_[static_cast<size_t>(i)];
      const uint32_t word = hypothesis[static_cast<size_t>(i - 1)];
      for (int64_t j = row.begin; j < row.end; ++j) *find(i, j) = computed(i, j, word);
    }
    return cells_.back().cost;
  }

  /// The edits from the last hypothesis to the reference, in order.
  std::vector<Edit> trace() const {
    std::vector<Edit> edits;
    auto i = static_cast<int64_t>(rows_.size()) - 1;
    for (auto j = static_cast<int64_t>(reference_.size()); i > 0 || j > 0;) {
      const Edit edit = at(i, j).edit;
      edits.push_back(edit);
      if (edit != Edit::insert) --i;
      if (edit != Edit::erase) --j;
    }
    std::ranges::reverse(edits);
    return edits;
  }

 private:
  struct Cell {
    int64_t cost = kInfinity;
    Edit edit = Edit::unknown;
  };
  struct Row {
    int64_t begin, end;  // columns
    int64_t offset;      // place of column `begin` in cells_
  };

  Cell* find(int64_t i, int64_t j) {
    const Row& row = rows_[static_cast<size_t>(i)];
    return &cells_[static_cast<size_t>(row.offset + j - row.begin)];
  }
  Cell at(int64_t i, int64_t j) const {
    const Row& row = rows_[static_cast<size_t>(i)];
    if (j < row.begin || j >= row.end) return {};
    return cells_[static_cast<size_t>(row.offset + j - row.begin)];
  }

  /// Ties prefer substitution, then deletion, then insertion.
  Cell computed(int64_t i, int64_t j, uint32_t word) const {
    if (j == 0) return {at(i - 1, 0).cost + 1, Edit::erase};
    Cell best;
    const auto take = [&](int64_t cost, Edit edit) {
      if (cost < best.cost) best = {cost, edit};
    };
    const bool same = word == reference_[static_cast<size_t>(j - 1)];
    take(at(i - 1, j - 1).cost + (same ? 0 : 1), same ? Edit::none : Edit::substitute);
    take(at(i - 1, j).cost + 1, Edit::erase);
    if (j > rows_[static_cast<size_t>(i)].begin) take(at(i, j - 1).cost + 1, Edit::insert);
    return best;
  }

  std::span<const uint32_t> reference_;
  std::vector<Row> rows_;
  std::vector<Cell> cells_;
};

/// Which words are wrong, and where each reference word belongs in the hypothesis (-1: before it).
struct Alignment {
  std::vector<int64_t> position;  // one per reference word
  std::vector<bool> hypothesis_wrong, reference_wrong;

  explicit Alignment(const std::vector<Edit>& trace) {
    int64_t at = -1;
    for (const Edit edit : trace) {
      const bool wrong = edit != Edit::none;
      if (edit != Edit::insert) {
        ++at;
        hypothesis_wrong.push_back(wrong);
      }
      if (edit == Edit::erase) continue;
      position.push_back(at);
      reference_wrong.push_back(wrong);
    }
  }
};

bool any_of(const std::vector<bool>& flags, int64_t begin, int64_t length) {
  const auto first = flags.begin() + begin;
  return std::find(first, first + length, true) != first + length;
}

/// Moves the `length` words from `start` in front of the word at `target`.
Words shifted(const Words& words, int64_t start, int64_t length, int64_t target) {
  Words out = words;
  const auto begin = out.begin();
  if (target < start) {
    std::rotate(begin + target, begin + start, begin + start + length);
  } else if (target > start + length) {
    std::rotate(begin + start, begin + start + length, begin + target);
  } else {  // within the words themselves: they move by target - start
    const auto end = std::min<int64_t>(length + target, static_cast<int64_t>(words.size()));
    std::rotate(begin + start, begin + start + length, begin + end);
  }
  return out;
}

/// A shift, ranked as Tercom does: by gain, then longest, then earliest source and target.
struct Shift {
  int64_t gain, length, start, target;

  auto rank() const { return std::tuple(gain, length, -start, -target); }
};

/// Searches the shift that reduces the edit distance most.
class ShiftSearch {
 public:
  ShiftSearch(const Words& hypothesis, std::span<const uint32_t> reference, EditDistance& distance)
      : hypothesis_(hypothesis),
        reference_(reference),
        distance_(distance),
        before_(distance(hypothesis)),
        alignment_(distance.trace()) {}

  /// `tried`: candidates tried so far, for the limit.
  std::optional<Shift> best(int64_t& tried) {
    const auto rows = static_cast<int64_t>(hypothesis_.size());
    const auto columns = static_cast<int64_t>(reference_.size());
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = std::max<int64_t>(0, i - kMaxShiftDistance);
           j < std::min(columns, i + kMaxShiftDistance + 1); ++j) {
        const int64_t longest = std::min({kMaxShiftSize, rows - i, columns - j});
        for (int64_t length = 1; length <= longest; ++length) {
          if (hypothesis_[static_cast<size_t>(i + length - 1)] !=
              reference_[static_cast<size_t>(j + length - 1)]) {
            break;
          }
          if (!try_pair(i, j, length, tried)) continue;
          if (tried >= kMaxShiftCandidates) return best_;
        }
      }
    }
    return best_;
  }

 private:
  /// Tries to move hypothesis words to where equal reference words are; false if they stay.
  bool try_pair(int64_t start, int64_t in_reference, int64_t length, int64_t& tried) {
    if (!any_of(alignment_.hypothesis_wrong, start, length)) return false;
    if (!any_of(alignment_.reference_wrong, in_reference, length)) return false;
    const auto position = [&](int64_t j) { return alignment_.position[static_cast<size_t>(j)]; };
    const int64_t now = position(in_reference);
    if (start <= now && now < start + length) return false;
    int64_t previous = -1;
    for (int64_t offset = -1; offset < length; ++offset) {
      const int64_t j = in_reference + offset;
      const int64_t target = j < 0 ? 0 : position(j) + 1;
      if (target == previous) continue;
      previous = target;
      const int64_t after = distance_(shifted(hypothesis_, start, length, target));
      const Shift shift{before_ - after, length, start, target};
      ++tried;
      if (!best_ || shift.rank() > best_->rank()) best_ = shift;
    }
    return true;
  }

  const Words& hypothesis_;
  std::span<const uint32_t> reference_;
  EditDistance& distance_;
  int64_t before_;
  Alignment alignment_;
  std::optional<Shift> best_;
};

Words number_words(const std::string& text, std::unordered_map<std::string, uint32_t>& known) {
  Words numbers;
  for (const std::string_view word : split_whitespace(text)) {
    const auto next = static_cast<uint32_t>(known.size());
    numbers.push_back(known.try_emplace(std::string(word), next).first->second);
  }
  return numbers;
}

}  // namespace

void TerOptions::validate() const {
  require(!asian_support || normalized || no_punct, "asian_support", "true",
          "requires normalized or no_punct");
}

int64_t translation_edits(std::span<const uint32_t> hypothesis,
                          std::span<const uint32_t> reference) {
  if (reference.empty()) return static_cast<int64_t>(hypothesis.size());
  Words words(hypothesis.begin(), hypothesis.end());
  EditDistance distance(reference, words.size());
  int64_t shifts = 0, tried = 0;
  while (true) {
    const auto shift = ShiftSearch(words, reference, distance).best(tried);
    if (tried >= kMaxShiftCandidates || !shift || shift->gain <= 0) break;
    words = shifted(words, shift->start, shift->length, shift->target);
    ++shifts;
  }
  return shifts + distance(words);
}

TerStatistics& TerStatistics::operator+=(const TerStatistics& other) {
  edits += other.edits;
  ref_length += other.ref_length;
  return *this;
}

TerStatistics sentence_statistics(std::string_view hypothesis,
                                  std::span<const std::string> references,
                                  const TerOptions& options) {
  std::unordered_map<std::string, uint32_t> known;
  const Words words = number_words(ter_tokenize(hypothesis, options), known);
  TerStatistics statistics{.edits = static_cast<double>(kInfinity)};
  for (const std::string& line : references) {
    // Twice, as by sacreBLEU; with `normalized`, the second time finds "'s" before a comma.
    const std::string once = ter_tokenize(line, options);
    const Words reference =
        number_words(ter_tokenize(joined(split_whitespace(once)), options), known);
    statistics.edits =
        std::min(statistics.edits, static_cast<double>(translation_edits(words, reference)));
    statistics.ref_length += static_cast<double>(reference.size());
  }
  statistics.ref_length /= static_cast<double>(references.size());
  return statistics;
}

TerScore score_of(const TerStatistics& statistics, const TerOptions& options, int64_t references) {
  const auto& [edits, length] = statistics;
  const double rate = length > 0 ? edits / length : edits > 0 ? 1.0 : 0.0;
  return {statistics, 100 * rate, ter_signature(options, references)};
}

std::string ter_signature(const TerOptions& options, int64_t references) {
  const auto yes = [](bool value) { return value ? "yes" : "no"; };
  return "nrefs:" + std::to_string(references) +
         "|case:" + (options.case_sensitive ? "mixed" : "lc") +
         "|tok:tercom|norm:" + yes(options.normalized) + "|punct:" + yes(!options.no_punct) +
         "|asian:" + yes(options.asian_support) + "|version:attn-" ATTN_VERSION;
}

std::string format_score(const TerScore& score) {
  return "TER|" + score.signature + format(" = %.2f", score.score);
}

}  // namespace attn
