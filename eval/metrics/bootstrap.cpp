#include "eval/metrics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/error.h"
#include "base/format.h"
#include "eval/metrics/numpy_random.h"

namespace attn {
namespace {

constexpr int64_t kMaxDraws = int64_t{1} << 32;  // samples × sentences

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

BootstrapScore summarise(double score, std::vector<double> resamples) {
  BootstrapScore out{.score = score, .mean = mean_of(resamples)};
  std::sort(resamples.begin(), resamples.end());
  const size_t lower = resamples.size() / 40;
  out.ci = 0.5 * (resamples[resamples.size() - lower - 1] - resamples[lower]);
  return out;
}

double p_value(std::span<const double> system, std::span<const double> baseline, double observed) {
  std::vector<double> differences(system.size());
  for (size_t i = 0; i < system.size(); ++i) differences[i] = std::abs(system[i] - baseline[i]);
  const double mean = mean_of(differences);
  const auto further = std::count_if(differences.begin(), differences.end(),
                                     [&](double d) { return d - mean > std::abs(observed); });
  return static_cast<double>(further + 1) / static_cast<double>(differences.size() + 1);
}

}  // namespace

void require_same_sentences(std::span<const ResampledSystem> systems) {
  if (systems.empty()) throw DataError("bootstrap: a system has no outputs");
  const size_t expected = systems.front().sentences;
  for (const ResampledSystem& system : systems) {
    if (system.sentences == expected && expected > 0) continue;
    throw DataError("bootstrap: " + std::to_string(system.sentences) +
                    " sentences in one system, " + std::to_string(expected) +
                    " in another; all must be outputs for the same text");
  }
}

PairedBootstrap resample_systems(const ResampledSystem& baseline,
                                 std::span<const ResampledSystem> systems,
                                 const BootstrapOptions& options) {
  const size_t sentences = baseline.sentences;
  std::vector<ResampledSystem> all(systems.begin(), systems.end());
  all.insert(all.begin(), baseline);
  require_same_sentences(all);
  if (options.samples < 1 || static_cast<int64_t>(sentences) > kMaxDraws / options.samples) {
    throw ConfigError("bootstrap: " + std::to_string(options.samples) +
                      " resamples: expected at least 1, and fewer than 2^32 sentences in total");
  }
  const auto samples = static_cast<size_t>(options.samples);
  std::vector<double> baseline_scores(samples);
  std::vector<std::vector<double>> scores(systems.size(), std::vector<double>(samples));
  std::vector<uint32_t> drawn(sentences);
  NumpyGenerator random(options.seed);
  for (size_t i = 0; i < samples; ++i) {
    for (uint32_t& sentence : drawn) sentence = random.below(static_cast<uint32_t>(sentences));
    baseline_scores[i] = baseline.score(drawn);
    for (size_t s = 0; s < systems.size(); ++s) scores[s][i] = systems[s].score(drawn);
  }
  std::iota(drawn.begin(), drawn.end(), 0);  // the test set itself
  PairedBootstrap out;
  out.baseline = summarise(baseline.score(drawn), baseline_scores);
  for (size_t s = 0; s < systems.size(); ++s) {
    const double score = systems[s].score(drawn);
    const double difference = score - out.baseline.score;
    out.systems.push_back({.system = summarise(score, scores[s]),
                           .difference = difference,
                           .p_value = p_value(scores[s], baseline_scores, difference)});
  }
  return out;
}

PairedBootstrap resample(const ResampledSystem& system,
                         const std::optional<ResampledSystem>& baseline) {
  return baseline ? resample_systems(*baseline, std::span(&system, 1))
                  : resample_systems(system, {});
}

void add_bootstrap(Json& json, const PairedBootstrap& found) {
  const BootstrapScore& baseline = found.baseline;
  if (found.systems.empty()) {
    json["mean"] = baseline.mean;
    json["ci"] = baseline.ci;
    return;
  }
  const PairedScore& system = found.systems.front();
  json["mean"] = system.system.mean;
  json["ci"] = system.system.ci;
  json["baseline"] = {{"score", baseline.score}, {"mean", baseline.mean}, {"ci", baseline.ci}};
  json["difference"] = system.difference;
  json["p_value"] = system.p_value;
}

std::string format_bootstrap(const PairedBootstrap& found) {
  const BootstrapOptions options;
  const auto line = [](const char* what, const BootstrapScore& of) {
    return format("%-9s %.2f (%.2f ± %.2f)\n", what, of.score, of.mean, of.ci);
  };
  if (found.systems.empty()) return line("system", found.baseline);
  const PairedScore& system = found.systems.front();
  return line("baseline", found.baseline) + line("system", system.system) +
         format("%+.2f, p = %.4f (paired bootstrap, %ld resamples, seed %lu)\n", system.difference,
                system.p_value, options.samples, options.seed);
}

}  // namespace attn
