// Everything is synced before it is renamed to its final name: a rename alone survives a killed
// process, but not a power failure.
#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/format.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

/// An open file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  bool open() const { return number_ >= 0; }

 private:
  int number_;
};

int open_retrying(const fs::path& path, int flags, mode_t mode = 0) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  return number;
}

fs::path parent_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

/// Makes a rename inside the directory durable. A directory without read permission cannot be
/// synced, which is not an error.
void sync_parent(const fs::path& path) {
  const Descriptor directory(open_retrying(parent_of(path), O_RDONLY));
  if (!directory.open()) return;
  if (::fsync(directory.get()) != 0 && errno != EINVAL) throw_file_error("write", path, errno);
}

/// Suffix of a replaced directory's temporary name between the two renames of a commit.
constexpr std::string_view replaced_mark = ".old";

/// Renames with flags; returns false if the system or file system does not support them. Throws
/// DataError naming `path` for other errors.
bool rename_with([[maybe_unused]] const fs::path& from, [[maybe_unused]] const fs::path& to,
                 [[maybe_unused]] unsigned flags, [[maybe_unused]] const char* what) {
#ifdef RENAME_EXCHANGE
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) throw_file_error(what, to, errno);
#endif
  return false;
}

#ifdef RENAME_EXCHANGE
constexpr unsigned exchange_flag = RENAME_EXCHANGE, new_flag = RENAME_NOREPLACE;
#else
constexpr unsigned exchange_flag = 0, new_flag = 0;
#endif

bool is_taken(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

/// Renames `directory` to `name`, which must not exist.
void rename_new(const fs::path& directory, const fs::path& name) {
  if (rename_with(directory, name, new_flag, "make")) return;
  // rename() would silently replace an empty directory that was created meanwhile.
  if (is_taken(name)) throw_file_error("make", name, EEXIST);
  if (::rename(directory.c_str(), name.c_str()) != 0) throw_file_error("write", name, errno);
}

/// Renames `directory` to `name`. Returns the new name of the directory that had it, if any.
std::optional<fs::path> rename_over(const fs::path& directory, const fs::path& name) {
  if (!is_taken(name)) {
    rename_new(directory, name);
    return {};
  }
  fs::path old = directory;
  if (!rename_with(directory, name, exchange_flag, "write")) {
    old += replaced_mark;
    if (::rename(name.c_str(), old.c_str()) != 0) throw_file_error("write", name, errno);
    if (::rename(directory.c_str(), name.c_str()) != 0) {
      const int why = errno;
      std::error_code ignored;
      fs::rename(old, name, ignored);
      throw_file_error("write", name, why);
    }
  }
  return old;
}

void sync_tree(const fs::path& directory) {
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() || (entry.is_directory() && !entry.is_symlink())) {
      sync_file(entry.path(), entry.path());
    }
  }
  sync_file(directory, directory);
}

}  // namespace

std::string temporary_suffix() {
  std::random_device random;
  const unsigned high = random();
  return std::string(temporary_mark) + format("%08x%08x", high, random());
}

fs::path make_temporary_file(const fs::path& path) {
  while (true) {
    const fs::path temporary = path.string() + temporary_suffix();
    const Descriptor file(open_retrying(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666));
    if (file.open()) return temporary;
    if (errno != EEXIST) throw_file_error("write", path, errno);
  }
}

void remove_leftovers(const fs::path& folder, std::chrono::seconds age) {
  constexpr size_t kDigits = 16;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const size_t mark = name.rfind(temporary_mark), digits = mark + temporary_mark.size();
    if (mark == std::string::npos || name.size() != digits + kDigits ||
        name.find_first_not_of("0123456789abcdef", digits) != std::string::npos) {
      continue;
    }
    const auto written = entry.last_write_time(error);
    if (error || fs::file_time_type::clock::now() - written < age) continue;
    fs::remove_all(entry.path(), error);
    if (error) throw_file_error("delete", entry.path(), error.value());
  }
}

void sync_file(const fs::path& path, const fs::path& shown) {
  const Descriptor file(open_retrying(path, O_RDONLY));
  if (!file.open()) throw_file_error("write", shown, errno);
  // EINVAL: the file system (or device) does not support syncing.
  if (::fsync(file.get()) != 0 && errno != EINVAL) throw_file_error("write", shown, errno);
}

void commit_file(const fs::path& temporary, const fs::path& path) {
  if (::rename(temporary.c_str(), path.c_str()) != 0) throw_file_error("write", path, errno);
  sync_parent(path);
}

void require_regular_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status) || fs::is_regular_file(status)) return;
  throw DataError(
      path.string() + ": " +
      (fs::is_directory(status) ? "a directory; give a file" : "not a regular file; give a file"));
}

void read_pieces(const fs::path& path, int64_t limit,
                 const std::function<void(std::string_view)>& take) {
  const Descriptor file(open_retrying(path, O_RDONLY));
  if (!file.open()) throw_file_error("read", path, errno);
  std::vector<char> buffer(size_t{1} << 18);
  int64_t total = 0;
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_file_error("read", path, errno);
    if (count == 0) return;
    total += count;
    if (total > limit) {
      throw DataError("'" + path.string() + "' is larger than the " + std::to_string(limit) +
                      " bytes allowed for this file");
    }
    take(std::string_view(buffer.data(), static_cast<size_t>(count)));
  }
}

