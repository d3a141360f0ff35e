#include "eval/metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"
#include "tests/support/catch.h"
#include "tests/support/source_dir.h"

using namespace attn;
using attn::testing::contains;
using nlohmann::json;

namespace {

using Lines = std::vector<std::string>;

const Lines kHypotheses = {"the cat sat on the mat .", "a dog barked at it", "",
                           "rain again today"};
const std::vector<Lines> kReferences = {
    {"the cat sat upon the mat .", "the dog barked at it", "silence", "rain again today"},
    {"a cat was on the mat .", "it was barked at by a dog", "", "once more it rains"},
};

BleuScore score_one(const std::string& hypothesis, const Lines& of_sentence,
                    const BleuOptions& options) {
  return sentence_bleu(hypothesis, of_sentence, options);
}

BleuOptions words_only(BleuSmoothing smoothing = BleuSmoothing::none) {
  return {.tokenizer = BleuTokenizer::none, .smoothing = smoothing};
}

/// The signature up to the program's version, which differs from release to release.
std::string before_version(const std::string& signature) {
  return signature.substr(0, signature.find("|version:attn-"));
}

template <class E>
E parse_name(const std::string& name) {
  for (const auto& entry : EnumNames<E>::values) {
    if (entry.name == name) return entry.value;
  }
  throw std::runtime_error("unknown name " + name);
}

json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  REQUIRE(in);
  return json::parse(in);
}

/// The directory of shared BLEU data; std::nullopt if it is missing.
std::optional<std::filesystem::path> shared_bleu() {
  const char* given = std::getenv("ATTN_SHARED_DATA");
  const std::filesystem::path folder =
      (given != nullptr ? std::filesystem::path(given)
                        : std::filesystem::path(testing::kSourceDir) / "../shared/data") /
      "bleu";
  if (std::filesystem::exists(folder / "cases.json")) return folder;
  WARN("skipped: no " << folder.string());
  return std::nullopt;
}

Lines read_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// One of shared/data/bleu/cases.json, whose options have sacreBLEU's names.
BleuOptions shared_options(const json& given) {
  BleuOptions options;
  if (given.value("raw", false)) {
    options.tokenizer = BleuTokenizer::none;
    options.smoothing = BleuSmoothing::floor;
    options.smoothing_value = 0.01;
    options.effective_order = true;
    return options;
  }
  options.tokenizer = parse_name<BleuTokenizer>(given.value("tokenize", "13a"));
  options.smoothing = parse_name<BleuSmoothing>(given.value("smooth_method", "exp"));
  options.lowercase = given.value("lowercase", false);
  options.effective_order = given.value("sentence", false);
  if (given.contains("smooth_value") && !given["smooth_value"].is_null()) {
    options.smoothing_value = given["smooth_value"].get<double>();
  }
  return options;
}

}  // namespace

TEST_CASE("a text scores 100 against itself, and 0 where no word is shared") {
  const Lines text = {"one two three four five", "six seven eight nine"};
  const Lines other = {"a b c d e", "f g h i"};
  CHECK(corpus_bleu(text, std::vector<Lines>{text}).score == Approx(100));
  CHECK(corpus_bleu(text, std::vector<Lines>{other, text}).score == Approx(100));
  CHECK(corpus_bleu(text, std::vector<Lines>{other}).score == 0);
}

TEST_CASE("the order of references and of sentences doesn't matter") {
  const BleuScore score = corpus_bleu(kHypotheses, kReferences);
  CHECK(score.score > 10);
  const BleuScore swapped =
      corpus_bleu(kHypotheses, std::vector<Lines>{kReferences[1], kReferences[0]});
  CHECK(swapped.score == score.score);
  const auto reversed = [](const Lines& lines) { return Lines(lines.rbegin(), lines.rend()); };
  const BleuScore backwards =
      corpus_bleu(reversed(kHypotheses),
                  std::vector<Lines>{reversed(kReferences[0]), reversed(kReferences[1])});
  CHECK(backwards.score == score.score);
}

