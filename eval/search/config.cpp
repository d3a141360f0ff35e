#include "eval/search/config.h"

#include <cmath>

#include "base/check.h"

namespace attn {
namespace {

void validate_sampling(const SearchConfig& config) {
  const SearchConfig defaults;
  require_between("samples", config.samples, 1, 10000);
  require(config.temperature >= 1e-6 && config.temperature <= 100, "temperature",
          config.temperature, "must be from 1e-6 to 100; for the likeliest output use method=beam");
  require(config.top_k >= 0, "top_k", config.top_k, "must be 0 or more");
  require(config.top_p > 0 && config.top_p <= 1, "top_p", config.top_p,
          "must be above 0 and at most 1");
  require(config.seed >= 0, "seed", config.seed, "must be 0 or more");
  if (config.method == SearchMethod::sample) {
    require(config.prune == 0, "prune", config.prune, "requires method=beam");
    require(config.known_tags == 0, "known_tags", config.known_tags,
            "requires method=beam; set search.known_tags=0 to sample");
    require(config.nbest <= config.samples, "nbest", config.nbest, "must be at most samples");
    return;
  }
  constexpr const char* kNeeds = "requires method=sample";
  require(config.samples == defaults.samples, "samples", config.samples, kNeeds);
  require(config.temperature == defaults.temperature, "temperature", config.temperature, kNeeds);
  require(config.top_k == defaults.top_k, "top_k", config.top_k, kNeeds);
  require(config.top_p == defaults.top_p, "top_p", config.top_p, kNeeds);
  require(config.seed == defaults.seed, "seed", config.seed, kNeeds);
  require(config.nbest <= config.beam, "nbest", config.nbest, "must be at most beam");
}

}  // namespace

void SearchConfig::validate() const {
  require_between("beam", beam, 1, 10000);
  require(std::abs(alpha) <= 10, "alpha", alpha, "must be from -10 to 10");  // false for NaN
  require_between("extra_length", extra_length, 0, 1000000);
  require(nbest >= 1, "nbest", nbest, "must be positive");
  require_between("prune", prune, 0, 1000);
  // first_finished counts to `beam` hypotheses, which pruning does not leave.
  require(prune == 0 || stop == StopRule::optimal, "prune", prune, "requires stop=optimal");
  require(known_tags >= 0, "known_tags", known_tags, "must be 0 or more");
  validate_sampling(*this);
  require(mbr == RiskUtility::none || hypotheses() > 1, "mbr", enum_name(mbr),
          "requires several hypotheses: beam or samples above 1");
  require(mbr != RiskUtility::f1 || nbest == 1, "nbest", nbest,
          "must be 1 with mbr=f1, which fuses the hypotheses into one tree");
}

double length_penalty(const SearchConfig& config, int64_t length) {
  const auto n = static_cast<double>(length);
  switch (config.penalty) {
    case LengthPenalty::gnmt:
      return std::pow((5.0 + n) / 6.0, config.alpha);
    case LengthPenalty::power:
      return std::pow(n, config.alpha);
    case LengthPenalty::none:
      break;
  }
  return 1.0;
}

}  // namespace attn
