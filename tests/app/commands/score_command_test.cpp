#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ios>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;
using Json = nlohmann::ordered_json;

namespace {

/// Puts a stream's buffer in the place of another's for as long as it lives.
class Redirect {
 public:
  Redirect(std::ios& stream, std::streambuf* to) : stream_(stream), old_(stream.rdbuf(to)) {}
  ~Redirect() { stream_.rdbuf(old_); }
  Redirect(const Redirect&) = delete;
  Redirect& operator=(const Redirect&) = delete;

 private:
  std::ios& stream_;
  std::streambuf* old_;
};

struct Printed {
  std::string out, err;
};

/// Runs `attn score ARGUMENTS`.
Printed run_score(std::vector<std::string> arguments, const std::string& input = "") {
  CLI::App app;
  add_score_command(app);
  arguments.insert(arguments.begin(), "score");
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
  std::ostringstream out, err;
  const Redirect to_out(std::cout, out.rdbuf()), to_err(std::cerr, err.rdbuf());
  const TemporaryDirectory folder;
  REQUIRE(std::freopen(folder.write("in", input).c_str(), "rb", stdin) != nullptr);
  app.parse(arguments);
  return {out.str(), err.str()};
}

const std::string kText = "The cat sat on the mat.\nIt rained all day long.\n";

}  // namespace

TEST_CASE("the score is printed in one line, in sacreBLEU's form") {
  const TemporaryDirectory folder;
  const auto hypothesis = folder.write("h", "a b c d\n"),
             reference = folder.write("r", "a b c d e");
  const Printed printed = run_score({"bleu", hypothesis, reference});
  CHECK_THAT(printed.out, contains("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:"));
  CHECK_THAT(printed.out, contains(" = 77.88 100.0/100.0/100.0/100.0 (BP = 0.779 ratio = 0.800 "
                                   "hyp_len = 4 ref_len = 5)\n"));
  CHECK(std::count(printed.out.begin(), printed.out.end(), '\n') == 1);
  CHECK(printed.err.empty());
}

TEST_CASE("a byte order mark is a character, as for sacreBLEU") {
  const TemporaryDirectory folder;
  const auto reference = folder.write("r", kText);
  const auto marked = folder.write("h", "\xEF\xBB\xBF" + kText);
  const auto letter = folder.write("x", "x" + kText);
  CHECK(run_score({"bleu", marked, reference}).out == run_score({"bleu", letter, reference}).out);
  CHECK(run_score({"chrf", marked, reference}).out == run_score({"chrf", letter, reference}).out);
  CHECK(run_score({"bleu", "-", reference}, "\xEF\xBB\xBF" + kText).out ==
        run_score({"bleu", letter, reference}).out);
  CHECK_THAT(run_score({"bleu", marked, marked}).out, contains(" = 100.00 "));
}

TEST_CASE("JSON has its six keys in order, at full precision") {
  const TemporaryDirectory folder;
  const auto hypothesis = folder.write("h", "the cat sat on a mat .\nit rained\n");
  const auto reference = folder.write("r", kText);
  const auto json =
      Json::parse(run_score({"bleu", hypothesis, reference, "--lowercase", "--json"}).out);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"score", "precisions", "bp", "hyp_length", "ref_length",
                                         "signature"});
  // 8 of 9 words, 5 of 7 pairs, 2 of 5 triples, 1 of 4 quadruples; 9 words for 13
  const double bp = std::exp(1 - 13.0 / 9);
  CHECK(json["bp"].get<double>() == Approx(bp).epsilon(1e-12));
  CHECK(json["score"].get<double>() ==
        Approx(100 * bp * std::pow(8.0 / 9 * 5 / 7 * 2 / 5 * 1 / 4, 0.25)).epsilon(1e-12));
  CHECK(json["precisions"].size() == 4);
  CHECK(json["precisions"][0].get<double>() == Approx(800.0 / 9).epsilon(1e-12));
  CHECK(json["hyp_length"] == 9);
  CHECK(json["ref_length"] == 13);
}

TEST_CASE("hypotheses come from stdin, and several references count") {
  const TemporaryDirectory folder;
  const auto first = folder.write("r1", "nothing at all like it\nIt rained all day long.\n");
  const auto second = folder.write("r2", "The cat sat on the mat.\nnothing at all like it\n");
  // Line ends do not count.
  const Printed printed =
      run_score({"bleu", "-", first, second}, "The cat sat on the mat.\r\nIt rained all day long.");
  CHECK_THAT(printed.out, contains("nrefs:2|") && contains(" = 100.00 "));
}

