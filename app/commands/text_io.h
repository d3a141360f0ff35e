// What commands read and write: text in chunks, for translate and parse, with their progress;
// standard input and text files as lines; outputs, which are a file or standard output.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/experiment/progress_line.h"
#include "data/lines.h"
#include "data/tokenizer.h"

namespace attn {

/// Throws DataError if something that was written to standard output is lost, e.g. on a full disk.
void flush_standard_output();

/// Until commit() the lines are in PATH.partial, where an interrupted command leaves them; an
/// existing file is replaced at the end. Symbolic links are followed; devices and pipes are written
/// directly. One at a time may write a path.
class OutputFile {
 public:
  /// Empty or "-": standard output. Throws DataError if the file cannot be created.
  explicit OutputFile(std::filesystem::path path = {});
  OutputFile(OutputFile&&) = default;
  /// Removes PATH.partial if no line was written.
  ~OutputFile();

  bool is_stdout() const { return path_.empty(); }
  /// Of a file, text is kept in memory until flush().
  std::ostream& stream();
  /// Throws DataError if the output cannot be written.
  void flush();
  /// Flushes and gives the file its name. Throws DataError.
  void commit();
  /// Writes all of the output and commits it. Throws DataError.
  void write_all(std::string_view text);

 private:
  /// The file that is written: PATH.partial, or PATH itself if it is a device or a pipe.
  std::filesystem::path partial() const;

  std::filesystem::path path_;
  bool special_ = false;  ///< see Destination
  bool written_ = false;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
  std::ostringstream text_;  ///< not yet written
};

/// A file of results that a command writes on request: none for an empty path. To be created before
/// the work, so that a path that cannot be written is reported at once. Throws DataError.
std::optional<OutputFile> requested_output(const std::filesystem::path& path);

struct ChunkedInput {
  std::filesystem::path file;  ///< empty or "-": standard input
  int64_t chunk_size = 1024;   ///< lines
  std::string what;            ///< for the progress line: "translating"
};

/// Calls `answer` with chunks of lines of the input, and flushes the output after each call. Within
/// a chunk, lines of similar length share a batch. If the input is a terminal, a chunk is one line.
/// Invalid UTF-8 is replaced by U+FFFD, with a warning, so that output lines stay aligned with the
/// input. Shows a progress line unless the output is a terminal. Throws DataError if the input
/// cannot be read or the output cannot be written.
void for_each_chunk(const ChunkedInput& input, OutputFile& output,
                    const std::function<void(std::span<const std::string>)>& answer);

struct TextFile {
  std::string name;  ///< for messages
  std::vector<std::string> lines;
};

/// Reads a text file; "-" is standard input. `mark`: a byte order mark is scored, as sacreBLEU
/// does. Throws ConfigError for "-" unless `may_be_stdin`, and
/// DataError for lines that are not valid UTF-8.
TextFile read_text(const std::string& path, bool may_be_stdin,
                   ByteOrderMark mark = ByteOrderMark::keep);

/// Throws ConfigError if the output of a command would replace its input.
void require_not_input(const std::filesystem::path& output, const std::filesystem::path& input);

/// Throws DataError naming the first line without a counterpart, if the lengths differ. `kinds`
/// says what the texts are.
void check_same_length(const TextFile& one, const TextFile& other,
                       const std::string& kinds = "hypotheses and references");

/// Prints unknown_note (data/tokenizer.h) to stderr, if any token is unknown.
void print_unknown(const UnknownTokens& count, const std::string& side);

}  // namespace attn
