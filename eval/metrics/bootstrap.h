// Bootstrap resampling of BLEU over sentences: how far a score and a difference of scores would
// move on another test set of the same kind (Koehn, 2004). With one run a system it equals
// sacreBLEU's `--confidence` and `--paired-bs`, digit for digit.
#pragma once

#include <cstdint>
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
/// has no run, or runs of another number of sentences than the baseline, or there are none.
PairedBootstrap paired_bootstrap(const SystemStatistics& baseline,
                                 std::span<const SystemStatistics> systems,
                                 const BleuOptions& bleu = {},
                                 const BootstrapOptions& options = {});

}  // namespace attn