TEST_CASE("options reach the score") {
  const TemporaryDirectory folder;
  const auto hypothesis = folder.write("h", "well-known\nA b c\n");
  const auto reference = folder.write("r", "well-worn\na b c\n");
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"bleu", hypothesis, reference});
    return run_score(options).out;
  };
  CHECK_THAT(with({"--tokenize", "compound"}), contains("tok:compound") && contains("hyp_len = 6"));
  CHECK_THAT(with({"--tokenize", "none"}), contains("hyp_len = 4"));
  CHECK_THAT(with({"--smooth", "none"}), contains("smooth:none|version") && contains(" = 0.00 "));
  CHECK_THAT(with({"--smooth", "floor", "--smooth-value", "0.25"}), contains("floor[0.25]"));
  CHECK_THAT(with({"--effective-order"}), contains("eff:yes"));
  CHECK_THAT(with({"--lowercase"}), contains("case:lc"));
}

TEST_CASE("text that looks tokenized is warned about, on stderr") {
  const TemporaryDirectory folder;
  const std::string line = "It rained all day .\n";
  std::string tokenized;
  for (int i = 0; i < 99; ++i) tokenized += line;
  const auto fewer = folder.write("fewer", tokenized), file = folder.write("t", tokenized + line);
  CHECK(run_score({"bleu", fewer, fewer}).err.empty());
  CHECK_THAT(run_score({"bleu", file, file}).err, contains("looks tokenized"));
  CHECK(run_score({"bleu", file, file, "--force"}).err.empty());
  CHECK(run_score({"bleu", file, file, "--tokenize", "none"}).err.empty());
}

TEST_CASE("errors of files that cannot be scored have file and line") {
  const TemporaryDirectory folder;
  const auto two = folder.write("two", kText), three = folder.write("three", kText + "More.\n"),
             broken = folder.write("broken", "fine\nM\xFCller\n"),
             empty = folder.write("empty", ""), absent = (folder / "absent").string();
  for (const std::string metric : {"bleu", "chrf"}) {
    CHECK_THROWS_WITH(run_score({metric, two, three}),
                      contains("three:3: ") && contains("two has no such"));
    CHECK_THROWS_WITH(run_score({metric, three, two}),
                      contains("three:3: ") && contains("two has no such"));
    CHECK_THROWS_AS(run_score({metric, absent, two}), DataError);
    CHECK_THROWS_AS(run_score({metric, two, "-"}), ConfigError);
  }
  CHECK_THROWS_WITH(run_score({"bleu", two, broken}), contains("broken:2: byte 2 of the line"));
  CHECK_THROWS_WITH(run_score({"bleu", "-", two}, "fine\n\xFF\n"),
                    contains("standard input:2: byte 1"));
  CHECK_THROWS_WITH(run_score({"bleu", empty, empty}),
                    contains("empty: empty file; nothing to score"));
  CHECK_THROWS_WITH(run_score({"bleu", two, absent}), contains("absent"));
  CHECK_THROWS_AS(run_score({"bleu", two, two, "--smooth-value", "1"}), ConfigError);
  CHECK_THROWS_WITH(run_score({"chrf", two, two, "--char-order", "0"}), contains("char_order: 0"));
}

TEST_CASE("a baseline adds both systems' intervals and the p-value of their difference") {
  const TemporaryDirectory folder;
  const std::string metric = GENERATE("bleu", "chrf", "parse");
  const bool trees = metric == "parse";
  const std::string right = trees ? "(S (NP (N it)) (V is))\n" : "the cat sat on the mat .\n",
                    wrong = trees ? "(S (N it) (VP (V is)))\n" : "a cat sat on a mat .\n";
  std::string reference, good, bad;
  for (int i = 0; i < 50; ++i) {
    reference += right;
    good += i % 5 == 0 ? wrong : right;
    bad += i % 2 == 0 ? wrong : right;
  }
  const auto ref = folder.write("ref", reference), hyp = folder.write("hyp", good),
             base = folder.write("base", bad), shorter = folder.write("short", right);
  const auto score = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {metric, trees ? ref : hyp, trees ? hyp : ref});
    if (metric == "bleu") options.push_back("--force");
    return run_score(options).out;
  };
  const auto json = Json::parse(score({"--baseline", base, "--json"}));
  CHECK(json["difference"].get<double>() == Approx(json[trees ? "f1" : "score"].get<double>() -
                                                   json["baseline"]["score"].get<double>()));
  CHECK(json["difference"].get<double>() > 0);
  CHECK(json["p_value"].get<double>() < 0.05);
  CHECK(json["ci"].get<double>() > 0);
  CHECK_THAT(score({"--baseline", base}), contains("baseline") && contains("p = 0.00"));
  CHECK_THAT(score({"--confidence"}), contains("±"));
  CHECK_THROWS_AS(score({"--baseline", shorter}), DataError);
}

