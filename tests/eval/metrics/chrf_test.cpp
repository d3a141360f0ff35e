#include "eval/metrics/chrf.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json_config.h"
#include "eval/metrics/bootstrap.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"
#include "tests/support/source_dir.h"

using namespace attn;
using attn::testing::contains;

namespace {

using Lines = std::vector<std::string>;

ChrfOptions chrf_options(const Json& json) {
  ChrfOptions options;
  options.char_order = json.value("char_order", options.char_order);
  options.word_order = json.value("word_order", options.word_order);
  options.beta = json.value("beta", options.beta);
  options.lowercase = json.value("lowercase", false);
  options.whitespace = json.value("whitespace", false);
  options.eps_smoothing = json.value("eps_smoothing", false);
  return options;
}

/// As sacreBLEU has it, which leaves β to the score's name.
std::string before_beta_and_version(const std::string& signature) {
  return signature.substr(0, std::min(signature.find("|beta:"), signature.find("|version:attn-")));
}

void check_close(double found, const Json& expected) {
  CHECK(std::abs(found - expected.get<double>()) < 1e-9);
}

}  // namespace

TEST_CASE("chrF of a text is 100 against itself, and 0 where no character is shared") {
  const Lines text = {"one two three", "four"}, other = {"xyz", "jkl"};
  CHECK(corpus_chrf(text, std::vector<Lines>{text}).score == Approx(100));
  CHECK(corpus_chrf(text, std::vector<Lines>{other}).score == 0);
  CHECK(corpus_chrf(text, std::vector<Lines>{other, text}).score == Approx(100));
  CHECK(corpus_chrf({}, std::vector<Lines>{Lines{}}).score == 0);
}

TEST_CASE("n-grams are counted as often as in the reference") {
  const ChrfOptions options{.char_order = 2, .word_order = 1};
  const ChrfStatistics found = sentence_chrf_statistics("aa a, b", Lines{"a a b!"}, options);
  // "aaa,b" and "aab!"; the words aa a , b and a a b !
  CHECK(found.orders == std::vector<ChrfCounts>{{5, 4, 3}, {4, 3, 1}, {4, 4, 2}});
}

TEST_CASE("chrF's signature contains all options that change the score") {
  CHECK_THAT(chrf_signature({}, 1),
             contains("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:attn-"));
  const ChrfOptions other{.char_order = 4,
                          .word_order = 2,
                          .beta = 3,
                          .lowercase = true,
                          .whitespace = true,
                          .eps_smoothing = true};
  CHECK_THAT(chrf_signature(other, 2),
             contains("nrefs:2|case:lc|eff:no|nc:4|nw:2|space:yes|beta:3|version:attn-"));
  CHECK_THAT(format_chrf(corpus_chrf(Lines{"a"}, std::vector<Lines>{{"a"}}, {.word_order = 2})),
             contains("chrF2++|nrefs:1|") && contains(" = 100.00"));
}

TEST_CASE("chrF: invalid input is an error") {
  const Lines one = {"a"}, two = {"a", "b"};
  CHECK_THROWS_AS(corpus_chrf(one, std::vector<Lines>{}), DataError);
  CHECK_THROWS_AS(sentence_chrf("a", Lines{}), DataError);
  CHECK_THROWS_WITH(corpus_chrf(one, std::vector<Lines>{one, two}),
                    contains("1 hypotheses but 2 sentences in reference 2"));
  CHECK_THROWS_WITH(corpus_chrf(one, std::vector<Lines>{one}, {.char_order = 0}),
                    contains("char_order: 0"));
  CHECK_THROWS_WITH(corpus_chrf(one, std::vector<Lines>{one}, {.word_order = -1}),
                    contains("word_order: -1"));
  CHECK_THROWS_WITH(corpus_chrf(one, std::vector<Lines>{one}, {.beta = -1}), contains("beta: -1"));
}

TEST_CASE("chrF of corpora and sentences is sacreBLEU's") {
  const Json all = testing::golden_json("eval/data/chrf_cases.json");
  for (const Json& row : all.at("cases")) {
    INFO(row.dump());
    const Json& corpus = all.at("corpora").at(row.at("corpus").get<std::string>());
    const auto hypotheses = corpus.at("hypotheses").get<Lines>();
    const auto references = corpus.at("references").get<std::vector<Lines>>();
    const ChrfOptions options = chrf_options(row.at("options"));
    const ChrfScore score = corpus_chrf(hypotheses, references, options);
    check_close(score.score, row.at("score"));
    CHECK(score.name == row.at("name").get<std::string>());
    CHECK(before_beta_and_version(score.signature) == row.at("signature").get<std::string>());
    for (size_t i = 0; i < hypotheses.size(); ++i) {
      Lines of_sentence;
      for (const Lines& reference : references) of_sentence.push_back(reference[i]);
      check_close(sentence_chrf(hypotheses[i], of_sentence, options).score, row["sentences"][i]);
    }
  }
}

TEST_CASE("chrF's intervals and p-values are sacreBLEU's") {
  const Json all = testing::golden_json("eval/data/chrf_cases.json").at("bootstrap");
  const std::vector<Lines> references = {all.at("references").get<Lines>()};
  using Runs = std::vector<std::vector<ChrfStatistics>>;
  for (const Json& row : all.at("results")) {
    const ChrfOptions options = chrf_options(row);
    const auto runs = [&](const char* system) {
      return Runs{chrf_statistics(all.at(system).get<Lines>(), references, options)};
    };
    const Runs baseline = runs("baseline"), system = runs("system");
    const auto score = [&](const ChrfStatistics& statistics) {
      return chrf_from_statistics(statistics, options, 1).score;
    };
    const ResampledSystem compared = resampled_system(system, score);
    const PairedBootstrap found =
        resample_systems(resampled_system(baseline, score), std::span(&compared, 1));
    // sacreBLEU sums in float32.
    const auto check = [](const BootstrapScore& one, const Json& expected) {
      CHECK(one.score == Approx(expected["score"].get<double>()).margin(1e-4));
      CHECK(one.mean == Approx(expected["mean"].get<double>()).margin(1e-4));
      CHECK(one.ci == Approx(expected["ci"].get<double>()).margin(1e-4));
    };
    check(found.baseline, row["baseline"]);
    check(found.systems[0].system, row["system"]);
    CHECK(found.systems[0].p_value == Approx(row["system"]["p_value"].get<double>()).margin(1e-3));
  }
}

TEST_CASE("chrF of three systems of newstest2017 is sacreBLEU's") {
  const char* given = std::getenv("ATTN_SHARED_DATA");
  const std::filesystem::path folder =
      (given != nullptr ? std::filesystem::path(given)
                        : std::filesystem::path(testing::kSourceDir) / "../shared/data") /
      "bleu/wmt17-ende";
  if (!std::filesystem::exists(folder / "ref.de")) {
    WARN("skipped: no " << folder.string());
    return;
  }
  const std::vector<Lines> references = {read_lines(folder / "ref.de")};
  const Json all = testing::golden_json("eval/data/chrf_cases.json");
  for (const Json& row : all.at("wmt17")) {
    INFO(row.dump());
    const Lines system = read_lines(folder / row.at("system").get<std::string>());
    check_close(corpus_chrf(system, references, chrf_options(row.at("options"))).score,
                row.at("score"));
  }
}
