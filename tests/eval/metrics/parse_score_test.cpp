// Rows of sentences with wrong, missing and crossing brackets: parse_score_property_test.py.
#include "eval/metrics/parse_score.h"
#include "data/lines.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"
#include "data/parsing/tree.h"
#include "eval/metrics/parse_lines.h"
#include "eval/metrics/tree_agreement.h"
#include "eval/tasks/evaluator_config.h"
#include "tests/support/catch.h"
#include "tests/support/source_dir.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using attn::testing::contains;

namespace {

using Lines = std::vector<std::string>;

ParseScore score(const Lines& gold, const Lines& predicted,
                 const EvalbParameters& parameters = collins_parameters()) {
  return score_parses(gold_parses(gold, "gold"), predicted_parses(predicted, "out", gold.size()),
                      parameters);
}

/// EVALB's own files (public domain, see the LICENSE beside them).
std::filesystem::path evalb_file(const std::string& name) {
  return std::filesystem::path(testing::kSourceDir) / "tests/eval/data/evalb" / name;
}

ParseScore score_evalb_files(const std::string& name, const std::string& parameters) {
  return score(read_lines(evalb_file(name + ".gld")), read_lines(evalb_file(name + ".tst")),
               read_evalb_parameters(evalb_file(parameters)));
}

/// Lines as rows of words: EVALB's releases differ in blanks.
std::vector<Lines> rows(const Lines& lines) {
  std::vector<Lines> result;
  for (const std::string& line : lines) {
    const auto words = split_whitespace(line);
    if (!words.empty()) result.emplace_back(words.begin(), words.end());
  }
  return result;
}

/// Compares everything that the expected output has but one number: below the column "Cross", the
/// old releases that wrote these files total the sentences *without* crossing brackets. sample.rsl
/// is also older than the line "Bracketing FMeasure".
void check_output(const ParseScore& score, const std::string& expected_file) {
  const auto wanted = rows(read_lines(evalb_file(expected_file)));
  Lines lines;
  std::string text = format_parse_table(score) + format_parse_summary(score);
  for (size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
    lines.push_back(text.substr(0, end));
  }
  auto got = rows(lines);
  const auto is_f_measure = [](const Lines& row) { return row.size() > 1 && row[1] == "FMeasure"; };
  if (std::none_of(wanted.begin(), wanted.end(), is_f_measure)) std::erase_if(got, is_f_measure);
  REQUIRE(got.size() == wanted.size());
  const size_t totals = 4 + score.sentences.size();  // behind the header and the second ruler
  for (size_t i = 0; i < got.size(); ++i) {
    Lines expected = wanted[i];
    if (i == totals) {
      REQUIRE(expected.size() == 9);
      CHECK(expected[5] == std::to_string(score.all.no_crossing));
      expected[5] = std::to_string(score.all.crossing);
    }
    CHECK(got[i] == expected);
  }
}

const std::string gold_tree = "(S (NP (PRP We)) (VP (VBP eat) (NP (NN rice))) (. .))";

}  // namespace

TEST_CASE("EVALB's sample file scores as EVALB scores it, line by line") {
  const ParseScore result = score_evalb_files("sample", "sample.prm");
  check_output(result, "sample.rsl");
  CHECK(result.mismatched == 5);
  CHECK(result.malformed == 0);
}

TEST_CASE("EVALB's bug file, with its misread quotes, scores as EVALB scores it") {
  check_output(score_evalb_files("bug", "new.prm"), "bug.rsl-new");
}

TEST_CASE("the table has EVALB's layout to the blank") {
  const std::string table = format_parse_table(score_evalb_files("sample", "sample.prm"));
  Lines lines = read_lines(evalb_file("sample.rsl"));
  size_t found = 0;
  for (size_t i = 0; i < 27; ++i) found += table.find(lines[i] + "\n") != std::string::npos;
  CHECK(found == 27);  // header, 24 sentences
}

