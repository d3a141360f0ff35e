// Bootstrap resampling over sentences (Koehn, 2004): confidence intervals and paired significance
// tests, identical to sacreBLEU's `--confidence` and `--paired-bs`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json_config.h"

namespace attn {

/// sacreBLEU's defaults.
struct BootstrapOptions {
  int64_t samples = 1000;
  uint64_t seed = 12345;
};

/// Outputs of a system for a test set: their score on any multiset of sentences.
struct ResampledSystem {
  size_t sentences = 0;
  std::function<double(std::span<const uint32_t>)> score;
};

/// Outputs whose score is that of the sum of their sentences' statistics.
template <class Statistics, class Score>
ResampledSystem resampled_system(std::vector<Statistics> sentences, Score score) {
  const auto all = std::make_shared<const std::vector<Statistics>>(std::move(sentences));
  return {.sentences = all->size(), .score = [all, score](std::span<const uint32_t> sample) {
            Statistics drawn;
            for (const uint32_t sentence : sample) drawn += (*all)[sentence];
            return score(drawn);
          }};
}

/// Throws DataError if the numbers of sentences differ or are 0, and without a system.
void require_same_sentences(std::span<const ResampledSystem> systems);

struct BootstrapScore {
  double score = 0.0;  ///< on the test set itself
  double mean = 0.0;   ///< over the resamples
  double ci = 0.0;     ///< half the width of the 95 % confidence interval
};

struct PairedScore {
  BootstrapScore system;
  double difference = 0.0;  ///< system - baseline, on the test set
  /// p-value of the difference, as in sacreBLEU: the share of resamples whose absolute difference
  /// exceeds the mean absolute difference by more than the observed one (with add-one smoothing).
  /// At 0.05 it has the size of a one-sided test in either direction: without a difference, about
  /// 10 % of the pairs are below.
  double p_value = 1.0;
};

/// Results for one baseline and any number of systems.
struct PairedBootstrap {
  BootstrapScore baseline;
  std::vector<PairedScore> systems;
};

/// Scores baseline and systems on the same resamples. Throws DataError like
/// require_same_sentences().
PairedBootstrap resample_systems(const ResampledSystem& baseline,
                                 std::span<const ResampledSystem> systems,
                                 const BootstrapOptions& options = {});

/// The system's interval alone, or both and their difference.
PairedBootstrap resample(const ResampledSystem& system,
                         const std::optional<ResampledSystem>& baseline);

/// Adds what resample() found to the JSON of the system's score.
void add_bootstrap(Json& json, const PairedBootstrap& found);
/// Lines with the intervals and, of a system, its difference and p-value.
std::string format_bootstrap(const PairedBootstrap& found);

}  // namespace attn
