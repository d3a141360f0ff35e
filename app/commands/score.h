// Shared by the metrics of `attn score`: reading files, scoring text, printing.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json_config.h"
#include "eval/metrics/bleu.h"
#include "eval/metrics/bootstrap.h"
#include "eval/metrics/chrf.h"
#include "eval/metrics/ter.h"

namespace attn {

struct TextFile {
  std::string name;  ///< for messages
  std::vector<std::string> lines;
};

/// Hypotheses and their references, aligned line by line.
struct ScoredText {
  TextFile hypotheses;
  std::vector<std::vector<std::string>> references;
};

/// Files of a system's output and of its references.
struct ScoredFiles {
  std::string hypotheses;  ///< "-" is standard input
  std::vector<std::string> references;
};

/// Adds the arguments HYP and REF.
void add_scored_files(CLI::App* command, ScoredFiles& files);

/// Reads a text file; "-" is standard input. `mark`: a byte order mark is scored, as sacreBLEU
/// does. Throws ConfigError for "-" unless `may_be_stdin`, and
/// DataError for lines that are not valid UTF-8.
TextFile read_text(const std::string& path, bool may_be_stdin,
                   ByteOrderMark mark = ByteOrderMark::keep);

/// Throws DataError naming the first line without a counterpart, if the lengths differ. `kinds`
/// says what the texts are.
void check_same_length(const TextFile& one, const TextFile& other,
                       const std::string& kinds = "hypotheses and references");

/// Reads all files. Throws like read_text() and check_same_length(), and for an empty file.
ScoredText read_scored_text(const ScoredFiles& files, ByteOrderMark mark = ByteOrderMark::keep);

/// Warns on stderr if text that looks tokenized would be tokenized again.
void warn_if_tokenized(const TextFile& hypotheses, const BleuOptions& options);

/// The enum value of a name checked by the command line.
template <class E>
E enum_value(const std::string& name) {
  if (const std::optional<E> value = enum_named<E>(name)) return *value;
  throw ConfigError(name + ": not a choice");
}

/// Adds the confidence interval and, given a baseline, its score and the p-value to a JSON score.
void add_resampled(Json& json, const PairedBootstrap& resampled);

/// Prints the same as text.
void print_resampled(const PairedBootstrap& resampled);

/// The score of a system and its score on any multiset of sentences, which stays valid.
struct MetricScore {
  std::string line;  ///< as sacreBLEU prints it
  Json json;
  ResampledSystem resampled;
};

/// Scores hypotheses against references, [reference][sentence].
using TextMetric = std::function<MetricScore(std::span<const std::string>,
                                             std::span<const std::vector<std::string>>)>;

TextMetric bleu_metric(const BleuOptions& options);
TextMetric chrf_metric(const ChrfOptions& options);
TextMetric ter_metric(const TerOptions& options);

/// What to print besides the score.
struct ScoreReport {
  std::string baseline;     ///< output of a baseline, for the paired test; may be empty
  bool confidence = false;  ///< confidence interval
  bool json = false;
};

struct NamedMetric {
  std::string name;  ///< key in JSON
  TextMetric metric;
};

/// Prints the scores of a system's output on stdout; as JSON one object, with several metrics by
/// name. Throws like read_text() and check_same_length() for the baseline.
void print_scores(std::span<const NamedMetric> metrics, const ScoredText& text,
                  const ScoreReport& report);

/// Adds --baseline, --confidence and --json.
void add_report_options(CLI::App* command, ScoreReport& report);

/// Adds `parse` to the subcommand `score` (score_parse.cpp).
void add_score_parse_command(CLI::App& score);

}  // namespace attn