TEST_CASE("an additional reference never reduces the matches") {
  const auto one = bleu_statistics(kHypotheses, std::span(kReferences).first(1));
  const auto two = bleu_statistics(kHypotheses, kReferences);
  for (size_t i = 0; i < one.size(); ++i) {
    for (size_t n = 0; n < bleu_order; ++n) {
      CHECK(two[i].counts[n] >= one[i].counts[n]);
      CHECK(two[i].totals[n] == one[i].totals[n]);
      CHECK(two[i].counts[n] <= two[i].totals[n]);
    }
  }
}

TEST_CASE("a corpus is the sum of its sentences' statistics") {
  BleuStatistics sum;
  for (const BleuStatistics& one : bleu_statistics(kHypotheses, kReferences)) sum += one;
  const BleuScore from_sum = bleu_from_statistics(sum, {}, 2);
  const BleuScore direct = corpus_bleu(kHypotheses, kReferences);
  CHECK(from_sum.score == direct.score);
  CHECK(from_sum.signature == direct.signature);
  CHECK(sum.counts == direct.counts);
  CHECK(sum.hyp_length == direct.hyp_length);
}

TEST_CASE("repeated words count as often as in the reference that has most of them") {
  // the example of Papineni et al., section 2.1
  const BleuStatistics found = sentence_bleu_statistics(
      "the the the the the the the", Lines{"the cat is on the mat", "there is a cat on the mat"});
  CHECK(found.counts[0] == 2);
  CHECK(found.totals[0] == 7);
  CHECK(found.counts[1] == 0);
  CHECK(found.totals == std::array<int64_t, 4>{7, 6, 5, 4});
}

TEST_CASE("the reference length is the closest one, and the shorter of two as close") {
  const Lines lengths = {"1 2 3 4 5 6 7", "1 2 3", "1 2 3 4 5 6 7 8 9 10"};
  CHECK(sentence_bleu_statistics("a b c d e", lengths).ref_length == 3);
  CHECK(sentence_bleu_statistics("a b c d e f", lengths).ref_length == 7);
  CHECK(sentence_bleu_statistics("", lengths).ref_length == 3);
}

TEST_CASE("short output pays the brevity penalty") {
  const BleuScore score = score_one("a b c d", {"a b c d e f"}, words_only());
  CHECK(score.bp == Approx(std::exp(1.0 - 6.0 / 4.0)));
  CHECK(score.score == Approx(100 * score.bp));
  CHECK(score_one("a b c d e f g", {"a b c d e f"}, words_only()).bp == 1);
  CHECK(score_one("", {"a"}, words_only()).bp == 0);
}

TEST_CASE("smoothing methods match their definitions") {
  const std::string hypothesis = "a b x c d";  // matches 4/5, 2/4, 0/3, 0/2
  const Lines reference = {"a b y c d"};
  const auto precisions = [&](BleuSmoothing smoothing, std::optional<double> value = {}) {
    BleuOptions options = words_only(smoothing);
    options.smoothing_value = value;
    return score_one(hypothesis, reference, options).precisions;
  };
  using Four = std::array<double, 4>;
  const auto check = [](const Four& got, const Four& expected) {
    for (size_t n = 0; n < 4; ++n) CHECK(got[n] == Approx(expected[n]));
  };
  check(precisions(BleuSmoothing::none), {80, 50, 0, 0});
  check(precisions(BleuSmoothing::exp), {80, 50, 100.0 / 2 / 3, 100.0 / 4 / 2});
  check(precisions(BleuSmoothing::floor), {80, 50, 10.0 / 3, 10.0 / 2});
  check(precisions(BleuSmoothing::floor, 0.5), {80, 50, 50.0 / 3, 50.0 / 2});
  check(precisions(BleuSmoothing::add_k), {80, 60, 25, 100.0 / 3});
  check(precisions(BleuSmoothing::add_k, 2), {80, 400.0 / 6, 40, 50});
  CHECK(score_one(hypothesis, reference, words_only()).score == 0);
}

