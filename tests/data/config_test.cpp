#include "data/config.h"

#include <sys/stat.h>

#include <string>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;

TEST_CASE("errors of the data config name the option") {
  const auto invalid = [](auto change) {
    DataConfig config{.train = "t", .source = "en", .target = "de"};
    CHECK_NOTHROW(config.validate());
    change(config);
    config.validate();
  };
  CHECK_NOTHROW(DataConfig{}.validate());
  CHECK_THROWS_WITH(invalid([](auto& c) { c.vocab_size = -3; }),
                    "data.vocab_size: -3: must be positive");
  CHECK_THROWS_WITH(invalid([](auto& c) { c.batch_tokens = 0; }), contains("data.batch_tokens: 0"));
  CHECK_THROWS_WITH(invalid([](auto& c) { c.max_length = 1; }), contains("data.max_length: 1: "));
  CHECK_THROWS_WITH(invalid([](auto& c) { c.character_coverage = 1.5; }), contains("1.5"));
  CHECK_THROWS_WITH(invalid([](auto& c) { c.character_coverage = 0.9; }),
                    contains("data.character_coverage: 0.9: must be from 0.98 to 1"));
  CHECK_THROWS_WITH(invalid([](auto& c) { c.target_model = "x"; }),
                    contains("data.target_model: x: "));
  const auto parsing = [&](auto change) {
    invalid([&](DataConfig& config) {
      config = {.task = Task::parsing, .train = "x"};
      config.shared_vocabulary = false;
      CHECK_NOTHROW(config.validate());
      change(config);
    });
  };
  CHECK_THROWS_WITH(parsing([](auto& c) { c.shared_vocabulary = true; }),
                    contains("data.shared_vocabulary") && contains("parsing"));
  CHECK_THROWS_WITH(parsing([](auto& c) { c.silver_ratio = -1; }), contains("data.silver_ratio"));
  CHECK_THROWS_WITH(invalid([](auto& c) { c.silver = {"y"}; }),
                    contains("data.silver") && contains("parsing"));
}

TEST_CASE("errors of the texts of a config name the option and the file") {
  const TemporaryDirectory folder;
  const std::string text = (folder / "t").string(), pipe = (folder / "pipe").string();
  DataConfig config{.train = text, .source = "en", .target = "de"};
  CHECK_THROWS_WITH(DataConfig{}.require_texts(), contains("data.train: "));
  CHECK(text_path("a/train", "de") == "a/train.de");
  folder.write("t.en", "a\n");
  CHECK_THROWS_WITH(config.require_texts(), contains("data.train: " + text + ".de: no such"));
  folder.write("t.de", "b\n");
  CHECK_NOTHROW(config.require_texts());
  folder.write("t.de", "");
  CHECK_THROWS_WITH(config.require_texts(), contains("data.train: " + text + ".de: is empty"));
  folder.write("t.de", "b\n");
  REQUIRE(mkfifo((pipe + ".en").c_str(), 0600) == 0);
  config.valid = pipe;
  CHECK_THROWS_WITH(config.require_texts(), contains(pipe + ".en: not a regular file"));
  config.valid = text + ".en";
  CHECK_THROWS_WITH(config.require_texts(),
                    contains("data.valid: " + text + ".en: give the path without .en, " + text));
  config.valid.clear();
  config.source_model = pipe + ".en";
  CHECK_THROWS_WITH(config.require_texts(), contains("data.source_model: " + pipe));
}
