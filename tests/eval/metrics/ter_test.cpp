#include "eval/metrics/ter.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json_config.h"
#include "eval/metrics/bootstrap.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"

using namespace attn;
using attn::testing::contains;

namespace {

using Lines = std::vector<std::string>;
using Words = std::vector<uint32_t>;

TerOptions ter_options(const Json& json) {
  return {.case_sensitive = json.value("case_sensitive", false),
          .normalized = json.value("normalized", false),
          .no_punct = json.value("no_punct", false),
          .asian_support = json.value("asian_support", false)};
}

void check_score(double found, const Json& expected) {
  CHECK(std::abs(found - expected.get<double>()) < 1e-9);
}

}  // namespace

TEST_CASE("TER of a text is 0 against itself, and a shift is one edit") {
  CHECK(corpus_ter(Lines{"a b c"}, std::vector<Lines>{{"a b c"}}).score == 0);
  CHECK(translation_edits(Words{3, 4, 0, 1, 2}, Words{0, 1, 2, 3, 4}) == 1);
  CHECK(translation_edits(Words{0, 9, 2}, Words{0, 1, 2}) == 1);
  CHECK(translation_edits(Words{}, Words{0, 1}) == 2);
  CHECK(translation_edits(Words{0, 1}, Words{}) == 2);
  CHECK(corpus_ter({}, std::vector<Lines>{Lines{}}).score == 0);
  CHECK(corpus_ter(Lines{"a b"}, std::vector<Lines>{{""}}).score == 100);
}

TEST_CASE("TER: a document in one line takes memory by its length, not by its square") {
  Words reference(20'000);
  std::iota(reference.begin(), reference.end(), 0);
  Words hypothesis = reference;
  std::rotate(hypothesis.begin() + 9000, hypothesis.begin() + 9003, hypothesis.begin() + 9010);
  hypothesis[15'000] = 50'000;
  CHECK(translation_edits(hypothesis, reference) == 2);
}

TEST_CASE("TER: edits are sacreBLEU's, for sentences that need many shifts") {
  const Json all = testing::golden_json("eval/data/ter_cases.json");
  for (const Json& row : all.at("edits")) {
    INFO(row.dump());
    CHECK(translation_edits(row["hypothesis"].get<Words>(), row["reference"].get<Words>()) ==
          row["edits"].get<int64_t>());
  }
}

TEST_CASE("TER of corpora and sentences is sacreBLEU's") {
  const Json all = testing::golden_json("eval/data/ter_cases.json");
  for (const Json& row : all.at("cases")) {
    INFO(row.dump());
    const Json& corpus = all.at("corpora").at(row.at("corpus").get<std::string>());
    const auto hypotheses = corpus.at("hypotheses").get<Lines>();
    const auto references = corpus.at("references").get<std::vector<Lines>>();
    const TerOptions options = ter_options(row.at("options"));
    const TerScore score = corpus_ter(hypotheses, references, options);
    check_score(score.score, row.at("score"));
    CHECK(score.signature.substr(0, score.signature.find("|version:attn-")) ==
          row.at("signature").get<std::string>());
    for (size_t i = 0; i < hypotheses.size(); ++i) {
      Lines of_sentence;
      for (const Lines& reference : references) of_sentence.push_back(reference[i]);
      check_score(ter_from_statistics(sentence_ter_statistics(hypotheses[i], of_sentence, options),
                                      options, 1)
                      .score,
                  row["sentences"][i]);
    }
  }
}

TEST_CASE("TER's intervals and p-values are sacreBLEU's") {
  const Json all = testing::golden_json("eval/data/ter_cases.json").at("bootstrap");
  const std::vector<Lines> references = {all.at("references").get<Lines>()};
  using Runs = std::vector<std::vector<TerStatistics>>;
  const auto runs = [&](const char* system) {
    return Runs{ter_statistics(all.at(system).get<Lines>(), references)};
  };
  const Runs baseline = runs("baseline"), system = runs("system");
  const auto score = [](const TerStatistics& drawn) {
    return ter_from_statistics(drawn, {}, 1).score;
  };
  const ResampledSystem compared = resampled_system(system, score);
  const PairedBootstrap found =
      resample_systems(resampled_system(baseline, score), std::span(&compared, 1));
  const Json& expected = all.at("results");
  // sacreBLEU sums in float32.
  const auto check = [](const BootstrapScore& one, const Json& row) {
    CHECK(one.score == Approx(row["score"].get<double>()).margin(1e-4));
    CHECK(one.mean == Approx(row["mean"].get<double>()).margin(1e-4));
    CHECK(one.ci == Approx(row["ci"].get<double>()).margin(1e-4));
  };
  check(found.baseline, expected["baseline"]);
  check(found.systems[0].system, expected["system"]);
  CHECK(found.systems[0].p_value ==
        Approx(expected["system"]["p_value"].get<double>()).margin(1e-3));
}

TEST_CASE("TER: invalid input is an error") {
  const Lines one = {"a"}, two = {"a", "b"};
  CHECK_THROWS_AS(corpus_ter(one, std::vector<Lines>{}), DataError);
  CHECK_THROWS_WITH(corpus_ter(one, std::vector<Lines>{two}),
                    contains("1 hypotheses but 2 sentences in reference 1"));
}
