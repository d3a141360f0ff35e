// Shared by `attn score bleu` and `chrf`: reading files, and printing bootstrap results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_config.h"
#include "eval/metrics/bootstrap.h"

namespace attn {

struct TextFile {
  std::string name;  ///< for messages
  std::vector<std::string> lines;
};

/// Hypotheses and their references, line by line.
struct ScoredText {
  TextFile hypotheses;
  std::vector<std::vector<std::string>> references;
};

/// Reads a file of lines; "-" is standard input, where that is allowed. Throws ConfigError for a
/// "-" that is not, and DataError for lines that are not UTF-8.
TextFile read_text(const std::string& path, bool may_be_stdin);

/// Throws DataError naming the first line that has no counterpart.
void check_same_length(const TextFile& hypotheses, const TextFile& reference);

/// Reads all files. Throws as read_text and check_same_length, and for an empty text.
ScoredText read_scored_text(const std::string& hypothesis,
                            const std::vector<std::string>& references);

/// Adds intervals and, against a baseline, difference and p-value to a score in JSON.
void add_resampled(Json& json, const PairedBootstrap& resampled);

/// The same as text.
void print_resampled(const PairedBootstrap& resampled);

}  // namespace attn
