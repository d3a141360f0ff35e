#include "eval/metrics/bootstrap.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/json_config.h"
#include "eval/metrics/numpy_random.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"

using namespace attn;

namespace {

constexpr double kExact = 1e-9;

BleuOptions no_tokenizer() {
  BleuOptions options;
  options.tokenizer = BleuTokenizer::none;
  return options;
}

std::vector<BleuStatistics> statistics(const Json& all, const std::string& system) {
  const auto hypotheses = all["systems"][system].get<std::vector<std::string>>();
  const std::vector<std::vector<std::string>> references = {
      all["references"].get<std::vector<std::string>>()};
  return bleu_statistics(hypotheses, references, no_tokenizer());
}

void check_equal(const BootstrapScore& score, const Json& expected) {
  CHECK(score.score == Approx(expected["score"].get<double>()).margin(kExact));
  CHECK(score.mean == Approx(expected["mean"].get<double>()).margin(kExact));
  CHECK(score.ci == Approx(expected["ci"].get<double>()).margin(kExact));
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
  std::vector<SystemStatistics> systems;
  for (const std::string& name : names) systems.push_back({statistics(all, name)});
  const PairedBootstrap result =
      paired_bootstrap({statistics(all, "baseline")}, systems, no_tokenizer());
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

TEST_CASE("several runs of a system are scored by their mean, on the same resamples") {
  const Json all = testing::golden_json("eval/data/bootstrap_cases.json");
  const auto a = statistics(all, "better"), b = statistics(all, "worse");
  const SystemStatistics baseline = {statistics(all, "baseline")};
  const std::vector<SystemStatistics> systems = {{a}, {b}, {a, b}, {a, a, a}};
  const PairedBootstrap result = paired_bootstrap(baseline, systems, no_tokenizer());
  const auto score = [&](size_t i) { return result.systems[i].system; };
  CHECK(score(2).score == Approx((score(0).score + score(1).score) / 2));
  CHECK(score(2).mean == Approx((score(0).mean + score(1).mean) / 2));
  CHECK(score(3).ci == Approx(score(0).ci));
  CHECK(result.systems[3].p_value == Approx(result.systems[0].p_value));
}

TEST_CASE("systems that did not translate the same text are rejected") {
  const std::vector<BleuStatistics> three(3), four(4);
  CHECK_THROWS_WITH(paired_bootstrap({three}, std::vector<SystemStatistics>{{four}}),
                    testing::contains("4 sentences"));
  CHECK_THROWS_AS(paired_bootstrap({}, {}), DataError);
  CHECK_THROWS_AS(paired_bootstrap({{}}, {}), DataError);
  CHECK_THROWS_AS(paired_bootstrap({three}, {}, {}, {.samples = 0}), ConfigError);
}
