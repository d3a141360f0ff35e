#include "app/commands/arguments.h"

#include "base/error.h"
#include "tests/support/catch.h"

using namespace attn;
using Words = std::vector<std::string>;

namespace {

std::string answer(const Words& arguments) {
  CLI::App app("", "attn");
  int threads = 0;
  bool flag = false;
  std::string text;
  Words set;
  app.add_option("--threads", threads);
  CLI::App* translate = app.add_subcommand("translate");
  translate->add_option("run", text);
  translate->add_option("--set", set);
  translate->add_flag("--scores", flag);
  CLI::App* train = app.add_subcommand("train");
  train->add_option("--set", set);
  train->add_option("--run", text);
  train->add_flag("--resume", flag);
  CLI::App* average = app.add_subcommand("average");
  average->add_option("--last", threads);
  CLI::App* bench = app.add_subcommand("bench");
  bench->add_subcommand("step")->add_option("--set", set);
  try {
    check_arguments(app, arguments);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("--set takes several values") {
  CHECK(expand_shorthands({"config", "a.json", "--set", "x.y=1", "z=[1, 2]", "--explain"}) ==
        Words{"config", "a.json", "--set", "x.y=1", "--set", "z=[1, 2]", "--explain"});
  CHECK(expand_shorthands({"config", "--set", "x=1", "y=2", "a.json"}) ==
        Words{"config", "--set", "x=1", "--set", "y=2", "a.json"});
  CHECK(expand_shorthands({"config", "--set", "x=1", "runs/b=2"}) ==
        Words{"config", "--set", "x=1", "runs/b=2"});
  CHECK(expand_shorthands({"train", "x=1"}) == Words{"train", "x=1"});
}

TEST_CASE("help before a command is --help behind it") {
  CHECK(expand_shorthands({"help", "train"}) == Words{"train", "--help"});
  CHECK(expand_shorthands({"help"}) == Words{"--help"});
  CHECK(expand_shorthands({"--threads", "1", "help", "train"}) ==
        Words{"--threads", "1", "train", "--help"});
  CHECK(expand_shorthands({"train", "help"}) == Words{"train", "help"});
}

TEST_CASE("values that CLI11 would misread are errors") {
  CHECK(answer({"average", "x", "--last", "010"}) ==
        "average: --last: 010: expected a decimal integer without leading zeros");
  CHECK(answer({"average", "x", "--last=-010"}) ==
        "average: --last: -010: expected a decimal integer without leading zeros");
  CHECK(answer({"average", "x", "--last", "99999999999999999999"}) ==
        "average: --last: 99999999999999999999: expected an integer of at most 64 bits");
  CHECK(answer({"train", "x", "--run", ""}) ==
        "train: --run: the value is empty; leave out the flag, or give a value");
  CHECK(answer({"train", "x", "--run="}) ==
        "train: --run: the value is empty; leave out the flag, or give a value");
  for (const char* good : {"0", "10", "-3", "+7", "9223372036854775807"}) {
    CHECK(answer({"average", "x", "--last", good}).empty());
  }
  CHECK(answer({"train", "x", "--run", "007"}).empty());  // a text
}

TEST_CASE("the error for a misspelt command or flag suggests the nearest") {
  CHECK(answer({"trian", "x"}) == "trian: unknown command; did you mean train?");
  CHECK(answer({"--threads", "2", "trian"}) == "trian: unknown command; did you mean train?");
  CHECK(answer({"bench", "stpe"}) == "bench: stpe: unknown command; did you mean step?");
  CHECK(answer({"train", "--resum"}) == "train: --resum: unknown flag; did you mean --resume?");
  CHECK(answer({"average", "--nbest", "5"}) ==
        "average: --nbest: unknown flag; one of: --help, --last");
  CHECK(answer({"train", "x", "--run", "--resume", "--threads", "3"}).empty());
  CHECK(answer({"train", "--threads=3", "--", "--x"}).empty());
  CHECK(answer({"--thread", "3"}) == "--thread: unknown flag; did you mean --threads?");
}

TEST_CASE("the error for a flag that is a config option suggests --set") {
  CHECK(answer({"translate", "r", "--nbest", "5"}) ==
        "translate: --nbest: unknown flag; set the config's option with --set search.nbest=5");
  CHECK(answer({"train", "--warmup", "--resume"}) ==
        "train: --warmup: unknown flag; set the config's option with --set train.warmup=VALUE");
  CHECK(answer({"bench", "step", "--model.heads", "4"}) ==
        "bench step: --model.heads: unknown flag; set the config's option with --set "
        "model.heads=4");
}

TEST_CASE("a number outside its range, or none, is rejected") {
  const CLI::Validator percent = number_from(0.0, 100.0);
  const auto complaint = [&](std::string text) { return percent(text); };
  for (const char* good : {"0", "100", "99.5", "1e1"}) CHECK(complaint(good).empty());
  for (const char* bad : {"-0.1", "100.1", "nan", "inf", "", "5x", "x"}) {
    CHECK(complaint(bad) == std::string("expected a number from 0 to 100, not ") + bad);
  }
}
