// The tables of a report.
#pragma once

#include <span>
#include <string>

#include "report/comparison.h"
#include "report/table.h"

namespace attn {

/// A row's value of an option as in the config, without the quotes of a string; "" if it has none.
std::string option_value(const RowRecord& row, const std::string& path);

/// In the layout of Table 3: the options that differ between rows (all values for the first row,
/// only the changed ones for the others), then for each metric the mean, the difference from the
/// baseline, its 95 % interval and p-value, and the paper's results where there are some.
Table results_table(const SweepResults& results, std::span<const RowComparison> comparisons);
/// The same for a paper: of each metric the mean, with the mark of a significant difference.
Table paper_table(const SweepResults& results, std::span<const RowComparison> comparisons);
/// One line per row for CSV: all statistics in full precision.
Table rows_table(const SweepResults& results, std::span<const RowComparison> comparisons);

/// One line per run for CSV: scores and cost in full precision, and the provenance.
Table runs_table(const SweepResults& results);
/// One line per value of a learning curve, for CSV.
Table curves_table(const SweepResults& results);

/// Training cost per row as in Table 2, the mean of its finished runs, and published BLEU and FLOPs
/// where there are some, below the rows also those of systems that are only published. Speeds only
/// of rows whose runs trained on one kind of processor.
Table cost_table(const SweepResults& results);

/// For a single run one line per evaluator and metric: the last value and, for an evaluator's main
/// metric, the best one.
Table scores_table(const RunRecord& run);

/// "51 of 60 runs finished: 2 failed, 3 unfinished, 4 not run.", also "1 omitted (see the notes)";
/// empty if all planned runs are finished.
std::string progress(const SweepResults& results);

/// What the columns of results_table mean, how scores were computed, and their signatures: one
/// paragraph per line.
std::vector<std::string> legend(const SweepResults& results,
                                std::span<const RowComparison> comparisons);

/// The report in Markdown: the table, its legend, notes, cost and the command to reproduce it; of a
/// single run the scores instead of the table.
std::string markdown_report(const SweepResults& results,
                            std::span<const RowComparison> comparisons);

}  // namespace attn
