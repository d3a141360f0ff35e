#include "data/mixture.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "data/corpus_check.h"
#include "data/lines.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using testing::contains;

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
