#include "data/corpus_check.h"

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"

namespace attn {
namespace {

bool is_blank(const std::string& line) {
  return std::ranges::all_of(line, is_ascii_space);
}

/// Whether a line is invalid UTF-8. A truncated line may end inside a character.
bool is_broken(const std::string& line, bool cut) {
  const auto at = find_invalid_utf8(line);
  return at && !(cut && *at + 4 > line.size());
}

std::string first_places(const CorpusReport& report, const Dropped& dropped) {
  std::string text;
  for (const auto& place : dropped.first) {
    const auto& path = place.side == Side::source ? report.source : report.target;
    text += (text.empty() ? "" : ", ") + path.string() + ":" + std::to_string(place.line);
  }
  if (dropped.count > static_cast<int64_t>(dropped.first.size())) text += ", …";
  return text;
}

}  // namespace

void Dropped::add(Place place) {
  ++count;
  if (first.size() < max_places) first.push_back(place);
}

bool CorpusReport::note(PairProblem problem, int64_t line, bool in_source, bool in_target) {
  if (in_source || in_target) {
    (*this)[problem].add({line, in_source ? Side::source : Side::target});
  }
  return in_source || in_target;
}

int64_t CorpusReport::kept() const {
  int64_t left = lines;
  for (const auto& one : dropped) left -= one.count;
  return left;
}

std::vector<std::string> CorpusReport::text() const {
  std::vector<std::string> out;
  out.push_back(source.string() + " and " + target.string() + ": " + std::to_string(lines) +
                " pairs, " + std::to_string(kept()) + " used");
  for (const auto& [problem, name] : EnumNames<PairProblem>::values) {
    const Dropped& one = (*this)[problem];
    if (one.count == 0) continue;
    std::string line = "dropped: " + std::to_string(one.count) +
                       (one.count == 1 ? " pair with " : " pairs with ") + std::string(name);
    if (problem == PairProblem::overlong && max_length > 0) {
      line += " (more than " + std::to_string(max_length) + " tokens, data.max_length)";
    }
    out.push_back(line + ": " + first_places(*this, one));
  }
  return out;
}

PairReader::PairReader(const std::filesystem::path& source, const std::filesystem::path& target)
    : source_(source), target_(target) {}

bool PairReader::next(TextPair& pair) {
  const bool has_source = source_.next(pair.source);
  const bool has_target = target_.next(pair.target);
  if (has_source != has_target) report_unequal(!has_source);
  pair.line = source_.number();
  pair.source_cut = source_.cut();
  pair.target_cut = target_.cut();
  return has_source;
}

void PairReader::require_same_hashes(const PairHashes& keyed) const {
  require_same_hash(source_.path(), keyed[0], source_.hash());
  require_same_hash(target_.path(), keyed[1], target_.hash());
}

void PairReader::report_unequal(bool source_ended) {
  LineReader& longer = source_ended ? target_ : source_;
  for (std::string line; longer.next(line);) continue;
  throw DataError("'" + source_.path().string() + "' has " + std::to_string(source_.number()) +
                  " lines and '" + target_.path().string() + "' has " +
                  std::to_string(target_.number()) +
                  ": the two files must be aligned line by line");
}

bool record_problem(const TextPair& pair, CorpusReport& report) {
  return report.note(PairProblem::invalid_utf8, pair.line, is_broken(pair.source, pair.source_cut),
                     is_broken(pair.target, pair.target_cut)) ||
         report.note(PairProblem::empty, pair.line, is_blank(pair.source), is_blank(pair.target)) ||
         report.note(PairProblem::overlong, pair.line, pair.source_cut, pair.target_cut);
}

CorpusReport check_texts(const std::filesystem::path& source, const std::filesystem::path& target) {
  CorpusReport report;
  report.source = source;
  report.target = target;
  PairReader reader(source, target);
  for (TextPair pair; reader.next(pair);) {
    ++report.lines;
    record_problem(pair, report);
  }
  if (report.lines == 0) throw DataError("'" + source.string() + "' is empty");
  const Dropped& broken = report[PairProblem::invalid_utf8];
  if (broken.count * 100 > report.lines) {
    throw DataError(std::to_string(broken.count) + " of " + std::to_string(report.lines) +
                    " pairs are not valid UTF-8, the first at " + first_places(report, broken) +
                    ": convert the text, for example with iconv");
  }
  if (report.kept() == 0) {
    throw DataError("'" + source.string() + "' and '" + target.string() +
                    "' have no pair with text on both sides");
  }
  return report;
}

}  // namespace attn
