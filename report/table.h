// Tables of a report, for Markdown, CSV and HTML.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

struct Table {
  enum class Shown {
    everywhere,
    pages,  ///< in Markdown and HTML: rounded
    csv     ///< only there: in full precision
  };
  struct Column {
    std::string key;      ///< for CSV: "bleu_mean"
    std::string title;    ///< "BLEU"
    bool text = false;    ///< left-aligned; numbers are right-aligned
    std::string group;    ///< heading over several columns; empty: none
    std::string meaning;  ///< tooltip
    Shown shown = Shown::everywhere;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> meanings;  ///< tooltips of rows in HTML; empty: none
};

/// A table in the layout of Table 3: the options that differ between rows (all values for the first
/// row, only the changed ones for the others), then metrics and parameters, ours and the paper's.
/// For CSV all options' values, and all statistics as numbers in full precision.
Table results_table(const SweepResults& results, std::span<const RowComparison> comparisons);

/// Training cost per row as in Table 2: means over finished runs, and published BLEU and FLOPs
/// where there are some, below the rows also those of systems that are only published.
Table cost_table(const SweepResults& results);

/// Provenance, one line per run.
Table provenance_table(const SweepResults& results);

/// All numbers in full precision, one line per run.
Table runs_table(const SweepResults& results);

std::string to_markdown(const Table& table);
/// RFC 4180.
std::string to_csv(const Table& table);
std::string to_html(const Table& table);

/// Text for an HTML page: & < > and both quotes escaped.
std::string html_escaped(const std::string& text);

/// "+0.12" or "−0.12", with a typographic minus.
std::string signed_number(double value, int decimals);

}  // namespace attn
