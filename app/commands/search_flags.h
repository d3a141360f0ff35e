// Command-line flags of translate and parse: where they read and write, and common search options.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "app/experiment/checkpoint.h"
#include "app/machine/context.h"
#include "data/tokenizer.h"

namespace attn {

struct SearchFlags {
  std::vector<std::filesystem::path> runs;  ///< several: an ensemble
  std::vector<Assignment> settings;         ///< of --set
  std::optional<int64_t> beam, nbest;
  std::optional<double> alpha;
  std::string tag;                      ///< tag of the sentences (data.tag); empty: none
  std::filesystem::path input, output;  ///< empty: standard input and output
  bool scores = false;
  bool nbest_list = false;
  int64_t chunk_size = 1024;

  /// The settings, with those of the flags: beam=5, search.nbest=4.
  std::vector<Assignment> assignments() const;
};

/// Options of `command` that write to `flags`, which must outlive it. `example` is an example of an
/// assignment. Returns the flag --nbest-list.
CLI::Option* add_search_flags(CLI::App* command, SearchFlags& flags, const std::string& example);

/// Loads the models for search, with the tag of the sentences. Throws ConfigError for models of a
/// different task.
LoadedEnsemble load_to_search(const SearchFlags& flags, Task task, const Context& context);

/// Prints unknown_note (data/tokenizer.h) to stderr, if any token is unknown.
void print_unknown(const UnknownTokens& count, const std::string& side);

/// Prints how many outputs end at the length limit, if any. `positions`: whether the model's
/// positions limit the length, too.
void print_unfinished(int64_t unfinished, int64_t all, const std::string& noun, bool positions);

/// "3 lines (first: line 17) were longer than ", of what was truncated. `first`: from 1.
std::string longer_lines(const std::string& noun, int64_t count, int64_t first);

/// An output of search for the sentence of a line (from 1).
struct OutputLine {
  size_t line = 0;
  std::string text;
  double log_prob = 0.0, score = 0.0;  ///< -inf: padding, since search found fewer than nbest
};
/// Prints it: as an entry of an n-best list, without padding; with its scores; or the text alone.
void print_output(const SearchFlags& flags, const OutputLine& output, std::ostream& out);

}  // namespace attn
