#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using testing::contains;
using testing::FileSizeLimit;
using testing::TemporaryDirectory;
using testing::write_text;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a file is read completely, with any bytes, and its lines over several pieces") {
  const TemporaryDirectory folder;
  std::string content(700000, 'x');  // more than one piece
  content[5] = '\0';
  content += "\xff\r\n";
  CHECK(read_file(folder.write("f", content)) == content);
  CHECK(read_file(folder.write("empty", "")).empty());
}

TEST_CASE("errors of reading name the file and the reason") {
  const TemporaryDirectory folder;
  write_text(folder / "f", "12345");
  CHECK(read_file(folder / "f", 5) == "12345");
  CHECK_THROWS_WITH(read_file(folder / "f", 4), contains("f' is larger than the 4 bytes"));
  CHECK_THROWS_AS(read_file(folder / "none"), DataError);
  CHECK_THROWS_WITH(read_file(folder / "none"), contains("none': No such file or directory"));
  CHECK_THROWS_WITH(read_file(folder.path()), contains("Is a directory"));
  CHECK_NOTHROW(require_regular_file(folder / "f"));
  CHECK_NOTHROW(require_regular_file(folder / "missing"));
  CHECK_THROWS_WITH(require_regular_file(folder.path()), contains("a directory; give a file"));
  CHECK_THROWS_WITH(require_regular_file("/dev/null"), contains("not a regular file"));
}

TEST_CASE("an atomic write replaces the file and leaves nothing else") {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "f", "one");
  write_file_atomically(folder / "f", "two");
  CHECK(read_file(folder / "f") == "two");
  write_file_atomically(folder / "empty", "");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"empty", "f"});
}

TEST_CASE("a failed atomic write leaves the old file as it was") {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "f", "old");
  {
    const FileSizeLimit full(1000);
    CHECK_THROWS_WITH(write_file_atomically(folder / "f", std::string(100000, 'n')),
                      contains("f': File too large"));
  }
  CHECK(read_file(folder / "f") == "old");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"f"});
  CHECK_THROWS_WITH(write_file_atomically(folder / "none/f", "x"),
                    contains("No such file or directory"));
  CHECK_THROWS_WITH(write_file_atomically(folder / "f/g", "x"), contains("Not a directory"));
  fs::create_directory(folder / "d");
  CHECK_THROWS_AS(write_file_atomically(folder / "d", "x"), DataError);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"d", "f"});
}

TEST_CASE("an atomic write replaces a symbolic link, which may be a stranger's") {
  const TemporaryDirectory folder;
  write_text(folder / "mine", "kept");
  fs::create_symlink("mine", folder / "report");
  write_file_atomically(folder / "report", "new");
  CHECK(read_file(folder / "mine") == "kept");
  CHECK(read_file(folder / "report") == "new");
  CHECK(!fs::is_symlink(folder / "report"));
}

TEST_CASE("an output that a user names is written behind links, and directly to a pipe or device") {
  const TemporaryDirectory folder;
  fs::create_symlink("d/file", folder / "near");
  fs::create_symlink(folder / "near", folder / "far");
  CHECK(destination_of(folder / "far").path == folder / "d/file");
  fs::create_symlink("circle", folder / "circle");
  CHECK_THROWS_AS(destination_of(folder / "circle"), DataError);
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(destination_of(folder / "pipe").special);
  CHECK(destination_of("/dev/null").special);
  CHECK(!destination_of(folder / "new").special);
}

