// Configs of data and mixtures of texts.
#include "data/mixture.h"

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "data/config.h"
#include "data/corpus_check.h"
#include "data/lines.h"
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

namespace {

// data.train and one text of data.sources.
std::vector<MixturePart> two_texts(int64_t main, int64_t other, double ratio) {
  return {{.text = "main", .sentences = main},
          {.text = "other", .group = 1, .ratio = ratio, .sentences = other}};
}

double copies(const MixturePart& part) {
  return part.times * static_cast<double>(part.sentences);
}

}  // namespace

TEST_CASE("copies have the ratio of the config, and each sentence occurs at least once") {
  for (const double ratio : {0.1, 0.5, 1.0, 7.0}) {
    auto parts = two_texts(300, 100, ratio);
    set_times(parts);
    CHECK(copies(parts[1]) / copies(parts[0]) == Approx(ratio));
    CHECK(parts[0].times >= 1.0);
    CHECK(parts[1].times >= 1.0);
    CHECK(std::min(parts[0].times, parts[1].times) == Approx(1.0));
  }
}

TEST_CASE("a ratio that would repeat a text until the disk is full is an error") {
  for (const double ratio : {1e-5, 1e-20}) {
    auto parts = two_texts(300, 100, ratio);
    CHECK_THROWS_AS(set_times(parts), ConfigError);
    CHECK_THROWS_WITH(set_times(parts), contains("each one of main") && contains("raise"));
  }
  auto parts = two_texts(300, 100, 1e6);
  CHECK_THROWS_WITH(set_times(parts), contains("each one of other") && contains("lower its ratio"));
}

TEST_CASE("a line that is too long is dropped from a mixture as it is from a single text") {
  const testing::TemporaryDirectory folder;
  const std::string longer(LineReader::max_bytes + 1, 'x');
  folder.write("main.a", "one\n" + longer + "\nthree\n");
  folder.write("main.b", "eins\nzwei\ndrei\n");
  folder.write("more.a", "four\nfive\n");
  folder.write("more.b", "vier\n" + longer + "\n");
  DataConfig data;
  data.source = "a", data.target = "b", data.train = (folder / "main").string();
  CHECK(check_texts(folder / "main.a", folder / "main.b")[PairProblem::overlong].count == 1);
  TextSource more;
  more.text = (folder / "more").string();
  data.sources = {more};
  const DataConfig mixed = mixed_pairs(data, folder / "cache", 1, true);
  const CorpusReport report = check_texts(text_path(mixed.train, "a"), text_path(mixed.train, "b"));
  CHECK(report.lines == 5);
  CHECK(report.kept() == 3);
  CHECK(report[PairProblem::overlong].first ==
        std::vector<Dropped::Place>{{2, Side::source}, {5, Side::target}});
}
