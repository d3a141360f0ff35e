// Bootstrap over sentences and seeds together: significance of differences in BLEU that would hold
// on another test set and with other seeds.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "eval/metrics/bleu.h"
#include "eval/metrics/bootstrap.h"
#include "report/statistics.h"

namespace attn {

/// The difference system - baseline over the resamples.
struct JointDifference {
  /// Two-sided: twice the smaller share of resamples with a difference ≤ 0 or ≥ 0, with add-one
  /// smoothing. Unlike sacreBLEU's paired test (paired_bootstrap) it accounts for skewed
  /// distributions: a single lucky sentence is missing from 37 % of the resamples.
  double p_value = 1.0;
  Interval interval;  ///< 95 %, percentiles
};

/// One entry per system. Each resample draws sentences (the same for all systems, since they
/// translate the same text) and, within each system, as many runs as it has, all with replacement;
/// a system's score is the mean over the drawn runs of corpus BLEU on the drawn sentences. With one
/// run per system only sentences vary. With few runs the deviation between seeds is underestimated
/// by a factor of √((n - 1) / n); a t test over seeds does not have this bias. The runs of the
/// systems in `paired` (indices) are those of the baseline, evaluated differently: both draw the
/// same runs, so that differences between seeds cancel.
///
/// options.samples > 0. Throws DataError if a system has no run, if a paired one has a different
/// number of runs from the baseline, or if the numbers of sentences differ or are 0.
std::vector<JointDifference> joint_bootstrap(const SystemStatistics& baseline,
                                             std::span<const SystemStatistics> systems,
                                             const std::set<size_t>& paired = {},
                                             const BleuOptions& bleu = {},
                                             const BootstrapOptions& options = {});

}  // namespace attn
