// From runs to statements: means over seeds, differences from the base, and whether they mean
// anything.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/results.h"

namespace attn {

/// Mean over the seeds that finished, and their sample standard deviation where there are two or
/// more.
struct SeedMean {
  double mean = 0.0;
  std::optional<double> deviation;
  int64_t seeds = 0;
};
std::optional<SeedMean> seed_mean(std::span<const double> values);

/// What the data says of a difference, beside the paper's.
enum class Verdict {
  none,       ///< nothing to compare: the base itself, or the paper has no figure or no difference
  agrees,     ///< the same sign as the paper's, and more than noise
  disagrees,  ///< the other sign, and more than noise
  unclear     ///< within noise: this data can't tell
};
std::string verdict_word(Verdict verdict);

struct Difference {
  std::optional<double> ours;     ///< row less base
  std::optional<double> paper;    ///< the same of the paper's own figures
  std::optional<double> p_value;  ///< paired bootstrap over sentences; BLEU alone
  bool significant = false;       ///< see compare()
  Verdict verdict = Verdict::none;
};

struct RowComparison {
  std::optional<SeedMean> ppl, bleu, f1;
  Difference ppl_difference, bleu_difference, f1_difference;
};

/// Level of the tests.
inline constexpr double kSignificance = 0.05;

/// One entry a row. A difference in BLEU is significant when the paired bootstrap over sentences
/// says so (p < 0.05, scores averaged over seeds) and, where the base has two seeds or more,
/// so does Student's t over seeds (the pooled number of seeds less 2 as degrees of freedom); a row
/// of one seed is given the base's deviation. Differences in perplexity and F1 have the second test
/// alone, and none with a base of one seed.
std::vector<RowComparison> compare(const SweepResults& results);

/// For how many rows the difference, in BLEU or in perplexity, has the paper's sign, and which.
std::string summary(const SweepResults& results, std::span<const RowComparison> comparisons,
                    bool of_bleu);

}  // namespace attn