TEST_CASE("without a parameter file the settings are COLLINS.prm's") {
  const EvalbParameters file = read_evalb_parameters(evalb_file("COLLINS.prm"));
  const EvalbParameters built_in = collins_parameters();
  CHECK(file.cutoff_length == built_in.cutoff_length);
  CHECK(file.labelled == built_in.labelled);
  CHECK(file.delete_labels == built_in.delete_labels);
  CHECK(file.delete_labels_for_length == built_in.delete_labels_for_length);
  CHECK(file.quote_labels == built_in.quote_labels);
  CHECK(file.equal_labels == built_in.equal_labels);
  CHECK(file.equal_words == built_in.equal_words);
  CHECK_THAT(score({gold_tree}, {gold_tree}).signature,
             contains("params:default|labelled:yes|cutoff:40|version:attn-"));
}

TEST_CASE("sentences that EVALB skips count as zero in the strict score") {
  const Lines gold(4, gold_tree);
  const ParseScore result =
      score(gold, {gold_tree, "(S (NP (PRP We)) (VP (VBP ate)))", "", "(S (NP (PRP We))"});
  CHECK(result.all.f1() == 100);
  CHECK(result.all.valid() == 1);
  CHECK(result.all.errors == 2);
  CHECK(result.all.skipped == 1);
  CHECK(result.mismatched == 1);
  CHECK(result.malformed == 1);
  // 4 of 16 gold brackets; 4 of 4 + 3 (the mismatched) predicted ones.
  CHECK(result.strict.recall() == 25);
  CHECK(result.strict.precision() == Approx(400.0 / 7));
  CHECK(result.strict.f1() == Approx(800.0 / 23));
  CHECK(result.sentences[1].problem == "word 2 is 'ate', in gold 'eat'");
  CHECK_THAT(result.sentences[3].problem, contains("out:4:1: this bracket is never closed"));
  const ParseScore nothing = score({gold_tree}, {""});
  CHECK(nothing.all.f1() == 0);
  CHECK(nothing.strict.f1() == 0);
  CHECK(format_parse_summary(nothing).find("nan") == std::string::npos);
  const std::vector<Tree> trees = parse_trees(gold_tree + gold_tree, "gold");
  CHECK_THROWS_WITH(score_parses(trees, std::span(trees).first(1), collins_parameters()),
                    contains("1 predicted sentences but 2 in gold"));
}

TEST_CASE("there is no limit of 200 words or brackets") {
  std::string wide = "(S", deep, closing;
  for (int i = 0; i < 1000; ++i) wide += " (NP (NN dog))";
  wide += ")";
  for (int i = 0; i < 1500; ++i) deep += "(NP ", closing += ")";
  const std::string chain = deep + "(NN dog)" + closing;
  const ParseScore result = score({wide, chain}, {wide, chain});
  CHECK(result.all.f1() == 100);
  CHECK(result.all.gold == 1001 + 1500);
  CHECK(result.all.words == 1001);
}

TEST_CASE("each table adds up to the score") {
  const ParseScore result = score_evalb_files("bug", "new.prm");
  for (const auto* table : {&result.by_label, &result.by_length, &result.by_span}) {
    BracketCounts sum;
    for (const BracketTableRow& row : *table) sum += row.counts;
    CHECK(sum == result.all);
  }
  CHECK(result.by_label[0].name == "NP");
}

TEST_CASE("labels equal by EQ_LABEL match, each counted in its own row") {
  const ParseScore result = score({"(S (PRT (RP up)) (VB go))"}, {"(S (ADVP (RP up)) (VB go))"});
  CHECK(result.all.f1() == 100);
  const auto row = std::find_if(result.by_label.begin(), result.by_label.end(),
                                [](const BracketTableRow& r) { return r.name == "PRT"; });
  REQUIRE(row != result.by_label.end());
  CHECK(row->counts == BracketCounts{1, 0, 1, 0});
}

TEST_CASE("gold trees may span several lines, and errors have their position") {
  const Lines several = {"(S (NP (PRP We))", "   (VP (VBP eat) (NP (NN rice))) (. .))", "",
                         gold_tree};
  const auto gold = gold_parses(several, "gold");
  REQUIRE(gold.size() == 2);
  CHECK(score_parses(gold, predicted_parses(several, "out", 2), collins_parameters()).all.f1() ==
        100);
  CHECK_THROWS_WITH(gold_parses(Lines{gold_tree, "(S (NP"}, "gold"), contains("gold:2:1"));
  CHECK_THROWS_AS(gold_parses(Lines{gold_tree, "(S))"}, "gold"), DataError);
  CHECK_THROWS_WITH(gold_parses(Lines{gold_tree, "(S (NN ) (VB b))"}, "gold"),
                    contains("gold:2:4: the tag 'NN' has no word"));
}

