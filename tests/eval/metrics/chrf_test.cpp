// chrF, TER and the bootstrap against sacreBLEU (golden values: tools/goldens).
#include "eval/metrics/chrf.h"
#include "data/lines.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_config.h"
#include "eval/metrics/bootstrap.h"
#include "eval/metrics/numpy_random.h"
#include "eval/metrics/ter.h"
#include "eval/metrics/text_score.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"
#include "tests/support/shared_data.h"

using namespace attn;
using namespace attn::testing;
using Lines = std::vector<std::string>;

namespace {

constexpr double kExact = 1e-9;

void check_exact(double found, const Json& expected) {
  CHECK(std::abs(found - expected.get<double>()) < kExact);
}

void check_equal(const BootstrapScore& found, const Json& expected, double margin = kExact) {
  CHECK(found.score == Approx(expected["score"].get<double>()).margin(margin));
  CHECK(found.mean == Approx(expected["mean"].get<double>()).margin(margin));
  CHECK(found.ci == Approx(expected["ci"].get<double>()).margin(margin));
}

/// A signature as sacreBLEU has it, which leaves chrF's β to the score's name.
std::string before_version(const std::string& signature) {
  return signature.substr(0, std::min(signature.find("|beta:"), signature.find("|version:attn-")));
}

/// Each of `all`'s cases: score and signature of the corpus, and the score of each sentence.
template <class Options>
void check_cases(const Json& all, Options&& options_of) {
  for (const Json& row : all.at("cases")) {
    INFO(row.dump());
    const Json& corpus = all.at("corpora").at(row.at("corpus").get<std::string>());
    const auto hypotheses = corpus.at("hypotheses").get<Lines>();
    const auto references = corpus.at("references").get<std::vector<Lines>>();
    const auto options = options_of(row.at("options"));
    const auto score = corpus_score(hypotheses, references, options);
    check_exact(score.score, row.at("score"));
    CHECK(before_version(score.signature) == row.at("signature").get<std::string>());
    for (size_t i = 0; i < hypotheses.size(); ++i) {
      Lines of_sentence;
      for (const Lines& reference : references) of_sentence.push_back(reference[i]);
      check_exact(sentence_score(hypotheses[i], of_sentence, options).score, row["sentences"][i]);
    }
  }
}

/// The bootstrap of `all`'s baseline and system.
template <class Options>
void check_bootstrap(const Json& all, const Json& baseline, const Json& system,
                     const Options& options) {
  const std::vector<Lines> references = {all.at("references").get<Lines>()};
  const auto resampled = [&](const char* name) {
    return resampled_text(corpus_statistics(all.at(name).get<Lines>(), references, options),
                          options);
  };
  const ResampledSystem compared = resampled("system");
  const PairedBootstrap found = resample_systems(resampled("baseline"), std::span(&compared, 1));
  constexpr double kFloat32 = 1e-4;  // in which sacreBLEU sums
  check_equal(found.baseline, baseline, kFloat32);
  check_equal(found.systems[0].system, system, kFloat32);
  CHECK(found.systems[0].p_value == Approx(system["p_value"].get<double>()).margin(1e-3));
}

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

}  // namespace

TEST_CASE("chrF of corpora and sentences is sacreBLEU's") {
  const Json all = golden_json("eval/data/chrf_cases.json");
  check_cases(all, chrf_options);
  for (const Json& row : all.at("cases")) {
    const ChrfOptions options = chrf_options(row.at("options"));
    CHECK(corpus_score(Lines{"a"}, std::vector<Lines>{{"a"}}, options).name ==
          row.at("name").get<std::string>());
  }
}

TEST_CASE("chrF's intervals and p-values are sacreBLEU's") {
  const Json all = golden_json("eval/data/chrf_cases.json").at("bootstrap");
  for (const Json& row : all.at("results")) {
    check_bootstrap(all, row["baseline"], row["system"], chrf_options(row));
  }
}

TEST_CASE("chrF of three systems of newstest2017 is sacreBLEU's") {
  const auto shared = shared_data("bleu");
  if (!shared) return;
  const std::filesystem::path folder = *shared / "wmt17-ende";
  const std::vector<Lines> references = {read_lines(folder / "ref.de")};
  const Json all = golden_json("eval/data/chrf_cases.json").at("wmt17");
  for (size_t i = 0; i < all.size(); i += 4) {  // each takes seconds: other options every time
    const Json& row = all[i];
    INFO(row.dump());
    const Lines system = read_lines(folder / row.at("system").get<std::string>());
    check_exact(corpus_score(system, references, chrf_options(row.at("options"))).score,
                row.at("score"));
  }
}

