// Bootstrap resampling over sentences (Koehn, 2004): confidence intervals and paired significance
// tests. With one run per system identical to sacreBLEU's `--confidence` and `--paired-bs`.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "eval/metrics/bleu.h"

namespace attn {

/// sacreBLEU's defaults.
struct BootstrapOptions {
  int64_t samples = 1000;
  uint64_t seed = 12345;
};

/// Per-sentence statistics of a system, [run][sentence], with one run per seed. The system's score
/// is the mean corpus BLEU over runs; all runs use the same resampled sentences.
using SystemStatistics = std::vector<std::vector<BleuStatistics>>;

/// A system on a test set: its score on any multiset of sentences.
struct ResampledSystem {
  size_t sentences = 0;
  std::function<double(std::span<const uint32_t>)> score;
};

/// The common number of sentences of all runs. Throws DataError if it differs between runs or is 0.
size_t common_sentences(std::span<const size_t> runs);

/// The system whose score is the mean over runs. `runs` must outlive it. Throws like
/// common_sentences().
template <class Statistics, class Score>
ResampledSystem resampled_system(const std::vector<std::vector<Statistics>>& runs, Score score) {
  std::vector<size_t> sizes;
  for (const auto& run : runs) sizes.push_back(run.size());
  return {.sentences = common_sentences(sizes),
          .score = [&runs, score](std::span<const uint32_t> sentences) {
            double sum = 0.0;
            for (const auto& run : runs) {
              Statistics drawn;
              for (const uint32_t sentence : sentences) drawn += run[sentence];
              sum += score(drawn);
            }
            return sum / static_cast<double>(runs.size());
          }};
}

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

/// Scores baseline and systems on the same resamples. Throws DataError if the numbers of sentences
/// differ.
PairedBootstrap resample_systems(const ResampledSystem& baseline,
                                 std::span<const ResampledSystem> systems,
                                 const BootstrapOptions& options = {});

/// The same with BLEU. Throws DataError if a system has no run, or if the numbers of sentences
/// differ or are 0.
PairedBootstrap paired_bootstrap(const SystemStatistics& baseline,
                                 std::span<const SystemStatistics> systems,
                                 const BleuOptions& bleu = {},
                                 const BootstrapOptions& options = {});

}  // namespace attn
