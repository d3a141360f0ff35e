// Bootstrap resampling of a score over sentences: how far a score and a difference of scores would
// move on another test set of the same kind (Koehn, 2004). With one run a system it equals
// sacreBLEU's `--confidence` and `--paired-bs`, digit for digit.
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

/// A system's per-sentence statistics, over the same sentences for each of its runs (seeds):
/// [run][sentence]. Its score is the mean of its runs' corpus BLEU, on the test set as on each
/// resample: so the runs share a resample's sentences.
using SystemStatistics = std::vector<std::vector<BleuStatistics>>;

/// A system on a test set of so many sentences: its score on any choice of them, repeated or not.
struct ResampledSystem {
  size_t sentences = 0;
  std::function<double(std::span<const uint32_t>)> score;
};

/// Throws DataError unless there is a run, and all have the same number of sentences, more than 0,
/// which is the result.
size_t common_sentences(std::span<const size_t> runs);

/// The system whose score is the mean of its runs', each of summed statistics. `runs` must outlive
/// it. Throws as common_sentences.
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
  double ci = 0.0;     ///< half the width of the 95 % interval of the resamples
};

struct PairedScore {
  BootstrapScore system;
  double difference = 0.0;  ///< system less baseline, on the test set
  /// Of a difference at least as large, were there none: the share of resamples whose difference
  /// strays further from their mean difference (absolute values, as sacreBLEU has them; one added
  /// to both counts).
  double p_value = 1.0;
};

/// What it all comes to for one baseline and any number of systems.
struct PairedBootstrap {
  BootstrapScore baseline;
  std::vector<PairedScore> systems;
};

/// Draws the resamples once and scores baseline and systems on each. Throws DataError when a system
/// has another number of sentences than the baseline.
PairedBootstrap resample_systems(const ResampledSystem& baseline,
                                 std::span<const ResampledSystem> systems,
                                 const BootstrapOptions& options = {});

/// The same with BLEU. Throws DataError when a system has no run, or runs of another number of
/// sentences than the baseline, or there are none.
PairedBootstrap paired_bootstrap(const SystemStatistics& baseline,
                                 std::span<const SystemStatistics> systems,
                                 const BleuOptions& bleu = {},
                                 const BootstrapOptions& options = {});

}  // namespace attn
