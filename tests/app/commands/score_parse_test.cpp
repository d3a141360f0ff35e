#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/score_command.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;

namespace {

const std::string tree = "(TOP (S (NP (PRP We)) (VP (VBP eat) (NP (NN rice))) (. .)))\n";
const std::string wrong = "(TOP (S (NP (PRP We)) (PP (VBP eat) (NP (NN rice))) (. .)))\n";

/// Files "gold" and "out" in a folder of their own.
struct Files {
  TemporaryDirectory folder;
  std::string gold, out;
  Files(const std::string& gold_text, const std::string& out_text)
      : gold(folder.write("gold", gold_text)), out(folder.write("out", out_text)) {}
  Printed score(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"parse", gold, out});
    return run_score(options);
  }
};

}  // namespace

TEST_CASE("parse: both summaries are printed, then one line with F1, signature and strict F1") {
  const Printed printed = Files(tree + tree, tree + wrong).score();
  CHECK_THAT(printed.out, contains("-- All --\nNumber of sentence        =      2\n"));
  CHECK_THAT(printed.out, contains("\n-- len<=40 --\n"));
  CHECK_THAT(printed.out, contains("F1|params:default|labelled:yes|cutoff:40|version:attn-"));
  CHECK_THAT(printed.out, contains(" = 87.50 (R = 87.50 P = 87.50 strict F1 = 87.50 valid = 2"));
  CHECK(printed.err.empty());
}

TEST_CASE("parse: with --per-sentence stdout is EVALB's output alone") {
  const Printed printed = Files(tree, wrong).score({"--per-sentence"});
  CHECK(printed.out.starts_with("  Sent.      "));
  CHECK_THAT(printed.out, contains("\n   1    4    0   75.00  75.00     3      4    4      0 "
                                   "     3     3   100.00\n"));
  CHECK_THAT(printed.out, contains("\n=== Summary ===\n"));
  CHECK(printed.out.find("F1|") == std::string::npos);
  CHECK_THAT(printed.err, contains("F1|params:default"));
}

TEST_CASE("parse: JSON has percentages and counts") {
  const Files files(tree + tree + tree, tree + "(S (NP (PRP We)))\n" + "(S\n");
  const Printed printed = files.score({"--json", "--per-sentence", "--by", "label"});
  const auto json = nlohmann::json::parse(printed.out);
  CHECK(json.at("f1") == 100);
  CHECK(json.at("recall") == 100);
  CHECK(json.at("precision") == 100);
  CHECK(json.at("complete") == 100);
  CHECK(json.at("tagging") == 100);
  CHECK(json.at("sentences") == 3);
  CHECK(json.at("errors") == 2);
  CHECK(json.at("skipped") == 0);
  CHECK(json.at("mismatched") == 1);
  CHECK(json.at("malformed") == 1);
  CHECK(json.at("strict_recall").get<double>() == Approx(100.0 / 3));
  CHECK(json.at("strict_precision").get<double>() == Approx(400.0 / 6));
  CHECK(json.at("strict_f1").get<double>() == Approx(800.0 / 18));
  CHECK(json.at("cutoff").at("length") == 40);
  CHECK(json.at("per_sentence").at(1).at("status") == 1);
  CHECK(json.at("per_sentence").at(1).at("problem") == "1 words, in gold 3");
  CHECK(json.at("by_label").at(0).at("name") == "NP");
  CHECK_THAT(printed.err, contains("sentence 2: " + files.out + ": 1 words, in gold 3\n"));
  CHECK_THAT(printed.err, contains("sentence 3: " + files.out + ":3:1: this bracket"));
}

TEST_CASE("parse: words and labels that are not UTF-8 don't break JSON") {
  const std::string latin = "(S (N\xE9 (X caf\xE9)))\n";
  const auto printed = Files(latin, "(S (N\xE9 (X th\xE9)))\n").score({"--json", "--per-sentence"});
  CHECK(nlohmann::json::parse(printed.out).at("errors") == 1);
  CHECK(
      nlohmann::json::parse(Files(latin, latin).score({"--json", "--by", "label"}).out).at("f1") ==
      100);
}

TEST_CASE("parse: the parser's trees can come from stdin") {
  const Files files(tree, "");
  CHECK_THAT(run_score({"parse", files.gold, "-"}, tree).out, contains("= 100.00 (R"));
  CHECK_THROWS_AS(run_score({"parse", "-", files.gold}), ConfigError);
}

TEST_CASE("parse: errors are one line with the place") {
  const Files shorter(tree + tree, tree);
  CHECK_THROWS_WITH(shorter.score(), contains(shorter.out + ": 1 sentences, but " + shorter.gold +
                                              " has 2; they must match line by line"));
  CHECK_THROWS_WITH(Files("\n", tree).score(), contains("empty file"));
  const Files broken("(S (NP\n" + tree, tree + tree);
  CHECK_THROWS_WITH(broken.score(), contains(broken.gold + ":1:1"));
  const Files files(tree, tree);
  const std::string params = files.folder.write("p.prm", "LABELED 1\nDELETE TOP\n");
  CHECK_THROWS_WITH(files.score({"--params", params}),
                    contains("p.prm:2: DELETE: unknown keyword"));
}

TEST_CASE("parse: a table by sentence length counts sentences") {
  const Printed printed = Files(tree + tree, tree + wrong).score({"--by", "length"});
  CHECK_THAT(printed.out,
             contains("1-10                   2       8       8   87.50   87.50   87.50\n"));
}