TEST_CASE("effective order scores a text too short for four-grams") {
  BleuOptions options = words_only();
  CHECK(score_one("of course", {"of course"}, options).score == 0);
  options.effective_order = true;
  CHECK(score_one("of course", {"of course"}, options).score == Approx(100));
}

TEST_CASE("13a splits off punctuation, except in numbers, and decodes entities") {
  const auto words = [](const std::string& line) {
    const std::string text = bleu_tokenize(line, BleuTokenizer::v13a);
    std::string joined;
    for (const auto word : split_whitespace(text)) {
      if (!joined.empty()) joined += ' ';
      joined += word;
    }
    return joined;
  };
  CHECK(words("Stop, he said.") == "Stop , he said .");
  CHECK(words("3,000.5 in 1999.") == "3,000.5 in 1999 .");
  CHECK(words("10-20 a-b") == "10 - 20 a-b");
  CHECK(words("&quot;A&amp;B&quot;") == "\" A & B \"");
  CHECK(words("it's") == "it's");
}

TEST_CASE("a compound split consumes both neighbours of the hyphen") {
  CHECK(split_compounds("rich-text format") == "rich ##AT##-##AT## text format");
  CHECK(split_compounds("a-b-c") == "a ##AT##-##AT## b-c");
  CHECK(split_compounds("ab-cd-ef") == "ab ##AT##-##AT## cd ##AT##-##AT## ef");
  CHECK(split_compounds("ä-ö-ü") == "ä ##AT##-##AT## ö-ü");
  CHECK(split_compounds("a - b -c d- -") == "a - b -c d- -");
  CHECK(split_compounds("a--b") == "a ##AT##-##AT## -b");
  CHECK(split_compounds("") == "");
}

TEST_CASE("the signature contains all options that change the score") {
  CHECK_THAT(bleu_signature({}, 1),
             contains("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:attn-"));
  const BleuOptions other{.tokenizer = BleuTokenizer::compound,
                          .lowercase = true,
                          .smoothing = BleuSmoothing::floor,
                          .effective_order = true};
  CHECK(before_version(bleu_signature(other, 3)) ==
        "nrefs:3|case:lc|eff:yes|tok:compound|smooth:floor[0.10]");
}

TEST_CASE("the printed line has sacreBLEU's form") {
  BleuScore score = score_one("a b c d", {"a b c d e"}, words_only());
  score.signature = "SIGNATURE";
  CHECK(format_bleu(score) ==
        "BLEU|SIGNATURE = 77.88 100.0/100.0/100.0/100.0 (BP = 0.779 ratio = 0.800 hyp_len = 4 "
        "ref_len = 5)");
}

TEST_CASE("a hundred tokenized full stops are noticed") {
  CHECK_FALSE(looks_tokenized(Lines(99, "It rains .")));
  CHECK_FALSE(looks_tokenized(Lines(200, "It rains.")));
  CHECK(looks_tokenized(Lines(100, "It rains .")));
}

TEST_CASE("invalid input is rejected") {
  CHECK_THROWS_AS(corpus_bleu(kHypotheses, std::vector<Lines>{}), DataError);
  CHECK_THROWS_AS(sentence_bleu("a", Lines{}), DataError);
  CHECK_THROWS_WITH(corpus_bleu(kHypotheses, std::vector<Lines>{kReferences[0], {"one line"}}),
                    contains("4 hypotheses but 1 sentences in reference 2"));
  BleuOptions options;
  options.smoothing_value = 0.5;
  CHECK_THROWS_AS(corpus_bleu(kHypotheses, kReferences, options), ConfigError);
  options.smoothing = BleuSmoothing::floor;
  CHECK_NOTHROW(corpus_bleu(kHypotheses, kReferences, options));
  options.smoothing_value = std::nan("");
  CHECK_THROWS_WITH(corpus_bleu(kHypotheses, kReferences, options), contains("finite"));
  options.smoothing_value = -1;
  CHECK_THROWS_AS(corpus_bleu(kHypotheses, kReferences, options), ConfigError);
}

