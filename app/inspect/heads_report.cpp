#include "app/inspect/heads_report.h"

#include <cmath>
#include <utility>

#include "base/format.h"

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

std::string number(double value, bool full_precision) {
  if (std::isnan(value)) return "";
  return format(full_precision ? "%.9g" : "%.3f", value);
}

}  // namespace

Table heads_table(const HeadsReport& report, bool full_precision) {
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
      row.push_back(number(head.*measure.value, full_precision));
    }
    if (ablated) {
      row.push_back(number(report.ablation[i].difference, full_precision));
      row.push_back(number(report.ablation[i].p_value, full_precision));
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

}  // namespace attn
