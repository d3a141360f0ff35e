// Command-line flags of translate and parse: where they read and write, and common search options.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attn {

struct SearchFlags {
  std::vector<std::filesystem::path> runs;  ///< several: an ensemble
  std::vector<std::string> settings;        ///< of --set
  std::optional<int64_t> beam, nbest;
  std::optional<double> alpha;
  std::string tag;                      ///< of the sentences (data.tag); empty: none
  std::filesystem::path input, output;  ///< empty: standard input and output
  bool scores = false;
  bool nbest_list = false;
  int64_t chunk_size = 1024;

  /// The settings, with those of the flags: {"beam=5", "search.nbest=4"}.
  std::vector<std::string> assignments() const;
};

/// Options of `command` that write to `flags`, which must outlive it. `example`: of an assignment.
/// Returns the flag --nbest-list.
CLI::Option* add_search_flags(CLI::App* command, SearchFlags& flags, const std::string& example);

}  // namespace attn
