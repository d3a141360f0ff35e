// What commands read and write: arguments, lines of input, output files.
#include "app/commands/commands.h"

#include <cerrno>
#include <string>

#include "app/commands/text_io.h"
#include "base/error.h"
#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using Words = std::vector<std::string>;
using namespace attn::testing;

namespace {

struct Parsed {
  std::string error, file, run;
  Words set;  // as written
  int last = 0;
};

/// The values of a small program's options, or its error.
Parsed parsed(const Words& arguments) {
  CLI::App app("", "attn");
  app.require_subcommand(1);
  app.fallthrough();
  int threads = 0;
  Parsed out;
  app.add_option("--threads", threads);
  CLI::App* train = app.add_subcommand("train");
  train->add_option("config", out.file)->required();
  std::vector<Assignment> set;
  add_set(train, set);
  train->add_option("--run", out.run);
  CLI::App* average = app.add_subcommand("average");
  average->add_option("--last", out.last);
  add_set(app.add_subcommand("bench")->require_subcommand(1)->add_subcommand("step"), set);
  try {
    run_command(app, arguments);
    for (const Assignment& assignment : set) out.set.push_back(assignment.text);
  } catch (const ConfigError& error) {
    out.error = error.what();
  }
  return out;
}

}  // namespace

TEST_CASE("--set takes several values") {
  const Words both = {"x.y=1", "z=[1, 2]"};
  CHECK(parsed({"train", "a.json", "--set", "x.y=1", "z=[1, 2]", "--run", "b"}).set == both);
  CHECK(parsed({"train", "a.json", "--set", "x.y=1", "--set", "z=[1, 2]"}).set == both);
  const Parsed before = parsed({"train", "--set", "x.y=1", "z=[1, 2]", "a.json"});
  CHECK(before.set == both);
  CHECK(before.file == "a.json");
  CHECK_THAT(parsed({"train", "--set", "x=1", "a.json", "--run", "b"}).error,
             contains("a.json: expected path=value; files stand before --set"));
}

TEST_CASE("empty values, which CLI11 would ignore, are errors") {
  const auto error = [](const std::string& value) {
    return parsed({"average", "--last", value}).error;
  };
  CHECK(error("").find("--last: the value is empty") == 0);
  CHECK(parsed({"train", "x", "--run="}).error.find("--run=: the value is empty") == 0);
  CHECK(error("10").empty());
  CHECK(parsed({"average", "--last", "-3"}).last == -3);
  CHECK(parsed({"train", "x", "--run", "007"}).run == "007");  // a text
}

TEST_CASE("the error for a command line names the command") {
  const auto error = [](const Words& arguments) { return parsed(arguments).error; };
  CHECK(error({"trian", "x"}) == "trian: unknown command; see attn --help");
  CHECK_THAT(error({"bench", "stpe"}), contains("bench: stpe: unknown command"));
  CHECK(error({"average", "--lats", "3"}) ==
        "average: --lats: unknown flag; see attn average --help");
  CHECK_THAT(error({"train", "a.json", "--lr=0.1"}),
             contains("train: --lr=0.1: unknown flag; options of the config are set with --set"));
  CHECK_THAT(error({"train", "a.json", "b.json"}), contains("train: b.json: unknown argument"));
  CHECK_THAT(error({"train"}), contains("config is required"));
}

TEST_CASE("an output that cannot be written names the system's error, also in large pieces") {
  const TemporaryDirectory folder;
  const auto size = static_cast<size_t>(GENERATE(10'000, 1'000'000));
  const std::string reason = "': File too large";
  const FileSizeLimit full(4096);
  SECTION("at once") {
    OutputFile output(folder / "out");
    CHECK_THROWS_WITH(output.write_all(std::string(size, 'a')),
                      contains("cannot write '" + (folder / "out.partial").string() + reason));
  }
  SECTION("line by line, long before the end") {
    OutputFile output(folder / "out");
    for (size_t i = 0; i < size / 10; ++i) output.stream() << "123456789\n";
    errno = 0;
    CHECK_THROWS_WITH(output.flush(), contains("out.partial" + reason));
  }
}

TEST_CASE("an output has its name when it is complete") {
  const TemporaryDirectory folder;
  OutputFile output(folder / "out");
  output.stream() << "one\n";
  output.flush();
  CHECK(read_file(folder / "out.partial") == "one\n");
  CHECK_THROWS_WITH(OutputFile(folder / "out"), contains("another command is writing it"));
  { const OutputFile unwritten(folder / "none"); }
  CHECK(!std::filesystem::exists(folder / "none.partial"));
  output.write_all("two\n");
  CHECK(read_file(folder / "out") == "one\ntwo\n");
}
