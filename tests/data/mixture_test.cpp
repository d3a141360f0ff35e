// Configs of data and mixtures of texts.
#include "data/mixture.h"

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_config.h"
#include "data/config.h"
#include "data/corpus_check.h"
#include "data/lines.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;

TEST_CASE("errors of the data config name the option") {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {R"("vocab_size": -3)", "data.vocab_size: -3: must be from 4 to 1073741824"},
      {R"("batch_tokens": 0)", "data.batch_tokens: 0"},
      {R"("max_length": 1)", "data.max_length: 1: "},
      {R"("character_coverage": 0.9)", "data.character_coverage: 0.9: must be from 0.98 to 1"},
      {R"("target_model": "x")", "data.target_model: x: "},
      {R"("task": "parsing", "shared_vocabulary": true)",
       "data.shared_vocabulary: true: must be false for parsing"},
      {R"("task": "parsing", "shared_vocabulary": false, "silver_ratio": -1)",
       "data.silver_ratio: -1"}};
  const auto validated = [](const std::string& text) {
    DataConfig config{.train = "t", .source = "en", .target = "de"};
    read_config(config, parse_json("{" + text + "}", "test"));
    config.validate();
  };
  for (const auto& [text, message] : mistakes) {
    CHECK_THROWS_WITH(validated(text), contains(message));
  }
  CHECK_NOTHROW(validated(""));
  CHECK_NOTHROW(validated(R"("task": "parsing", "shared_vocabulary": false)"));
  CHECK_NOTHROW(DataConfig{}.validate());
  DataConfig silver{.train = "t", .source = "en", .target = "de"};
  silver.silver = {"y"};
  CHECK_THROWS_WITH(silver.validate(), contains("data.silver") && contains("parsing"));
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
