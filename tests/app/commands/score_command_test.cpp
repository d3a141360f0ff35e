#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/score_command.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;
using Json = nlohmann::ordered_json;

namespace {

/// Runs `attn score bleu ARGUMENTS`.
Printed score_bleu(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), "bleu");
  return run_score(std::move(arguments), input);
}

/// Runs `attn score chrf ARGUMENTS`.
Printed score_chrf(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), "chrf");
  return run_score(std::move(arguments), input);
}

const std::string kText = "The cat sat on the mat.\nIt rained all day long.\n";

}  // namespace

TEST_CASE("the score is printed in one line") {
  const TemporaryDirectory folder;
  const auto file = folder.write("a", kText);
  const Printed printed = score_bleu({file, file});
  CHECK_THAT(printed.out, contains("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:"));
  CHECK_THAT(printed.out, contains(" = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 "
                                   "hyp_len = 13 ref_len = 13)\n"));
  CHECK(std::count(printed.out.begin(), printed.out.end(), '\n') == 1);
  CHECK(printed.err.empty());
}

TEST_CASE("a byte order mark is a character, as for sacreBLEU") {
  const TemporaryDirectory folder;
  const auto reference = folder.write("r", kText);
  const auto marked = folder.write("h", "\xEF\xBB\xBF" + kText);
  const auto letter = folder.write("x", "x" + kText);
  CHECK(score_bleu({marked, reference}).out == score_bleu({letter, reference}).out);
  CHECK(score_chrf({marked, reference}).out == score_chrf({letter, reference}).out);
  CHECK(score_bleu({"-", reference}, "\xEF\xBB\xBF" + kText).out ==
        score_bleu({letter, reference}).out);
  CHECK_THAT(score_bleu({marked, marked}).out, contains(" = 100.00 "));
}

TEST_CASE("JSON has its six keys in order, at full precision") {
  const TemporaryDirectory folder;
  const auto hypothesis = folder.write("h", "the cat sat on a mat .\nit rained\n");
  const auto reference = folder.write("r", kText);
  const auto json = Json::parse(score_bleu({hypothesis, reference, "--lowercase", "--json"}).out);
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
      score_bleu({"-", first, second}, "The cat sat on the mat.\r\nIt rained all day long.");
  CHECK_THAT(printed.out, contains("nrefs:2|") && contains(" = 100.00 "));
}

TEST_CASE("options reach the score") {
  const TemporaryDirectory folder;
  const auto hypothesis = folder.write("h", "well-known\nA b c\n");
  const auto reference = folder.write("r", "well-worn\na b c\n");
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {hypothesis, reference});
    return score_bleu(options).out;
  };
  CHECK_THAT(with({"--tokenize", "compound"}), contains("tok:compound"));
  CHECK_THAT(with({"--tokenize", "compound"}), contains("hyp_len = 6"));
  CHECK_THAT(with({"--tokenize", "none"}), contains("hyp_len = 4"));
  CHECK_THAT(with({"--smooth", "none"}), contains("smooth:none|version"));
  CHECK_THAT(with({"--smooth", "none"}), contains(" = 0.00 "));
  CHECK_THAT(with({"--smooth", "floor", "--smooth-value", "0.25"}), contains("floor[0.25]"));
  CHECK_THAT(with({"--effective-order"}), contains("eff:yes"));
  CHECK_THAT(with({"--lowercase"}), contains("case:lc"));
}

TEST_CASE("text that looks tokenized is warned about, on stderr") {
  const TemporaryDirectory folder;
  std::string tokenized;
  for (int i = 0; i < 100; ++i) tokenized += "It rained all day .\n";
  const auto file = folder.write("t", tokenized);
  CHECK_THAT(score_bleu({file, file}).err, contains("looks tokenized"));
  CHECK(score_bleu({file, file, "--force"}).err.empty());
  CHECK(score_bleu({file, file, "--tokenize", "none"}).err.empty());
}

