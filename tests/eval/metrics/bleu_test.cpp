#include "eval/metrics/bleu.h"
#include "data/lines.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/error.h"
#include "base/json_config.h"
#include "base/unicode.h"
#include "eval/metrics/chrf.h"
#include "eval/metrics/ter.h"
#include "eval/metrics/text_score.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"
#include "tests/support/shared_data.h"

using namespace attn;
using namespace attn::testing;
using Lines = std::vector<std::string>;

namespace {

const Lines kHypotheses = {"the cat sat on the mat .", "a dog barked at it", "",
                           "rain again today"};
const std::vector<Lines> kReferences = {
    {"the cat sat upon the mat .", "the dog barked at it", "silence", "rain again today"},
    {"a cat was on the mat .", "it was barked at by a dog", "", "once more it rains"},
};

const BleuOptions kWordsOnly{.tokenizer = BleuTokenizer::none, .smoothing = BleuSmoothing::none};

/// The signature up to the program's version, which differs from release to release.
std::string without_version(const std::string& signature) {
  return signature.substr(0, signature.find("|version:attn-"));
}

}  // namespace

TEST_CASE("invalid input is rejected") {
  CHECK_THROWS_AS(corpus_score(kHypotheses, std::vector<Lines>{}, BleuOptions{}), DataError);
  CHECK_THROWS_AS(sentence_score("a", Lines{}, BleuOptions{}), DataError);
  CHECK_THROWS_AS(corpus_score(kHypotheses, std::vector<Lines>{}, ChrfOptions{}), DataError);
  CHECK_THROWS_AS(sentence_score("a", Lines{}, ChrfOptions{}), DataError);
  CHECK_THROWS_AS(corpus_score(kHypotheses, std::vector<Lines>{}, TerOptions{}), DataError);
  CHECK_THROWS_WITH(
      corpus_score(kHypotheses, std::vector<Lines>{kReferences[0], {"one line"}}, ChrfOptions{}),
      contains("4 hypotheses but 1 sentences in reference 2"));
  CHECK_THROWS_WITH(corpus_score(kHypotheses, std::vector<Lines>{{"one line"}}, TerOptions{}),
                    contains("4 hypotheses but 1 sentences in reference 1"));
  CHECK_THROWS_WITH((ChrfOptions{.char_order = 0}.validate()), contains("char_order: 0"));
  CHECK_THROWS_WITH((ChrfOptions{.word_order = -1}.validate()), contains("word_order: -1"));
  CHECK_THROWS_WITH((ChrfOptions{.beta = -1}.validate()), contains("beta: -1"));
  CHECK_THROWS_WITH(
      corpus_score(kHypotheses, std::vector<Lines>{kReferences[0], {"one line"}}, BleuOptions{}),
      contains("4 hypotheses but 1 sentences in reference 2"));
  BleuOptions options;
  options.smoothing_value = 0.5;
  CHECK_THROWS_AS(corpus_score(kHypotheses, kReferences, options), ConfigError);
  options.smoothing = BleuSmoothing::floor;
  CHECK_NOTHROW(corpus_score(kHypotheses, kReferences, options));
  options.smoothing_value = std::nan("");
  CHECK_THROWS_WITH(corpus_score(kHypotheses, kReferences, options), contains("finite"));
  options.smoothing_value = -1;
  CHECK_THROWS_AS(corpus_score(kHypotheses, kReferences, options), ConfigError);
}

TEST_CASE("a sentence of more different words than 16 bits number is counted exactly") {
  std::string line;
  for (int i = 0; i < 70'000; ++i) line += std::to_string(i) + " ";
  const BleuStatistics found = sentence_statistics(line, Lines{line}, kWordsOnly);
  CHECK(found.counts == std::array<int64_t, 4>{70'000, 69'999, 69'998, 69'997});
}

TEST_CASE("words are those of sacreBLEU's tokenizers") {
  const Json golden = golden_json("eval/data/bleu_cases.json");
  for (const Json& row : golden.at("tokens")) {
    const auto line = row.at("line").get<std::string>();
    for (const auto& [tokenizer, words] : row.at("words").items()) {
      INFO(tokenizer << ": " << line);
      const std::string text = bleu_tokenize(row.at("lowercase") ? to_lower(line) : line,
                                             enum_named<BleuTokenizer>(tokenizer).value());
      Lines found;
      for (const auto word : split_whitespace(text)) found.emplace_back(word);
      CHECK(found == words.get<Lines>());
    }
  }
}

TEST_CASE("scores are those of sacreBLEU") {
  const Json golden = golden_json("eval/data/bleu_cases.json");
  for (const Json& row : golden.at("cases")) {
    BleuOptions options;
    options.tokenizer = enum_named<BleuTokenizer>(row.at("tokenizer").get<std::string>()).value();
    options.smoothing = enum_named<BleuSmoothing>(row.at("smoothing").get<std::string>()).value();
    options.lowercase = row.at("lowercase");
    options.effective_order = row.at("effective_order");
    if (!row.at("smoothing_value").is_null()) options.smoothing_value = row.at("smoothing_value");
    const Json& corpus = golden.at("corpora").at(row.at("corpus").get<std::string>());
    INFO(row.dump());
    const BleuScore score =
        corpus_score(corpus.at("hypotheses").get<Lines>(),
                     corpus.at("references").get<std::vector<Lines>>(), options);
    CHECK(std::abs(score.score - row.at("score").get<double>()) < 1e-9);
    CHECK(std::abs(score.bp - row.at("bp").get<double>()) < 1e-12);
    CHECK(score.counts == row.at("counts").get<std::array<int64_t, 4>>());
    CHECK(score.totals == row.at("totals").get<std::array<int64_t, 4>>());
    for (size_t n = 0; n < 4; ++n) {
      CHECK(std::abs(score.precisions[n] - row.at("precisions")[n].get<double>()) < 1e-9);
    }
    CHECK(score.hyp_length == row.at("hyp_length").get<int64_t>());
    CHECK(score.ref_length == row.at("ref_length").get<int64_t>());
    CHECK(without_version(score.signature) == row.at("signature").get<std::string>());
  }
}

TEST_CASE("three systems of newstest2017 score as published") {
  const auto folder = shared_data("bleu");
  if (!folder) return;
  const std::vector<Lines> reference = {read_lines(*folder / "wmt17-ende/ref.de")};
  const std::vector<std::pair<std::string, BleuOptions>> columns = {
      {"sacrebleu_13a", {}},
      {"sacrebleu_13a_lc", {.lowercase = true}},
      {"sacrebleu_intl", {.tokenizer = BleuTokenizer::intl}},
      {"sacrebleu_none", {.tokenizer = BleuTokenizer::none}},
  };
  const Lines table = read_lines(*folder / "wmt17-ende/expected.tsv");
  const auto cells = [](const std::string& row) {
    Lines found;
    std::istringstream in(row);
    for (std::string cell; std::getline(in, cell, '\t');) found.push_back(cell);
    return found;
  };
  REQUIRE(table.size() == 4);
  const Lines header = cells(table[0]);
  for (size_t row = 1; row < table.size(); ++row) {
    const Lines values = cells(table[row]);
    const Lines system = read_lines(*folder / "wmt17-ende" / (values[0] + ".de"));
    for (const auto& [column, options] : columns) {
      const auto at = std::find(header.begin(), header.end(), column) - header.begin();
      INFO(values[0] << " " << column);
      CHECK(std::abs(corpus_score(system, reference, options).score -
                     std::stod(values.at(static_cast<size_t>(at)))) <= 1e-6);
    }
  }
}