TEST_CASE("a mapped file shows the file's bytes") {
  const TemporaryDirectory folder;
  write_text(folder / "f", "abc");
  write_text(folder / "empty", "");
  MappedFile file(folder / "f");
  REQUIRE(file.bytes().size() == 3);
  CHECK(file.bytes()[2] == std::byte{'c'});
  CHECK(MappedFile(folder / "empty").bytes().empty());
  CHECK(MappedFile().bytes().empty());
  MappedFile moved(std::move(file));
  CHECK(moved.bytes().size() == 3);
  MappedFile other(folder / "empty");
  other = std::move(moved);
  CHECK(other.bytes()[0] == std::byte{'a'});
  CHECK_THROWS_WITH(MappedFile(folder / "none"), contains("No such file or directory"));
  CHECK_THROWS_WITH(MappedFile(folder.path()), contains("Is a directory"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const int writer = ::open((folder / "pipe").c_str(), O_RDWR);
  CHECK_THROWS_WITH(MappedFile(folder / "pipe"), contains("regular file"));
  ::close(writer);
}

TEST_CASE("an atomic directory appears complete at its commit, or not at all") {
  const TemporaryDirectory folder;
  {
    AtomicDirectory given_up(folder / "final/");  // the slash at the end means the same directory
    CHECK(given_up.path().parent_path() == folder.path());
    write_text(given_up.path() / "one", "1");
  }
  CHECK(names_in(folder.path()).empty());
  // Parents are made; two writers do not meet before the commit.
  AtomicDirectory first(folder / "a/b/final"), second(folder / "a/b/final");
  CHECK(first.path() != second.path());
  write_text(first.path() / "one", "1");
  fs::create_directory(first.path() / "sub");
  write_text(first.path() / "sub/two", "2");
  CHECK_FALSE(fs::exists(folder / "a/b/final"));
  first.commit();
  CHECK_THROWS_WITH(second.commit(), contains("File exists"));
  CHECK(read_file(folder / "a/b/final/sub/two") == "2");
  CHECK_THROWS_WITH(AtomicDirectory(folder / "a"), contains("File exists"));
  CHECK_THROWS_WITH(AtomicDirectory(folder / "a/b/final/one/below"), contains("Not a directory"));
}

TEST_CASE("an atomic directory replaces an existing one with Existing::replace") {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "final");
  write_text(folder / "final/old", "1");
  {
    AtomicDirectory given_up(folder / "final", AtomicDirectory::Existing::replace);
    write_text(given_up.path() / "new", "2");
  }
  CHECK(names_in(folder / "final") == std::vector<std::string>{"old"});
  AtomicDirectory directory(folder / "final", AtomicDirectory::Existing::replace);
  write_text(directory.path() / "new", "2");
  directory.commit();
  CHECK(names_in(folder / "final") == std::vector<std::string>{"new"});
  CHECK(names_in(folder.path()) == std::vector<std::string>{"final"});
}

TEST_CASE("a process of another machine may have this one's number") {
  const TemporaryDirectory folder;
  // As the other one would name a temporary directory.
  const std::string other = "final.tmp-" + std::to_string(::getpid()) + "-";
  for (int i = 0; i < 300; ++i) folder.write(other + std::to_string(i) + "/begun", "there");
  AtomicDirectory(folder / "final").commit();
  CHECK(names_in(folder / "final").empty());
  CHECK(names_in(folder.path()).size() == 301);
  CHECK(temporary_suffix() != temporary_suffix());
  CHECK(make_temporary_file(folder / "f") != make_temporary_file(folder / "f"));
}

TEST_CASE("a directory that is replaced is there at every moment") {
  const TemporaryDirectory folder;
  fs::create_directories(folder / "final");
  fs::create_directories(folder / "a");
  fs::create_directories(folder / "b");
#ifdef RENAME_EXCHANGE
  if (::renameat2(AT_FDCWD, (folder / "a").c_str(), AT_FDCWD, (folder / "b").c_str(),
                  RENAME_EXCHANGE) != 0)
#endif
  {
    WARN("this file system cannot exchange two names");
    return;
  }
  std::atomic<bool> done{false};
  int64_t looks = 0, missing = 0;
  std::thread reader([&] {
    struct stat status {};
    for (; !done; ++looks) missing += ::stat((folder / "final").c_str(), &status) != 0 ? 1 : 0;
  });
  for (int i = 0; i < 300; ++i) {
    AtomicDirectory(folder / "final", AtomicDirectory::Existing::replace).commit();
  }
  done = true;
  reader.join();
  CHECK(looks > 0);
  CHECK(missing == 0);
}

TEST_CASE("only temporary files of processes that no longer write are removed") {
  const TemporaryDirectory folder;
  CHECK_NOTHROW(remove_leftovers(folder / "none", std::chrono::hours(1)));
  const fs::path file = make_temporary_file(folder / "result.json");
  const fs::path directory = (folder / "averaged").string() + temporary_suffix();
  make_directories(directory / "inside");
  const std::vector<fs::path> kept = {folder / "result.json", folder / "notes.tmp-1",
                                      directory.string() + ".old"};
  for (const fs::path& path : kept) write_file_atomically(path, "mine");
  remove_leftovers(folder.path(), std::chrono::hours(1));
  CHECK(fs::exists(file));
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));
  remove_leftovers(folder.path(), std::chrono::hours(1));
  CHECK_FALSE(fs::exists(file));
  CHECK(fs::exists(directory));
  remove_leftovers(folder.path(), std::chrono::seconds(0));
  CHECK_FALSE(fs::exists(directory));
  for (const fs::path& path : kept) CHECK(fs::exists(path));
}

}  // namespace attn