TEST_CASE("errors of files that cannot be scored have file and line") {
  const TemporaryDirectory folder;
  const auto two = folder.write("two", kText), three = folder.write("three", kText + "More.\n"),
             broken = folder.write("broken", "fine\nM\xFCller\n"),
             empty = folder.write("empty", ""), absent = (folder / "absent").string();
  for (const auto& score : {score_bleu, score_chrf}) {
    CHECK_THROWS_WITH(score({two, three}, ""),
                      contains("three:3: ") && contains("two has no such"));
    CHECK_THROWS_WITH(score({three, two}, ""),
                      contains("three:3: ") && contains("two has no such"));
    CHECK_THROWS_AS(score({absent, two}, ""), DataError);
    CHECK_THROWS_AS(score({two, "-"}, ""), ConfigError);
  }
  CHECK_THROWS_WITH(score_bleu({two, broken}), contains("broken:2: byte 2 of the line"));
  CHECK_THROWS_WITH(score_bleu({"-", two}, "fine\n\xFF\n"), contains("<stdin>:2: byte 1"));
  CHECK_THROWS_WITH(score_bleu({empty, empty}), contains("empty: empty file; nothing to score"));
  CHECK_THROWS_WITH(score_bleu({two, absent}), contains("absent"));
  CHECK_THROWS_AS(score_bleu({two, two, "--tokenize", "moses"}), CLI::ValidationError);
  CHECK_THROWS_AS(score_bleu({two, two, "--smooth", "lots"}), CLI::ValidationError);
  CHECK_THROWS_AS(score_bleu({two}), CLI::RequiredError);
  CHECK_THROWS_AS(score_bleu({two, two, "--smooth-value", "1"}), ConfigError);
  CHECK_THROWS_AS(score_bleu({two, two, "--smooth", "floor", "--smooth-value", "-1"}), ConfigError);
  CHECK_THROWS_WITH(score_chrf({two, two, "--char-order", "0"}), contains("char_order: 0"));
  CHECK_THROWS_AS(score_chrf({two, two, "--word-order", "x"}), CLI::ParseError);
}

TEST_CASE("a baseline adds both systems' intervals and the p-value of their difference") {
  const TemporaryDirectory folder;
  std::string reference, good, bad;
  for (int i = 0; i < 50; ++i) {
    reference += "the cat sat on the mat .\n";
    good += i % 5 == 0 ? "a cat sat on a mat .\n" : "the cat sat on the mat .\n";
    bad += i % 2 == 0 ? "a cat sat on a mat .\n" : "the cat sat on the mat .\n";
  }
  const auto ref = folder.write("ref", reference), hyp = folder.write("hyp", good),
             base = folder.write("base", bad), shorter = folder.write("short", "the cat\n");
  const std::string metric = GENERATE("bleu", "chrf");
  const auto score = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {metric, hyp, ref});
    if (metric == "bleu") options.push_back("--force");
    return run_score(options).out;
  };
  const auto json = Json::parse(score({"--baseline", base, "--json"}));
  CHECK(json["difference"].get<double>() ==
        Approx(json["score"].get<double>() - json["baseline"]["score"].get<double>()));
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
  CHECK_THAT(score_chrf({reference, reference}).out,
             contains("chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attn-") &&
                 contains(" = 100.00\n"));
  CHECK_THAT(score_chrf({"-", reference, reference, "--word-order", "2", "--lowercase"}, kText).out,
             contains("chrF2++|nrefs:2|case:lc|eff:yes|nc:6|nw:2|"));
  const auto json =
      Json::parse(score_chrf({reference, reference, "--beta", "3", "--whitespace", "--json"}).out);
  CHECK(json["score"].get<double>() == Approx(100));
  CHECK(json["name"] == "chrF3");
  CHECK_THAT(json["signature"].get<std::string>(), contains("|space:yes|beta:3|"));
}
