// Reads treebank files with one sentence per line, as in EVALB, or in other layouts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "eval/metrics/parse_score.h"

namespace attn {

/// Parses each line separately. A malformed line has an error message with source:line:column; the
/// other lines are still read. A blank line is a sentence without a tree.
std::vector<ParseLine> parse_lines(std::span<const std::string> lines, const std::string& source,
                                   const TreeOptions& options = {});

/// Parses a gold file: one sentence per line or, if some line is not a tree on its own, a sequence
/// of trees in any layout. Throws DataError with source:line:column if neither succeeds, and for a
/// tag without a word, "(NN )".
std::vector<ParseLine> gold_parses(std::span<const std::string> lines, const std::string& source);

/// Parses a parser's output for `sentences` sentences, one per line. With a different number of
/// lines it is read as a sequence of trees in any layout, if the number of trees is right. Trailing
/// blank lines of a file that is too long are dropped. The size of the result may still differ from
/// `sentences`.
std::vector<ParseLine> predicted_parses(std::span<const std::string> lines,
                                        const std::string& source, size_t sentences);

}  // namespace attn