TEST_CASE("parameter files are read strictly") {
  const auto read = [](const std::string& text) { return parse_evalb_parameters(text, "a/p.prm"); };
  const EvalbParameters parameters =
      read("# no\r\nLABELED 0\r\n\nCUTOFF_LEN 10\nEQ_WORD  This this\nDELETE_LABEL\t``\n DEBUG 1");
  CHECK_FALSE(parameters.labelled);
  CHECK(parameters.cutoff_length == 10);
  CHECK(parameters.same_word("this", "This"));
  CHECK(parameters.delete_labels.contains("``"));
  CHECK(parameters.name.starts_with("p.prm["));
  CHECK(parameters.name != read("LABELED 0").name);
  CHECK_THROWS_WITH(
      read("\nDELETE_LABLE TOP"),
      contains("a/p.prm:2: DELETE_LABLE: unknown keyword; did you mean DELETE_LABEL"));
  CHECK_THROWS_WITH(read("EQ_LABEL ADVP"),
                    contains("a/p.prm:1: EQ_LABEL: expected two values, got 1"));
  CHECK_THROWS_WITH(read("LABELED 2"), contains("'2': expected 0 or 1"));
  CHECK_THROWS_AS(read("CUTOFF_LEN ten"), ConfigError);
  CHECK_THROWS_AS(read_evalb_parameters("no/such.prm"), DataError);
}

namespace {

std::vector<Tree> trees(std::initializer_list<const char*> texts) {
  std::vector<Tree> all;
  for (const char* text : texts) all.push_back(parse_trees(text, "text").at(0));
  return all;
}

const char* const kRight = "(TOP (S (NP (NN a)) (VP (VB b) (NP (NN c)))))";
const char* const kOtherTag = "(TOP (S (NP (NN a)) (VP (VBP b) (NP (NN c)))))";
const char* const kFlat = "(TOP (S (NP (NN a)) (VP (VB b)) (NP (NN c))))";

}  // namespace

TEST_CASE("the F1 of two trees counts labelled brackets, whatever the tags") {
  const auto all = trees({kRight, kOtherTag, kFlat, "(TOP (NN a))"});
  CHECK(*bracket_f1(all[0], all[1]) == 100.0);
  CHECK(*bracket_f1(all[0], all[2]) == Approx(80.0));  // 4 of 5 on both sides
  CHECK(bracket_f1(all[0], all[2]) == bracket_f1(all[2], all[0]));
  CHECK_FALSE(bracket_f1(all[0], all[3]));
}

TEST_CASE("parses agree if they are equal, or close enough to the first one") {
  CHECK(parses_agree(trees({kRight, kRight, kRight}), {}));
  CHECK_FALSE(parses_agree(trees({kRight, kRight, kOtherTag}), {}));
  CHECK(parses_agree(trees({kRight, kOtherTag}), {.min_f1 = 100.0}));
  CHECK_FALSE(parses_agree(trees({kRight, kFlat}), {.min_f1 = 80.1}));
  CHECK(parses_agree(trees({kRight, kFlat}), {.min_f1 = 79.9}));
  CHECK_FALSE(parses_agree(trees({kRight, kRight}), {.min_words = 4}));
  CHECK_FALSE(parses_agree(trees({kRight, kRight}), {.max_words = 2}));
  CHECK_THROWS_AS(parses_agree(trees({kRight, "(TOP (NN a))"}), {}), DataError);
}

TEST_CASE("an evaluator's outputs are resampled by its metric, trees in the parser's form") {
  const testing::TemporaryDirectory folder;
  const auto gold = folder.write("gold", "(S (N a) (V b))\n((S (N c)))\n");
  const auto outputs = folder.write("out", "(TOP (S (N a) (V b)))\n(TOP (X (N c)))\n");
  const EvaluatorConfig parse{.data = gold, .options = ParseEvaluation()};
  const auto resampled = parse.resampled(outputs, {.task = Task::parsing});
  CHECK(resampled.score(std::vector<uint32_t>{0, 0}) == 100);
  CHECK(resampled.score(std::vector<uint32_t>{1, 1}) == 0);
}