namespace {

using Words = std::vector<uint32_t>;

TerOptions ter_options(const Json& json) {
  return {.case_sensitive = json.value("case_sensitive", false),
          .normalized = json.value("normalized", false),
          .no_punct = json.value("no_punct", false),
          .asian_support = json.value("asian_support", false)};
}

}  // namespace

TEST_CASE("TER: a document in one line takes memory by its length, not by its square") {
  Words reference(20'000);
  std::iota(reference.begin(), reference.end(), 0);
  Words hypothesis = reference;
  std::rotate(hypothesis.begin() + 9000, hypothesis.begin() + 9003, hypothesis.begin() + 9010);
  hypothesis[15'000] = 50'000;
  CHECK(translation_edits(hypothesis, reference) == 2);
}

TEST_CASE("TER: edits are sacreBLEU's, for sentences that need many shifts") {
  const Json all = golden_json("eval/data/ter_cases.json");
  for (const Json& row : all.at("edits")) {
    INFO(row.dump());
    CHECK(translation_edits(row["hypothesis"].get<Words>(), row["reference"].get<Words>()) ==
          row["edits"].get<int64_t>());
  }
}

TEST_CASE("TER of corpora and sentences is sacreBLEU's") {
  check_cases(golden_json("eval/data/ter_cases.json"), ter_options);
  CHECK_THROWS_AS(TerOptions{.asian_support = true}.validate(), ConfigError);
}

TEST_CASE("TER's intervals and p-values are sacreBLEU's") {
  const Json all = golden_json("eval/data/ter_cases.json").at("bootstrap");
  check_bootstrap(all, all.at("results")["baseline"], all.at("results")["system"], TerOptions{});
}

namespace {

const BleuOptions kNoTokenizer{.tokenizer = BleuTokenizer::none};

ResampledSystem resampled(const Lines& hypotheses, const Lines& reference) {
  return resampled_text(corpus_statistics(hypotheses, std::vector<Lines>{reference}, kNoTokenizer),
                        kNoTokenizer);
}

}  // namespace

TEST_CASE("draws are those of NumPy's default_rng(seed).choice") {
  const Json all = testing::golden_json("eval/data/bootstrap_cases.json");
  REQUIRE(all["draws"].size() == 24);
  for (const Json& draw : all["draws"]) {
    INFO(draw.dump());
    NumpyGenerator random(draw["seed"].get<uint64_t>());
    for (const Json& value : draw["values"]) {
      CHECK(random.below(draw["bound"].get<uint32_t>()) == value.get<uint32_t>());
    }
  }
}

TEST_CASE("intervals and p-values are sacreBLEU's") {
  const Json all = testing::golden_json("eval/data/bootstrap_cases.json");
  const std::vector<std::string> names = {"alike", "better", "worse", "same"};
  std::vector<ResampledSystem> systems;
  const auto reference = all["references"].get<Lines>();
  for (const std::string& name : names) {
    systems.push_back(resampled(all["systems"][name].get<Lines>(), reference));
  }
  const ResampledSystem baseline = resampled(all["systems"]["baseline"].get<Lines>(), reference);
  const PairedBootstrap result = resample_systems(baseline, systems);
  check_equal(result.baseline, all["results"]["baseline"]);
  for (size_t i = 0; i < names.size(); ++i) {
    INFO(names[i]);
    const Json& expected = all["results"][names[i]];
    check_equal(result.systems[i].system, expected);
    CHECK(result.systems[i].p_value == Approx(expected["p_value"].get<double>()).margin(kExact));
    CHECK(result.systems[i].difference ==
          Approx(result.systems[i].system.score - result.baseline.score));
  }
}

TEST_CASE("systems that did not translate the same text are rejected") {
  const ResampledSystem none = resampled({}, {}), three = resampled(Lines(3), Lines(3)),
                        four = resampled(Lines(4), Lines(4));
  CHECK_THROWS_WITH(resample_systems(three, std::span(&four, 1)), testing::contains("4 sentences"));
  CHECK_THROWS_AS(require_same_sentences({}), DataError);
  CHECK_THROWS_AS(resample_systems(none, {}), DataError);
  CHECK_THROWS_AS(resample_systems(three, {}, {.samples = 0}), ConfigError);
}
