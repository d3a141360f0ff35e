// Files: read with a limit, mapped, and written whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The whole file; throws DataError when it cannot be read or is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, int64_t limit = int64_t{1} << 30);

/// The file's lines without their ends ("\n" or "\r\n") and without a byte order mark at the start;
/// a last line without an end counts. Throws DataError.
std::vector<std::string> read_lines(const std::filesystem::path& path,
                                    int64_t limit = int64_t{1} << 34);

/// What a name gets while its content is incomplete: ".tmp-" and 16 random digits, since processes
/// of other machines and containers, with the same process ids, write to the same folders.
std::string temporary_suffix();

/// Makes an empty file of its own, with a temporary_suffix, beside `path`. Throws DataError.
std::filesystem::path make_temporary_file(const std::filesystem::path& path);

/// Writes beside the target under a temporary name, syncs and renames: readers see the old file or
/// the new one. Throws DataError (with the system's reason: disk full, permission …) and then
/// leaves the old file as it was.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// A read-only memory map. Empty files map to an empty span.
class MappedFile {
 public:
  MappedFile() = default;
  /// Throws DataError when the file cannot be opened or mapped.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// A directory that appears under its name whole or not at all: files are written under `path()`,
/// and `commit` syncs them and renames the directory. Without a commit the destructor removes what
/// was written. A directory that is replaced changes places with the new one in one system call;
/// where the file system has none for that, a kill between two renames leaves what
/// `interrupted_replacement` finds.
class AtomicDirectory {
 public:
  /// What becomes of a directory that has the final name already.
  enum class Existing { refuse, replace };

  /// Makes `final_path` + a temporary suffix; throws DataError when that cannot be made or, with
  /// `refuse`, `final_path` exists.
  explicit AtomicDirectory(std::filesystem::path final_path, Existing existing = Existing::refuse);
  ~AtomicDirectory();
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;
  const std::filesystem::path& path() const { return temporary_; }
  /// Throws DataError with the system's reason; the final name then means what it meant before.
  void commit();

 private:
  std::filesystem::path final_;
  Existing existing_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

/// Where `final_path` is missing because a commit that replaces it was killed between its two
/// renames: the name under which the old directory lies. The next commit removes it.
std::optional<std::filesystem::path> interrupted_replacement(
    const std::filesystem::path& final_path);

}  // namespace attn
