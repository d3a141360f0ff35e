// Inputs of commands: in chunks, for translate and parse, with their progress; standard input and
// text files as lines.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <span>
#include <string>
#include <vector>

#include "app/commands/output_file.h"
#include "app/experiment/progress_line.h"
#include "base/file.h"

namespace attn {

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

/// Reads the next line of a stream, without the line ending ("\n" or "\r\n"). Returns false at the
/// end of the input.
bool next_line(std::istream& in, std::string& line);

/// Whether reading ended with an error. `in` is a file or std::cin.
bool has_failed(const std::istream& in);

/// next_line for standard input, with begin_text (base/file.h) for line `number` 1. Throws
/// DataError if it cannot be read.
bool next_stdin_line(std::string& line, int64_t number, ByteOrderMark mark = ByteOrderMark::drop);

/// Reads all lines in the same way.
std::vector<std::string> read_stdin_lines(ByteOrderMark mark = ByteOrderMark::drop);

struct TextFile {
  std::string name;  ///< for messages
  std::vector<std::string> lines;
};

/// Reads a text file; "-" is standard input. `mark`: a byte order mark is scored, as sacreBLEU
/// does. Throws ConfigError for "-" unless `may_be_stdin`, and
/// DataError for lines that are not valid UTF-8.
TextFile read_text(const std::string& path, bool may_be_stdin,
                   ByteOrderMark mark = ByteOrderMark::keep);

/// Throws DataError naming the first line without a counterpart, if the lengths differ. `kinds`
/// says what the texts are.
void check_same_length(const TextFile& one, const TextFile& other,
                       const std::string& kinds = "hypotheses and references");

}  // namespace attn
