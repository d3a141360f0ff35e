#include "app/sweep/comparable.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace attn {
namespace {

// Options of translation that change the tokens over which perplexity is measured.
constexpr std::array<std::string_view, 7> kTargetTokens = {
    "data.tokenizer",         "data.vocab_size",   "data.min_frequency", "data.target",
    "data.shared_vocabulary", "data.target_model", "data.source_model"};

// The option by which a row has other target tokens than the first one; "" if it has the same.
std::string other_tokens(const RowRecord& row) {
  const auto task = row.values.find("data.task");
  // Parsers share their tree symbols.
  if (task != row.values.end() && task->second == "\"parsing\"") return "";
  for (const std::string& path : row.changed) {
    if (std::ranges::find(kTargetTokens, path) != kTargetTokens.end()) return path;
  }
  return "";
}

}  // namespace

void mark_incomparable(SweepResults& out) {
  PerMetric<std::string> first;
  for (size_t i = 0; i < out.rows.size(); ++i) {
    RowRecord& row = out.rows[i];
    for (const RunRecord& run : row.runs) {
      for (const MetricFacts& facts : kMetrics) {
        const std::string& text = run.texts[facts.metric];
        if (i == 0 && !text.empty()) first[facts.metric] = text;
        const bool other = !text.empty() && !first[facts.metric].empty() &&
                           text != first[facts.metric] && !row.incomparable[facts.metric];
        if (!other) continue;
        row.incomparable[facts.metric] = true;
        out.notes.push_back(row.name + ": its " + facts.title +
                            " is of another text than that of the first row: no difference");
      }
    }
    if (const std::string option = i > 0 ? other_tokens(row) : ""; !option.empty()) {
      row.incomparable[Metric::loss] = true;
      out.notes.push_back(row.name + ": its perplexity is per token of another vocabulary (" +
                          option + ") than that of the first row: no difference");
    }
  }
}

}  // namespace attn