TEST_CASE("a sentence of more different words than 16 bits number is counted exactly") {
  std::string line;
  for (int i = 0; i < 70'000; ++i) line += std::to_string(i) + " ";
  const BleuStatistics found = sentence_bleu_statistics(line, Lines{line}, words_only());
  CHECK(found.counts == std::array<int64_t, 4>{70'000, 69'999, 69'998, 69'997});
}

TEST_CASE("words are those of sacreBLEU's tokenizers") {
  const json golden =
      read_json(testing::kSourceDir + std::string("/tests/eval/data/bleu_cases.json"));
  for (const json& row : golden.at("tokens")) {
    const auto line = row.at("line").get<std::string>();
    for (const auto& [tokenizer, words] : row.at("words").items()) {
      INFO(tokenizer << ": " << line);
      const std::string text = bleu_tokenize(row.at("lowercase") ? to_lower(line) : line,
                                             parse_name<BleuTokenizer>(tokenizer));
      Lines found;
      for (const auto word : split_whitespace(text)) found.emplace_back(word);
      CHECK(found == words.get<Lines>());
    }
  }
}

TEST_CASE("scores are those of sacreBLEU") {
  const json golden =
      read_json(testing::kSourceDir + std::string("/tests/eval/data/bleu_cases.json"));
  for (const json& row : golden.at("cases")) {
    BleuOptions options;
    options.tokenizer = parse_name<BleuTokenizer>(row.at("tokenizer"));
    options.smoothing = parse_name<BleuSmoothing>(row.at("smoothing"));
    options.lowercase = row.at("lowercase");
    options.effective_order = row.at("effective_order");
    if (!row.at("smoothing_value").is_null()) options.smoothing_value = row.at("smoothing_value");
    const json& corpus = golden.at("corpora").at(row.at("corpus").get<std::string>());
    INFO(row.dump());
    const BleuScore score = corpus_bleu(corpus.at("hypotheses").get<Lines>(),
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
    CHECK(before_version(score.signature) == row.at("signature").get<std::string>());
  }
}

TEST_CASE("the shared cases score as sacreBLEU 2.6 scores them") {
  const auto folder = shared_bleu();
  if (!folder) return;
  for (const json& row : read_json(*folder / "cases.json")) {
    const BleuScore score =
        corpus_bleu(row.at("hyps").get<Lines>(), row.at("refs").get<std::vector<Lines>>(),
                    shared_options(row.at("options")));
    INFO(row.dump());
    CHECK(std::abs(score.score - row.at("expected").get<double>()) <= row.at("tol").get<double>());
    CHECK(std::abs(score.score - row.at("sacrebleu_2_6_0").get<double>()) <= 1e-6);
    if (row.contains("bp")) CHECK(std::abs(score.bp - row.at("bp").get<double>()) <= 1e-9);
  }
}

TEST_CASE("three systems of newstest2017 score as published") {
  const auto folder = shared_bleu();
  if (!folder) return;
  const std::vector<Lines> reference = {read_text(*folder / "wmt17-ende/ref.de")};
  const std::vector<std::pair<std::string, BleuOptions>> columns = {
      {"sacrebleu_13a", {}},
      {"sacrebleu_13a_lc", {.lowercase = true}},
      {"sacrebleu_intl", {.tokenizer = BleuTokenizer::intl}},
      {"sacrebleu_none", {.tokenizer = BleuTokenizer::none}},
  };
  const Lines table = read_text(*folder / "wmt17-ende/expected.tsv");
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
    const Lines system = read_text(*folder / "wmt17-ende" / (values[0] + ".de"));
    for (const auto& [column, options] : columns) {
      const auto at = std::find(header.begin(), header.end(), column) - header.begin();
      INFO(values[0] << " " << column);
      CHECK(std::abs(corpus_bleu(system, reference, options).score -
                     std::stod(values.at(static_cast<size_t>(at)))) <= 1e-6);
    }
  }
}
