#include "app/commands/commands.h"

#include <cmath>
#include <iostream>
#include <memory>
#include <utility>
#include <variant>

#include "app/commands/text_io.h"
#include "app/experiment/checkpoint.h"
#include "app/inspect/pairs.h"
#include "app/machine/device.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "eval/heads/head_pruning.h"
#include "eval/heads/measure_heads.h"
#include "report/table.h"

namespace attn {
namespace {

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

Json to_json(const HeadStatistics& head) {
  Json json = {{"kind", enum_name(head.id.kind)},
               {"layer", head.id.layer + 1},
               {"head", head.id.head + 1},
               {"offset", head.offset}};
  for (const Measure& measure : kMeasures) {
    const double value = head.*measure.value;
    json[measure.key] = std::isnan(value) ? Json() : Json(value);
  }
  return json;
}

// The records of a report as rows, with `decimals` of numbers that are not integers.
Table table_of(const Json& records, std::vector<Table::Column> columns, int decimals) {
  Table table{.columns = std::move(columns)};
  for (const Json& record : records) {
    std::vector<std::string>& row = table.rows.emplace_back();
    for (const Table::Column& column : table.columns) {
      const Json& value = record.at(column.key);
      const bool none =
          value.is_null() || (value.is_number_float() && std::isnan(value.get<double>()));
      row.push_back(none                      ? ""
                    : value.is_string()       ? value.get<std::string>()
                    : value.is_number_float() ? format("%.*f", decimals, value.get<double>())
                                              : value.dump());
    }
  }
  return table;
}

void print_tables(const Json& report) {
  std::vector<Table::Column> columns = {
      {"kind", "kind", true}, {"layer", "layer"}, {"head", "head"}, {"offset", "offset"}};
  for (const Measure& measure : kMeasures) columns.push_back({measure.key, measure.title});
  if (report["heads"].front().contains("p_value")) {
    columns.push_back({"bleu_difference", "ΔBLEU"});
    columns.push_back({"p_value", "p"});
  }
  std::cout << to_markdown(table_of(report["heads"], columns, 3));
  if (!report.contains("pruning")) return;
  std::cout << "\n"
            << to_markdown(
                   table_of(report["pruning"], {{"masked", "heads masked"}, {"bleu", "BLEU"}}, 2));
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
    if (bleu != nullptr) return bleu->score_options();
  }
  return {};
}

// Of the selected pairs.
void add_scores(Json& report, LoadedModel& loaded, const std::vector<HeadStatistics>& heads,
                const HeadsOptions& options, const SelectedPairs& selected) {
  std::vector<std::string> sources, references;
  for (const PairTexts& texts : selected.texts) {
    sources.push_back(texts.source);
    references.push_back(texts.target);
  }
  SearchConfig search = loaded.experiment.search;
  search.nbest = 1;
  const BleuOptions bleu = bleu_options(loaded.experiment);
  HeadPruning pruning(*loaded.model, loaded.tokenizers, search, std::move(sources),
                      std::move(references), bleu);
  pruning.log = [](const std::string& what) { std::cerr << "translating, " << what << "\n"; };
  if (options.prune) {
    for (const PrunedScore& score : pruning.curve(by_importance(heads))) {
      report["pruning"].push_back({{"masked", score.masked}, {"bleu", score.bleu}});
    }
  }
  report["signature"] = bleu_signature(bleu, 1);
  if (!options.ablate) return;
  const std::vector<AblatedScore> ablation = pruning.ablation(all_heads(*loaded.model));
  for (size_t i = 0; i < ablation.size(); ++i) {
    report["heads"][i]["bleu_difference"] = ablation[i].difference;
    report["heads"][i]["p_value"] = ablation[i].p_value;
  }
}

void heads(const HeadsOptions& options, const Context& context) {
  LoadedModel loaded = load_model(options.run, context.device, options.assignments);
  all_heads(*loaded.model);  // reports another architecture before any file is read
  const bool scores = options.prune || options.ablate;
  if (scores && loaded.experiment.data.task != Task::translation) {
    throw ConfigError("heads: --prune and --ablate score translations with BLEU; " +
                      options.run.string() + " is a parser (data.task=parsing)");
  }
  for (const auto& file : text_files(loaded.experiment.data, options.data)) {
    require_not_input(options.json, file);
  }
  std::cerr << "reading " << loaded.directory.path().string() << "\n";
  auto json = requested_output(options.json);
  const SelectedPairs selected = reference_pairs(loaded, source_lines(loaded, options.data),
                                                 target_path(loaded, options.data), options.limits);
  if (selected.pairs.empty()) {
    throw DataError(options.data + ": no sentence of 1 to " +
                    std::to_string(options.limits.max_tokens) + " tokens (--max-tokens)");
  }
  std::cerr << selected.pairs.size() << " sentences, " << selected.left_out << " left out\n";
  const auto found =
      head_statistics(*loaded.model, loaded.tokenizers, selected.pairs, options.statistics);
  Json report = {{"heads", Json::array()}};
  for (const HeadStatistics& head : found) report["heads"].push_back(to_json(head));
  if (scores) add_scores(report, loaded, found, options, selected);
  if (options.json != "-") print_tables(report);
  if (json) json->write_all(report.dump(2) + "\n");
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
  add_number(command, "--lines", options->limits.lines,
             "number of sentences to use, from the start of the file", 1, 1 << 24);
  add_number(command, "--max-tokens", options->limits.max_tokens,
             "skip sentences with more tokens than this", 1, 1 << 16);
  add_number(command, "--common", options->statistics.common_tokens,
             "number of most frequent tokens that do not count as rare", 0, 1 << 24);
  command->add_flag("--prune", options->prune,
                    "BLEU with an increasing number of heads masked, the least important first");
  command->add_flag("--ablate", options->ablate,
                    "BLEU with each head masked in turn, with a paired bootstrap test");
  command->add_option("--json", options->json, "JSON file to write, in full precision");
  command->callback([options, &context] { heads(*options, context); });
}

}  // namespace attn
