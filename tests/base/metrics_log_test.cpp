#include "base/metrics_log.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temporary_directory.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using testing::contains;
using testing::FileSizeLimit;
using testing::TemporaryDirectory;

void log_step(MetricsLog& log, int64_t step) {
  log.write("train", {{"step", step}, {"loss", 1.0 / static_cast<double>(step)}});
  if (step % 4 == 0) {
    log.write("eval", {{"step", step}, {"bleu", 0.5 * static_cast<double>(step)}});
    log.write("note", {{"text", "no step"}});
  }
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::istringstream text(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("a record is one line of JSON with its fields in order, in the file once it is written") {
  const TemporaryDirectory folder;
  MetricsLog log(folder / "m");
  log.write("train", {{"step", int64_t{7}}, {"loss", 0.1}, {"about", "a \"b\"\nc \xc3\xa9"}});
  log.write("empty", {});
  CHECK(read_file(folder / "m") ==
        "{\"kind\":\"train\",\"step\":7,\"loss\":0.1,\"about\":\"a \\\"b\\\"\\nc \xc3\xa9\"}\n"
        "{\"kind\":\"empty\"}\n");
}

TEST_CASE("non-finite values are written as strings") {
  const TemporaryDirectory folder;
  MetricsLog log(folder / "m");
  const double infinity = std::numeric_limits<double>::infinity();
  log.write("x",
            {{"a", std::numeric_limits<double>::quiet_NaN()}, {"b", infinity}, {"c", -infinity}});
  log.write("x", {{"bad utf8", "\xff"}});
  const auto lines = lines_of(folder / "m");
  CHECK(lines.at(0) == R"({"kind":"x","a":"NaN","b":"Infinity","c":"-Infinity"})");
  CHECK(nlohmann::json::accept(lines.at(1)));
}

TEST_CASE("a reopened log is appended to, without an incomplete last line") {
  const TemporaryDirectory folder;
  { MetricsLog(folder / "m").write("one", {}); }
  { MetricsLog(folder / "m").write("two", {}); }
  folder.write("torn", "{\"kind\":\"one\"}\n{\"kind\":\"tw");
  { MetricsLog(folder / "torn").write("two", {}); }
  CHECK(read_file(folder / "m") == "{\"kind\":\"one\"}\n{\"kind\":\"two\"}\n");
  CHECK(read_file(folder / "torn") == read_file(folder / "m"));
  folder.write("all", "{\"kind");
  { MetricsLog log(folder / "all"); }
  CHECK(read_file(folder / "all").empty());
}

TEST_CASE("a resumed log equals an uninterrupted one, wherever the run was killed") {
  const TemporaryDirectory folder;
  {
    MetricsLog log(folder / "uninterrupted");
    for (int64_t step = 1; step <= 20; ++step) log_step(log, step);
  }
  const std::string whole = read_file(folder / "uninterrupted");
  for (const int64_t checkpoint : {0, 3, 8, 12}) {
    std::string until_checkpoint;
    for (const auto& line : lines_of(folder / "uninterrupted")) {
      const auto record = nlohmann::json::parse(line);
      if (record.value("step", int64_t{0}) > checkpoint) break;
      until_checkpoint += line + "\n";
    }
    for (size_t killed = until_checkpoint.size(); killed <= whole.size(); killed += 7) {
      folder.write("m", whole.substr(0, killed));
      keep_until_step(folder / "m", checkpoint);
      REQUIRE(read_file(folder / "m") == until_checkpoint);
      MetricsLog log(folder / "m");
      for (int64_t step = checkpoint + 1; step <= 20; ++step) log_step(log, step);
      REQUIRE(read_file(folder / "m") == whole);
    }
  }
}

TEST_CASE("truncating a log keeps foreign lines, and drops lost blocks and later kinds") {
  const TemporaryDirectory folder;
  const auto kept = [&](const std::string& text, int64_t step, const std::string& kind = "") {
    folder.write("m", text);
    keep_until_step(folder / "m", step, kind);
    return read_file(folder / "m");
  };
  const std::string foreign = "not json\n[1]\n{\"step\":\"9\"}\n{\"step\":2.5}\n\n{\"step\":5}\n";
  CHECK(kept(foreign + "{\"step\":6}\n{\"step\":1}\n", 5) == foreign);
  CHECK(kept(foreign, 5) == foreign);
  CHECK(kept("", 5).empty());
  CHECK_NOTHROW(keep_until_step(folder / "none", 5));
  CHECK_FALSE(fs::exists(folder / "none"));
  // Records of a kind that are written after the last checkpoint.
  const std::string average = "{\"kind\":\"average\",\"step\":6}\n",
                    before = "{\"kind\":\"average\",\"step\":4}\n{\"kind\":\"eval\",\"step\":6}\n";
  CHECK(kept(before + average, 6) == before + average);
  CHECK(kept(before + average, 6, "average") == before);
  // A block that was lost in a power failure is dropped with all that follows.
  CHECK(kept(before + std::string(20, '\0') + "\n" + before, 6) == before);
}

TEST_CASE("a log that cannot be written is an error and keeps complete lines") {
  const TemporaryDirectory folder;
  CHECK_THROWS_WITH(MetricsLog(folder / "none/m"), contains("No such file or directory"));
  CHECK_THROWS_AS(MetricsLog(folder.path()), DataError);
  MetricsLog log(folder / "m");
  log.write("one", {});
  {
    const FileSizeLimit full(20);
    CHECK_THROWS_WITH(log.write("two", {{"text", "longer than what is left"}}), contains("m': "));
  }
  CHECK(read_file(folder / "m") == "{\"kind\":\"one\"}\n");
  log.write("two", {});
  log.sync();
  CHECK(lines_of(folder / "m").size() == 2);
}

}  // namespace attn
