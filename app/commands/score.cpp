#include "app/commands/score.h"

#include <iostream>
#include <utility>

#include "app/commands/stdin_lines.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/unicode.h"
#include "data/lines.h"
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

void add_scored_files(CLI::App* command, ScoredFiles& files) {
  command->add_option("HYP", files.hypotheses, "Hypotheses, one per line; - is stdin")->required();
  command->add_option("REF", files.references, "References, line by line; several files allowed")
      ->required();
}

TextFile read_text(const std::string& path, bool may_be_stdin, ByteOrderMark mark) {
  const bool is_stdin = path == "-";
  if (is_stdin && !may_be_stdin) {
    throw ConfigError("-: standard input is not possible for this text; give a file");
  }
  TextFile file{is_stdin ? "<stdin>" : path,
                is_stdin ? read_stdin_lines(mark) : read_lines(path, mark)};
  require_utf8(file.lines, file.name);
  // As sacreBLEU's program reads lines; chrF with white space would count it.
  for (std::string& line : file.lines) line.resize(strip_right(line).size());
  return file;
}

void check_same_length(const TextFile& one, const TextFile& other, const std::string& kinds) {
  const bool shorter = one.lines.size() < other.lines.size();
  const TextFile& less = shorter ? one : other;
  const TextFile& more = shorter ? other : one;
  if (less.lines.size() == more.lines.size()) return;
  throw DataError(more.name + ":" + std::to_string(less.lines.size() + 1) + ": " + less.name +
                  " has no such line (" + std::to_string(less.lines.size()) + " lines, expected " +
                  std::to_string(more.lines.size()) + "); " + kinds + " must match line by line");
}

ScoredText read_scored_text(const ScoredFiles& files, ByteOrderMark mark) {
  ScoredText text{read_text(files.hypotheses, true, mark), {}};
  for (const std::string& path : files.references) {
    TextFile reference = read_text(path, false, mark);
    check_same_length(text.hypotheses, reference);
    text.references.push_back(std::move(reference.lines));
  }
  if (text.hypotheses.lines.empty()) {
    throw DataError(text.hypotheses.name + ": empty file; nothing to score");
  }
  return text;
}

void warn_if_tokenized(const TextFile& hypotheses, const BleuOptions& options) {
  const bool expects_raw =
      options.tokenizer == BleuTokenizer::v13a || options.tokenizer == BleuTokenizer::intl;
  if (!expects_raw || !looks_tokenized(hypotheses.lines)) return;
  std::cerr << "warning: " << hypotheses.name
            << ": 100 lines or more end in \" .\", so the text looks tokenized; detokenize it, or "
               "use --tokenize none, or --force to suppress this warning\n";
}

void add_resampled(Json& json, const PairedBootstrap& resampled) {
  const BootstrapScore& baseline = resampled.baseline;
  if (resampled.systems.empty()) {
    json["mean"] = baseline.mean;
    json["ci"] = baseline.ci;
    return;
  }
  const PairedScore& system = resampled.systems.front();
  json["mean"] = system.system.mean;
  json["ci"] = system.system.ci;
  json["baseline"] = {{"score", baseline.score}, {"mean", baseline.mean}, {"ci", baseline.ci}};
  json["difference"] = system.difference;
  json["p_value"] = system.p_value;
}

void print_resampled(const PairedBootstrap& resampled) {
  const auto print = [](const char* what, const BootstrapScore& of) {
    std::cout << format("%-9s %.2f (%.2f ± %.2f)\n", what, of.score, of.mean, of.ci);
  };
  if (resampled.systems.empty()) {
    print("system", resampled.baseline);
    return;
  }
  const PairedScore& system = resampled.systems.front();
  print("baseline", resampled.baseline);
  print("system", system.system);
  const BootstrapOptions options;
  std::cout << format("%+.2f, p = %.4f", system.difference, system.p_value)
            << " (paired bootstrap, " << options.samples << " resamples, seed " << options.seed
            << ")\n";
}

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
