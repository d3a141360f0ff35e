// The tables of a report, as text in cells: written as Markdown, as CSV and into the HTML page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/results.h"

namespace attn {

struct Table {
  struct Column {
    std::string key;      ///< for CSV: "bleu_mean"
    std::string title;    ///< for people: "BLEU"
    bool text = false;    ///< set to the left; numbers are set to the right
    std::string group;    ///< a heading over several columns; empty: none
    std::string meaning;  ///< a sentence for whoever hovers
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Table 3's own layout: the options that some row changes, with all values of the first row and
/// the changed ones of the others; then the metrics and parameters, ours and the paper's.
Table results_table(const SweepResults& results, std::span<const RowComparison> comparisons);

/// Table 2's: what each row's training cost, as means over its finished runs.
Table cost_table(const SweepResults& results);

/// One line a run: what it takes to get it again.
Table provenance_table(const SweepResults& results);

/// Plain numbers in full precision, one line a run, for other programs.
Table runs_table(const SweepResults& results);

std::string to_markdown(const Table& table);
/// RFC 4180.
std::string to_csv(const Table& table);
std::string to_html(const Table& table);

/// Text for an HTML page: & < > and both quotes escaped.
std::string html_escaped(const std::string& text);

/// "+0.12" or "−0.12", with the sign that typography has for less.
std::string signed_number(double value, int decimals);

}  // namespace attn