TEST_CASE("chrF is scored from files and stdin, with its options in name and signature") {
  const TemporaryDirectory folder;
  const auto reference = folder.write("r", kText);
  CHECK_THAT(run_score({"chrf", reference, reference}).out,
             contains("chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attn-") &&
                 contains(" = 100.00\n"));
  CHECK_THAT(
      run_score({"chrf", "-", reference, reference, "--word-order", "2", "--lowercase"}, kText).out,
      contains("chrF2++|nrefs:2|case:lc|eff:yes|nc:6|nw:2|"));
  const auto json = Json::parse(
      run_score({"chrf", reference, reference, "--beta", "3", "--whitespace", "--json"}).out);
  CHECK(json["score"].get<double>() == Approx(100));
  CHECK(json["name"] == "chrF3");
  CHECK_THAT(json["signature"].get<std::string>(), contains("|space:yes|beta:3|"));
}

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
  CHECK_THAT(printed.out,
             contains("-- All --\nNumber of sentence        =      2\n") &&
                 contains("\n-- len<=40 --\n") &&
                 contains("F1|params:default|labelled:yes|cutoff:40|version:attn-") &&
                 contains(" = 87.50 (R = 87.50 P = 87.50 strict F1 = 87.50 valid = 2"));
  CHECK(printed.err.empty());
}

TEST_CASE("parse: with --per-sentence stdout is EVALB's output alone") {
  const Printed printed = Files(tree, wrong).score({"--per-sentence"});
  CHECK(printed.out.starts_with("  Sent.      "));
  CHECK_THAT(printed.out, contains("\n   1    4    0   75.00  75.00     3      4    4      0 "
                                   "     3     3   100.00\n") &&
                              contains("\n=== Summary ===\n") && !contains("F1|"));
  CHECK_THAT(printed.err, contains("F1|params:default"));
}

TEST_CASE("parse: JSON has percentages and counts") {
  const Files files(tree + tree + tree, tree + "(S (NP (PRP We)))\n" + "(S\n");
  const Printed printed = files.score({"--json", "--per-sentence", "--by", "label"});
  const auto json = nlohmann::json::parse(printed.out);
  const Json expected = {{"f1", 100},       {"recall", 100},  {"precision", 100}, {"complete", 100},
                         {"tagging", 100},  {"sentences", 3}, {"errors", 2},      {"skipped", 0},
                         {"mismatched", 1}, {"malformed", 1}};
  for (const auto& [key, value] : expected.items()) {
    CAPTURE(key);
    CHECK(json.at(key) == value);
  }
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
  const auto printed =
      Files(latin + latin, "(S (N\xE9 (X th\xE9)))\n" + latin).score({"--json", "--per-sentence"});
  CHECK(nlohmann::json::parse(printed.out).at("errors") == 1);
  const auto by_label = Files(latin, latin).score({"--json", "--by", "label"});
  CHECK(nlohmann::json::parse(by_label.out).at("f1") == 100);
}

TEST_CASE("parse: the parser's trees can come from stdin") {
  const Files files(tree, "");
  CHECK_THAT(run_score({"parse", files.gold, "-"}, tree).out, contains("= 100.00 (R"));
  CHECK_THROWS_AS(run_score({"parse", "-", files.gold}), ConfigError);
  CHECK_THROWS_AS(run_score({"parse", files.gold, files.gold, "--baseline", "-"}), ConfigError);
}

TEST_CASE("parse: errors are one line with the place") {
  const Files shorter(tree + tree, tree);
  CHECK_THROWS_WITH(shorter.score(), contains(shorter.out + ": 1 sentences, but " + shorter.gold +
                                              " has 2; they must match line by line"));
  CHECK_THROWS_WITH(Files("\n", tree).score(), contains("empty file"));
  const Files broken("(S (NP\n" + tree, tree + tree);
  CHECK_THROWS_WITH(broken.score(), contains(broken.gold + ":1:1"));
  const std::string params = broken.folder.write("p.prm", "LABELED 1\nDELETE TOP\n");
  CHECK_THROWS_WITH(broken.score({"--params", params}), contains("p.prm:2: DELETE: unknown"));
}

TEST_CASE("parse: a table by sentence length counts sentences") {
  const Printed printed = Files(tree + tree, tree + wrong).score({"--by", "length"});
  CHECK_THAT(printed.out,
             contains("1-10                   2       8       8   87.50   87.50   87.50\n"));
}