std::string read_file(const fs::path& path, int64_t limit) {
  std::string content;
  read_pieces(path, limit, [&](std::string_view piece) { content += piece; });
  return content;
}

void make_directories(const fs::path& path) {
  std::error_code error;
  std::vector<fs::path> made;
  for (fs::path next = path; !next.empty() && !fs::exists(next, error); next = next.parent_path()) {
    if (next.has_filename()) made.push_back(next);  // not "runs/"
  }
  fs::create_directories(path, error);
  if (!error) {
    for (const fs::path& directory : made) sync_parent(directory);
    return;
  }
  throw DataError(path.string() + ": cannot be created: " + error.message() +
                  "; give a directory that can be written");
}

Destination destination_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    return {.path = path, .special = true};
  }
  constexpr int kMaxLinks = 40;  // as Linux
  fs::path target = path;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    if (links == kMaxLinks) throw_file_error("write", path, ELOOP);
    // An absolute link replaces the whole path.
    target = target.parent_path() / fs::read_symlink(target, error);
    if (error) throw_file_error("write", path, error.value());
  }
  return {.path = target};
}

// Of a file, not a link, which a NewFile replaces.
bool same_content(const fs::path& made, const fs::path& there) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(there, error))) return false;
  const auto size = fs::file_size(made, error);
  return !error && size > 0 && size == fs::file_size(there, error) &&
         std::ranges::equal(MappedFile(made).bytes(), MappedFile(there).bytes());
}

NewFile::NewFile(fs::path path) : path_(std::move(path)), temporary_(make_temporary_file(path_)) {
  errno = 0;
  stream_.open(temporary_, std::ios::binary | std::ios::trunc);
  check();
}

NewFile::~NewFile() {
  std::error_code ignored;
  fs::remove(temporary_, ignored);  // gone already after a commit
}

void NewFile::check() {
  // errno is that of the failed write unless another call has failed since, which is good enough
  // for a message.
  if (!stream_) throw_file_error("write", path_, errno);
}

void NewFile::commit() {
  stream_.flush();
  check();
  stream_.close();  // some file systems report a failed write only here
  check();
  if (same_content(temporary_, path_)) return;
  sync_file(temporary_, path_);
  commit_file(temporary_, path_);
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  NewFile file(path);
  file.stream() << content;
  file.commit();
}

MappedFile::MappedFile(const fs::path& path) {
  const Descriptor file(open_retrying(path, O_RDONLY | O_NONBLOCK));  // not to wait at a pipe
  struct stat status {};
  if (!file.open() || ::fstat(file.get(), &status) != 0) throw_file_error("read", path, errno);
  if (S_ISDIR(status.st_mode)) throw_file_error("read", path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw DataError("cannot read '" + path.string() + "': not a regular file; give a file");
  }
  if (status.st_size == 0) return;
  const auto size = static_cast<size_t>(status.st_size);
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) throw_file_error("map", path, errno);
  data_ = {static_cast<const std::byte*>(start), Unmap{size}};
}

void Unmap::operator()(const std::byte* start) const {
  ::munmap(const_cast<std::byte*>(start), size);
}

fs::path temporary_root() {
  std::error_code error;
  fs::path root = fs::temp_directory_path(error);
  if (!error) return root;
  const char* named = std::getenv("TMPDIR");
  throw DataError("cannot use the directory for temporary files" +
                  (named == nullptr ? "" : " '" + std::string(named) + "'") + ": " +
                  error.message() + "; set TMPDIR to a writable directory");
}

ScratchDirectory::ScratchDirectory(const std::string& name) {
  std::string path = (temporary_root() / (name + "-XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) throw_file_error("make", path, errno);
  path_ = path;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

AtomicDirectory::AtomicDirectory(fs::path final_path, Existing existing)
    : final_(std::move(final_path)), existing_(existing) {
  // "runs/one/" names the same directory as "runs/one", whose parent is the one to sync.
  if (!final_.has_filename()) final_ = final_.parent_path();
  std::error_code error;
  if (existing_ == Existing::refuse && fs::exists(fs::symlink_status(final_, error))) {
    throw_file_error("make", final_, EEXIST);
  }
  make_directories(parent_of(final_));
  do {
    temporary_ = final_.string() + temporary_suffix();
    if (fs::create_directory(temporary_, error)) return;  // false: the name exists
  } while (!error);
  throw_file_error("make", final_, error.value());
}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
}

void AtomicDirectory::commit() {
  std::optional<fs::path> old;
  try {
    sync_tree(temporary_);
    if (existing_ == Existing::replace) {
      old = rename_over(temporary_, final_);
    } else {
      rename_new(temporary_, final_);
    }
    committed_ = true;  // from here on `temporary_` may be the old directory
    sync_parent(final_);
  } catch (const fs::filesystem_error& error) {
    throw_file_error("write", final_, error.code().value());
  }
  std::error_code ignored;  // the new directory is in place, even if the old one remains
  if (old) fs::remove_all(*old, ignored);
}

}  // namespace attn
