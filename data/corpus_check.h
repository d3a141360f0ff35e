// Validation of parallel text: invalid pairs are dropped and reported.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "data/lines.h"

namespace attn {

enum class Side { source, target };

/// Reason for dropping a pair; if several apply, the first.
enum class PairProblem { invalid_utf8, empty, overlong };

template <>
struct EnumNames<PairProblem> {
  static constexpr auto values = std::to_array<EnumName<PairProblem>>({
      {PairProblem::invalid_utf8, "invalid UTF-8"},
      {PairProblem::empty, "an empty line"},
      {PairProblem::overlong, "an overlong line"},
  });
};

/// Pairs dropped for one reason: their number, and the places of the first few.
struct Dropped {
  struct Place {
    int64_t line;
    Side side;
    bool operator==(const Place&) const = default;
  };
  static constexpr size_t max_places = 3;

  int64_t count = 0;
  std::vector<Place> first;

  void add(Place place);
  bool operator==(const Dropped&) const = default;
};

/// Report on a parallel text.
struct CorpusReport {
  std::filesystem::path source;
  std::filesystem::path target;
  /// Lines per side.
  int64_t lines = 0;
  /// The length limit in tokens, EOS included; 0: none.
  int64_t max_length = 0;
  std::array<Dropped, 3> dropped;

  Dropped& operator[](PairProblem problem) { return dropped[static_cast<size_t>(problem)]; }
  const Dropped& operator[](PairProblem problem) const {
    return dropped[static_cast<size_t>(problem)];
  }
  /// Adds a pair with a problem in one or both sides; returns whether there is one.
  bool note(PairProblem problem, int64_t line, bool in_source, bool in_target);
  /// Pairs that are used.
  int64_t kept() const;
  /// For the log: one line with counts, and one per reason with the first places.
  std::vector<std::string> text() const;
  bool operator==(const CorpusReport&) const = default;
};

/// A pair of lines as in the files.
struct TextPair {
  std::string source;
  std::string target;
  int64_t line = 0;
  /// A side is longer than LineReader::max_bytes.
  bool source_cut = false;
  bool target_cut = false;
};

/// hash_file of source and target.
using PairHashes = std::array<uint64_t, 2>;

/// Reads two texts in parallel, line by line.
class PairReader {
 public:
  /// Throws DataError when a file cannot be opened.
  PairReader(const std::filesystem::path& source, const std::filesystem::path& target);
  /// Reads the next pair; false at the end of both texts. Throws DataError with both numbers of
  /// lines if one text ends before the other.
  bool next(TextPair& pair);
  /// Throws DataError if a side has changed since it was hashed.
  void require_same_hashes(const PairHashes& keyed) const;

 private:
  [[noreturn]] void report_unequal(bool source_ended);

  LineReader source_;
  LineReader target_;
};

/// Checks encoding, blank lines and extreme length of a pair. If there is a problem, adds it to the
/// report and returns true.
bool record_problem(const TextPair& pair, CorpusReport& report);

/// Checks both texts. Throws DataError if the numbers of lines differ, if no pair is usable, or if
/// more than 1 % of the pairs are not UTF-8 (probably a wrong encoding).
CorpusReport check_texts(const std::filesystem::path& source, const std::filesystem::path& target);

}  // namespace attn
