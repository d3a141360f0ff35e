// Treebank files, one sentence per line as in EVALB, or in other layouts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "eval/metrics/parse_score.h"

namespace attn {

/// Each line for itself: one that is no tree says why, with source:line:column, and the others are
/// read. A blank line is a sentence without a tree.
std::vector<ParseLine> parse_lines(std::span<const std::string> lines, const std::string& source);

/// A gold file: a sentence a line, or, if some line is no tree by itself, one tree after the other
/// in any layout. Throws DataError with source:line:column where neither can be read.
std::vector<ParseLine> gold_parses(std::span<const std::string> lines, const std::string& source);

/// A parser's output for `sentences` sentences: a sentence a line; if there are more or fewer lines
/// than that, one tree after the other in any layout, provided that their number is right. Blank
/// lines at the end of a file that is too long are left out. What is returned may still have
/// another size than `sentences`.
std::vector<ParseLine> predicted_parses(std::span<const std::string> lines,
                                        const std::string& source, size_t sentences);

}  // namespace attn
