#include "app/commands/commands.h"

#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/commands/arguments.h"
#include "app/commands/output_file.h"
#include "app/experiment/checkpoint.h"
#include "app/inspect/pairs.h"
#include "app/machine/context.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/json_patch.h"
#include "eval/heads/head_pruning.h"
#include "eval/heads/measure_heads.h"
#include "report/table.h"

namespace attn {
namespace {

struct HeadsReport {
  std::vector<HeadStatistics> heads;
  std::vector<PrunedScore> curve;      ///< empty: not computed
  std::vector<AblatedScore> ablation;  ///< empty, or in the order of `heads`
  std::string signature;               ///< signature of BLEU; empty without curve and ablation
};

struct Measure {
  const char* key;
  const char* title;
  double HeadStatistics::*value;
};

constexpr Measure kMeasures[] = {
    {"entropy", "entropy", &HeadStatistics::entropy},
    {"relative_entropy", "relative", &HeadStatistics::relative_entropy},
    {"confidence", "confidence", &HeadStatistics::confidence},
    {"positional", "positional", &HeadStatistics::positional},
    {"distance", "distance", &HeadStatistics::distance},
    {"argmax_distance", "to argmax", &HeadStatistics::argmax_distance},
    {"rare", "rare", &HeadStatistics::rare},
    {"importance", "importance", &HeadStatistics::importance},
    {"normalized_importance", "normalized", &HeadStatistics::normalized_importance},
};

std::string number(double value) {
  return std::isnan(value) ? "" : format("%.3f", value);
}

Table heads_table(const HeadsReport& report) {
  Table table;
  table.columns = {
      {"kind", "kind", true}, {"layer", "layer"}, {"head", "head"}, {"offset", "offset"}};
  for (const Measure& measure : kMeasures) {
    table.columns.push_back({measure.key, measure.title});
  }
  const bool ablated = !report.ablation.empty();
  if (ablated) {
    table.columns.push_back({"bleu_difference", "ΔBLEU"});
    table.columns.push_back({"p_value", "p"});
  }
  for (size_t i = 0; i < report.heads.size(); ++i) {
    const HeadStatistics& head = report.heads[i];
    std::vector<std::string> row = {std::string(enum_name(head.id.kind)),
                                    std::to_string(head.id.layer + 1),
                                    std::to_string(head.id.head + 1), std::to_string(head.offset)};
    for (const Measure& measure : kMeasures) {
      row.push_back(number(head.*measure.value));
    }
    if (ablated) {
      row.push_back(number(report.ablation[i].difference));
      row.push_back(number(report.ablation[i].p_value));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table pruning_table(const HeadsReport& report) {
  Table table;
  table.columns = {{"masked", "heads masked"}, {"bleu", "BLEU"}};
  for (const PrunedScore& score : report.curve) {
    table.rows.push_back({std::to_string(score.masked), format("%.2f", score.bleu)});
  }
  return table;
}

Json to_json(const HeadsReport& report) {
  Json json = {{"heads", Json::array()}};
  for (size_t i = 0; i < report.heads.size(); ++i) {
    const HeadStatistics& head = report.heads[i];
    Json entry = {{"kind", enum_name(head.id.kind)},
                  {"layer", head.id.layer + 1},
                  {"head", head.id.head + 1},
                  {"offset", head.offset}};
    for (const Measure& measure : kMeasures) {
      const double value = head.*measure.value;
      entry[measure.key] = std::isnan(value) ? Json() : Json(value);
    }
    if (!report.ablation.empty()) {
      entry["bleu_difference"] = report.ablation[i].difference;
      entry["p_value"] = report.ablation[i].p_value;
    }
    json["heads"].push_back(std::move(entry));
  }
  for (const PrunedScore& score : report.curve) {
    json["pruning"].push_back({{"masked", score.masked}, {"bleu", score.bleu}});
  }
  if (!report.signature.empty()) json["signature"] = report.signature;
  return json;
}

struct HeadsOptions {
  std::filesystem::path run;
  std::vector<Assignment> assignments;
  std::string data;
  PairLimits limits{.lines = 1000, .max_tokens = 256};
  HeadStatisticsOptions statistics;
  bool prune = false, ablate = false;
  std::filesystem::path json;
};

// As the run's own BLEU evaluator counts.
BleuOptions bleu_options(const Experiment& experiment) {
  for (const EvaluatorConfig& evaluator : experiment.eval) {
    const auto* bleu = std::get_if<BleuEvaluation>(&evaluator.options);
    if (bleu != nullptr) return bleu->bleu_options();
  }
  return {};
}

void require_translator(const LoadedModel& loaded, const HeadsOptions& options) {
  if (loaded.experiment.data.task == Task::translation) return;
  throw ConfigError("heads: --prune and --ablate score translations with BLEU; " +
                    options.run.string() + " is a parser (data.task=parsing)");
}

void add_scores(HeadsReport& report, LoadedModel& loaded, const HeadsOptions& options) {
  std::vector<std::string> sources = source_lines(loaded, options.data);
  std::vector<std::string> references = read_lines(target_path(loaded, options.data));
  for (auto* side : {&sources, &references}) {
    if (static_cast<int64_t>(side->size()) > options.limits.lines) {
      side->resize(static_cast<size_t>(options.limits.lines));
    }
  }
  SearchConfig search = loaded.experiment.search;
  search.nbest = 1;
  const BleuOptions bleu = bleu_options(loaded.experiment);
  HeadPruning pruning(*loaded.model, loaded.tokenizers, search, std::move(sources),
                      std::move(references), bleu);
  pruning.log = [](const std::string& what) { std::cerr << "translating, " << what << "\n"; };
  report.signature = bleu_signature(bleu, 1);
  if (options.prune) report.curve = pruning.curve(by_importance(report.heads));
  if (options.ablate) report.ablation = pruning.ablation(all_heads(*loaded.model));
}

void heads(const HeadsOptions& options, const Context& context) {
  LoadedModel loaded = load_model_to_search(options.run, context.device, options.assignments);
  all_heads(*loaded.model);  // reports another architecture before any file is read
  if (options.prune || options.ablate) require_translator(loaded, options);
  std::cerr << "reading " << loaded.directory.path().string() << "\n";
  auto json = requested_output(options.json);
  const SelectedPairs selected = reference_pairs(loaded, source_lines(loaded, options.data),
                                                 target_path(loaded, options.data), options.limits);
  if (selected.pairs.empty()) {
    throw DataError(options.data + ": no sentence of 1 to " +
                    std::to_string(options.limits.max_tokens) + " tokens (--max-tokens)");
  }
  std::cerr << selected.pairs.size() << " sentences, " << selected.left_out << " left out\n";
  HeadsReport report;
  report.heads =
      head_statistics(*loaded.model, loaded.tokenizers, selected.pairs, options.statistics);
  if (options.prune || options.ablate) add_scores(report, loaded, options);
  if (options.json != "-") {
    std::cout << to_markdown(heads_table(report));
    if (!report.curve.empty()) std::cout << "\n" << to_markdown(pruning_table(report));
  }
  if (json) json->write_all(to_json(report).dump(2) + "\n");
}

}  // namespace

void add_heads_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<HeadsOptions>();
  CLI::App* command = app.add_subcommand(
      "heads", "Analyse attention heads: statistics, importance, BLEU with heads masked");
  command->footer(
      "Prints a row for each head, unless --json is standard output (-);\n"
      "docs/howto/inspect.md defines the columns. Layers and heads count from 1.\n"
      "Examples:\n"
      "  attn heads runs/tiny --data corpora/multi30k/val.lc.norm.tok --json heads.json\n"
      "  attn heads runs/tiny --data corpora/multi30k/val.lc.norm.tok --prune --ablate");
  command->add_option("run", options->run, kModelArgument)->required();
  add_set(command, options->assignments, "override an option of search or runtime: beam=5");
  command
      ->add_option("--data", options->data,
                   "parallel text, in the same form as data.valid; for a parser a file of trees")
      ->required();
  command
      ->add_option("--lines", options->limits.lines,
                   "number of sentences to use, from the start of the file")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--max-tokens", options->limits.max_tokens,
                   "skip sentences with more tokens than this")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  command
      ->add_option("--common", options->statistics.common_tokens,
                   "number of most frequent tokens that do not count as rare")
      ->check(CLI::Range(0, 1 << 24))
      ->capture_default_str();
  command->add_flag("--prune", options->prune,
                    "BLEU with an increasing number of heads masked, the least important first");
  command->add_flag("--ablate", options->ablate,
                    "BLEU with each head masked in turn, with a paired bootstrap test");
  command->add_option("--json", options->json, "JSON file to write, in full precision");
  command->callback([options, &context] { heads(*options, context); });
}

}  // namespace attn
