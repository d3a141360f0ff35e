#include "data/config.h"

#include <sys/stat.h>

#include <string>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

using namespace attn;
using namespace attn::testing;

TEST_CASE("errors of the data config name the option") {
  DataConfig good{.train = "t", .source = "en", .target = "de"};
  CHECK_NOTHROW(good.validate());
  const auto complaint = [&](auto change) {
    DataConfig config = good;
    change(config);
    try {
      config.validate();
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(complaint([](auto& c) { c.vocab_size = -3; }) == "data.vocab_size: -3: must be positive");
  CHECK_NOTHROW(DataConfig{}.validate());
  CHECK_THROWS_WITH(DataConfig{}.require_texts(), contains("data.train: "));
  TemporaryDirectory directory;
  good.train = (directory / "t").string();
  testing::write_text(directory / "t.en", "a\n");
  CHECK_THROWS_WITH(good.require_texts(), contains("data.train: " + good.train + ".de: no such"));
  testing::write_text(directory / "t.de", "b\n");
  CHECK_NOTHROW(good.require_texts());
  testing::write_text(directory / "t.de", "");
  CHECK_THROWS_WITH(good.require_texts(), contains("data.train: " + good.train + ".de: is empty"));
  testing::write_text(directory / "t.de", "b\n");
  const std::string pipe = (directory / "pipe").string();
  REQUIRE(mkfifo((pipe + ".en").c_str(), 0600) == 0);
  good.valid = pipe;
  CHECK_THROWS_WITH(good.require_texts(), contains(pipe + ".en: not a regular file"));
  good.valid.clear();
  good.source_model = pipe + ".en";
  CHECK_THROWS_WITH(good.require_texts(), contains("data.source_model: " + pipe));
  good.source_model.clear();
  good.valid = good.train + ".en";
  CHECK_THROWS_WITH(good.require_texts(), contains("data.valid: " + good.valid +
                                                   ": give the path without .en, " + good.train));
  CHECK_THAT(complaint([](auto& c) { c.batch_tokens = 0; }), contains("data.batch_tokens: 0: "));
  CHECK_THAT(complaint([](auto& c) { c.max_length = 1; }), contains("data.max_length: 1: "));
  CHECK_THAT(complaint([](auto& c) { c.character_coverage = 1.5; }), contains("1.5"));
  CHECK_THAT(complaint([](auto& c) { c.character_coverage = 0.9; }),
             contains("data.character_coverage: 0.9: must be from 0.98 to 1"));
  CHECK_THAT(complaint([](auto& c) { c.target_model = "x"; }), contains("data.target_model: x: "));
  CHECK(text_path("a/train", "de") == "a/train.de");
}
