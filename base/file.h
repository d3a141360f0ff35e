// Reading with a size limit, memory mapping, and atomic writes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Throws DataError for a directory, pipe or device, for files that are read several times. A
/// missing file is not an error here.
void require_regular_file(const std::filesystem::path& path);

/// Passes the file to `take` in pieces, to its end, also of pipes and growing files. Throws as
/// read_file.
void read_pieces(const std::filesystem::path& path, int64_t limit,
                 const std::function<void(std::string_view)>& take);

/// Reads a whole file. Throws DataError if it cannot be read or is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, int64_t limit = int64_t{1} << 30);

/// Part of the names of temporary files, followed by 16 random digits.
inline constexpr std::string_view temporary_mark = ".tmp-";
/// temporary_mark and the digits (process ids are not unique across machines and containers).
std::string temporary_suffix();

/// Creates an empty file next to `path`, with a temporary_suffix. Throws DataError.
std::filesystem::path make_temporary_file(const std::filesystem::path& path);

/// Removes the temporary files and directories in a folder that processes which were killed have
/// left: those last written at least `age` ago, as none that is still being written. A missing
/// folder has none. Throws DataError.
void remove_leftovers(const std::filesystem::path& folder, std::chrono::seconds age);

/// Syncs the content of a file, unless its file system does not support that. Throws DataError that
/// names `shown`.
void sync_file(const std::filesystem::path& path, const std::filesystem::path& shown);

/// Renames a temporary file, whose content is synced, to its final name, which then lasts, too.
/// Throws DataError.
void commit_file(const std::filesystem::path& temporary, const std::filesystem::path& path);

/// Creates a directory and its parents, unless it exists, so that they last. Throws DataError.
void make_directories(const std::filesystem::path& path);

/// Where a path that a user gives is written.
struct Destination {
  std::filesystem::path path;  ///< symbolic links are followed, so that they remain links
  /// Exists and is neither a file nor a directory, e.g. /dev/null or a pipe: to be written
  /// directly, since a rename would replace it by a file.
  bool special = false;
};

/// Throws DataError for a cycle of symbolic links.
Destination destination_of(const std::filesystem::path& path);

/// A temporary file that `commit` renames to its final name. Without commit it is removed.
class NewFile {
 public:
  /// Throws DataError if the file cannot be created.
  explicit NewFile(std::filesystem::path path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  std::ostream& stream() { return stream_; }
  /// Throws DataError with the system's error message if a write has failed.
  void check();
  /// Syncs and renames the file, unless one of this name has the same content, which others may be
  /// reading on a network file system. Throws DataError with the system's error message if a write
  /// has failed.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::ofstream stream_;
};

/// Writes a NewFile, so that readers see the old or the new file. A symbolic link of this name is
/// replaced, not followed, since a directory may come from a stranger. On errors throws DataError
/// with the system's error message and leaves the old file unchanged.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// The deleter of a memory map.
struct Unmap {
  size_t size = 0;
  void operator()(const std::byte* start) const;
};

/// A read-only memory map. Empty files map to an empty span.
class MappedFile {
 public:
  MappedFile() = default;
  /// Throws DataError if the file cannot be opened or mapped.
  explicit MappedFile(const std::filesystem::path& path);
  std::span<const std::byte> bytes() const {
    return {data_.get(), data_ ? data_.get_deleter().size : 0};
  }

 private:
  std::unique_ptr<const std::byte, Unmap> data_;
};

/// Creates a directory atomically. Files are written under `path()`; `commit` syncs them and
/// renames the directory; without a commit the destructor removes them. An existing directory is
/// replaced by exchanging the two in one system call. On file systems without it there are two
/// renames; if the process is killed in between, the old directory keeps a temporary name.
class AtomicDirectory {
 public:
  /// What to do if the final name exists.
  enum class Existing { refuse, replace };

  /// Creates `final_path` + a temporary suffix. Throws DataError if that fails or, with `refuse`,
  /// if `final_path` exists.
  explicit AtomicDirectory(std::filesystem::path final_path, Existing existing = Existing::refuse);
  ~AtomicDirectory();
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;
  const std::filesystem::path& path() const { return temporary_; }
  /// Throws DataError with the system's error message. `final_path` is then unchanged, unless only
  /// the last step failed, syncing its parent: then the new directory is in place.
  void commit();

 private:
  std::filesystem::path final_;
  Existing existing_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

/// The system's directory for temporary files ($TMPDIR). Throws DataError if it does not exist.
std::filesystem::path temporary_root();

/// A new directory in the system's temporary one, removed by the destructor.
class ScratchDirectory {
 public:
  /// Its name is `name` and six random characters. Throws DataError.
  explicit ScratchDirectory(const std::string& name);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace attn
