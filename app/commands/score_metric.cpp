#include "app/commands/score_metric.h"

#include <iostream>
#include <utility>

#include "eval/metrics/sentence_statistics.h"

namespace attn {
namespace {

/// A resampled system that owns its statistics.
template <class Statistics, class Score>
ResampledSystem owning(std::vector<Statistics> sentences, Score score) {
  using Runs = std::vector<std::vector<Statistics>>;
  const auto runs = std::make_shared<const Runs>(Runs{std::move(sentences)});
  ResampledSystem system = resampled_system(*runs, score);
  const auto inner = system.score;
  system.score = [runs, inner](std::span<const uint32_t> drawn) { return inner(drawn); };
  return system;
}

PairedBootstrap resample(const TextMetric& metric, const MetricScore& score, const ScoredText& text,
                         const std::optional<TextFile>& baseline) {
  if (!baseline) return resample_systems(score.resampled, {});
  const MetricScore other = metric(baseline->lines, text.references);
  return resample_systems(other.resampled, std::span(&score.resampled, 1));
}

}  // namespace

TextMetric bleu_metric(const BleuOptions& options) {
  return [options](std::span<const std::string> hypotheses,
                   std::span<const std::vector<std::string>> references) -> MetricScore {
    auto sentences = bleu_statistics(hypotheses, references, options);
    const BleuScore score =
        bleu_from_statistics(sum_of(sentences), options, static_cast<int64_t>(references.size()));
    return {.line = format_bleu(score),
            .json = {{"score", score.score},
                     {"precisions", score.precisions},
                     {"bp", score.bp},
                     {"hyp_length", score.hyp_length},
                     {"ref_length", score.ref_length},
                     {"signature", score.signature}},
            .resampled = owning(std::move(sentences), [options](const BleuStatistics& drawn) {
              return bleu_from_statistics(drawn, options, 1).score;
            })};
  };
}

TextMetric chrf_metric(const ChrfOptions& options) {
  return [options](std::span<const std::string> hypotheses,
                   std::span<const std::vector<std::string>> references) -> MetricScore {
    auto sentences = chrf_statistics(hypotheses, references, options);
    const ChrfScore score =
        chrf_from_statistics(sum_of(sentences), options, static_cast<int64_t>(references.size()));
    return {.line = format_chrf(score),
            .json = {{"score", score.score}, {"name", score.name}, {"signature", score.signature}},
            .resampled = owning(std::move(sentences), [options](const ChrfStatistics& drawn) {
              return chrf_from_statistics(drawn, options, 1).score;
            })};
  };
}

TextMetric ter_metric(const TerOptions& options) {
  return [options](std::span<const std::string> hypotheses,
                   std::span<const std::vector<std::string>> references) -> MetricScore {
    auto sentences = ter_statistics(hypotheses, references, options);
    const TerScore score =
        ter_from_statistics(sum_of(sentences), options, static_cast<int64_t>(references.size()));
    return {.line = format_ter(score),
            .json = {{"score", score.score},
                     {"edits", score.edits},
                     {"ref_length", score.ref_length},
                     {"signature", score.signature}},
            .resampled = owning(std::move(sentences), [options](const TerStatistics& drawn) {
              return ter_from_statistics(drawn, options, 1).score;
            })};
  };
}

void print_scores(std::span<const NamedMetric> metrics, const ScoredText& text,
                  const ScoreReport& report) {
  std::optional<TextFile> baseline;
  if (!report.baseline.empty()) {
    baseline = read_text(report.baseline, false);
    check_same_length(text.hypotheses, *baseline);
    if (text.hypotheses.lines == baseline->lines) {
      std::cerr << "warning: " << report.baseline
                << ": identical to the scored output; p has no meaning\n";
    }
  }
  Json all = Json::object();
  for (const auto& [name, metric] : metrics) {
    MetricScore score = metric(text.hypotheses.lines, text.references);
    std::optional<PairedBootstrap> resampled;
    if (report.confidence || baseline) resampled = resample(metric, score, text, baseline);
    if (report.json) {
      if (resampled) add_resampled(score.json, *resampled);
      all[name] = std::move(score.json);
      continue;
    }
    std::cout << score.line << "\n";
    if (resampled) print_resampled(*resampled);
  }
  if (report.json) std::cout << (metrics.size() == 1 ? all.front() : all).dump(2) << "\n";
}

void add_report_options(CLI::App* command, ScoreReport& report) {
  command->add_option("--baseline", report.baseline,
                      "Output of a baseline: paired bootstrap test (sacreBLEU --paired-bs)");
  command->add_flag("--confidence", report.confidence,
                    "95 % confidence interval, " + std::to_string(BootstrapOptions{}.samples) +
                        " bootstrap resamples (sacreBLEU --confidence)");
  command->add_flag("--json", report.json, "Print JSON in full precision");
}

}  // namespace attn
