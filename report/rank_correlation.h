// Kendall's rank correlation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "report/statistics.h"

namespace attn {

struct RankCorrelation {
  double tau = 0.0;  ///< Kendall's τ-b, in [-1, 1]; ties are in neither order
  /// Two-sided, of no association. Without ties exact (Kendall's distribution of the number of
  /// discordant pairs), otherwise by the normal approximation with the variance of ties (Kendall
  /// 1970).
  double p_value = 1.0;
  /// 95 % percentile interval by bootstrap over pairs; none for fewer than ten pairs, or
  /// if all samples agree.
  std::optional<Interval> interval;
  int64_t count = 0;  ///< pairs
};

/// Options of the bootstrap.
struct RankBootstrap {
  int64_t samples = 2000;
  uint64_t seed = 12345;
};

/// Correlation of pairs (x[i], y[i]); the spans have the same length. None if it is undefined:
/// fewer than two pairs, or all x or all y equal.
std::optional<RankCorrelation> kendall_tau(std::span<const double> x, std::span<const double> y,
                                           const RankBootstrap& bootstrap = {});

}  // namespace attn
