#include "data/corpus_check.h"

#include <string>

#include "base/error.h"
#include "data/lines.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;

namespace {

struct ParallelTexts {
  TemporaryDirectory directory;
  std::filesystem::path source, target;

  ParallelTexts(const std::string& source_text, const std::string& target_text)
      : source(directory.write("train.en", source_text)),
        target(directory.write("train.de", target_text)) {}
  CorpusReport check() const { return check_texts(source, target); }
};

std::string repeat(const std::string& line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += line;
  return text;
}

}  // namespace

TEST_CASE("texts that cannot be used stop, with file and line") {
  const ParallelTexts good("a\nb\n", "c\nd");
  CHECK(good.check().kept() == 2);
  CHECK(good.check().text() ==
        std::vector<std::string>{good.source.string() + " and " + good.target.string() +
                                 ": 2 pairs, 2 used"});
  const auto check = [](const std::string& source, const std::string& target) {
    ParallelTexts(source, target).check();
  };
  CHECK_THROWS_WITH(check("a\nb\nc\nd\n", "a\nb\n"),
                    contains("train.en' has 4 lines") && contains("train.de' has 2"));
  CHECK_THROWS_WITH(check("a\n", "a\nb\nc"),
                    contains("train.en' has 1 lines") && contains("train.de' has 3"));
  CHECK_THROWS_WITH(check("", ""), contains("is empty"));
  CHECK_THROWS_WITH(check("\n\n", "a\nb\n"), contains("no pair with text"));
  CHECK_THROWS_WITH(check("a\n", "\x1F\x8B\x08\n"), contains("train.de: compressed (gzip"));
}

TEST_CASE("empty lines are counted and the first few named with their file") {
  const ParallelTexts texts("a\n\nb\n \t\nc\nd\ne\n", "a\nx\n\r\ny\n\n\nz\n");
  const CorpusReport report = texts.check();
  CHECK(report.lines == 7);
  CHECK(report.kept() == 2);
  const Dropped& empty = report[PairProblem::empty];
  CHECK(empty.count == 5);
  CHECK(empty.first ==
        std::vector<Dropped::Place>{{2, Side::source}, {3, Side::target}, {4, Side::source}});
  REQUIRE(report.text().size() == 2);
  CHECK(report.text()[1] == "dropped: 5 pairs with an empty line: " + texts.source.string() +
                                ":2, " + texts.target.string() + ":3, " + texts.source.string() +
                                ":4, …");
}

TEST_CASE("a little invalid UTF-8 is dropped, much of it is an error") {
  const ParallelTexts few(repeat("a\n", 200), repeat("b\n", 120) + "\xff\n" + repeat("b\n", 79));
  const CorpusReport report = few.check();
  CHECK(report[PairProblem::invalid_utf8].count == 1);
  CHECK(report.kept() == 199);
  CHECK_THAT(report.text().back(),
             contains("1 pair with invalid UTF-8") && contains("train.de:121"));

  const ParallelTexts many(repeat("a\n", 150), repeat("b\n", 148) + "gr\xfc\xdf\n\xe4\n");
  CHECK_THROWS_AS(many.check(), DataError);
  CHECK_THROWS_WITH(many.check(), contains("2 of 150 pairs are not valid UTF-8") &&
                                      contains("train.de:149") && contains("iconv"));
}

TEST_CASE("a line that is cut is overlong, even when the cut splits a character") {
  std::string wide = "x";
  while (wide.size() <= LineReader::max_bytes) wide += "ü";
  const ParallelTexts texts("a\n" + wide + "\n", "a\nb\n");
  const CorpusReport report = texts.check();
  CHECK(report[PairProblem::overlong].count == 1);
  CHECK(report[PairProblem::invalid_utf8].count == 0);
}

TEST_CASE("a pair with two faults is counted once") {
  const ParallelTexts texts(repeat("a\n", 300) + "\n", repeat("b\n", 300) + "\xff\n");
  const CorpusReport report = texts.check();
  CHECK(report.kept() == 300);
  CHECK(report[PairProblem::invalid_utf8].count == 1);
  CHECK(report[PairProblem::empty].count == 0);
}

TEST_CASE("UTF-16 is named as such, although most of it is valid UTF-8") {
  std::string marked = "\xFF\xFE", plain;
  for (const char c : repeat("a sentence\n", 500)) {
    marked += std::string{c, '\0'};
    plain += std::string{'\0', c};
  }
  const std::string text = repeat("ein Satz\n", 500);
  CHECK_THROWS_WITH(ParallelTexts(marked, text).check(), contains("train.en:1: UTF-16"));
  CHECK_THROWS_WITH(ParallelTexts(text, plain).check(), contains("train.de:1: UTF-16"));
  CHECK_NOTHROW(ParallelTexts(text, text).check());
}
