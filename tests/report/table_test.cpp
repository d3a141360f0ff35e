#include <algorithm>
#include <string>
#include <vector>

#include "report/tables.h"
#include "tests/report/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::contains;
using testing::row;
using testing::run;
using testing::sweep;

namespace {

// A base of three seeds and a row that differs from it.
SweepResults two_rows(const char* name = "A1") {
  return sweep({row("base", 5, 25, {run(1, 5, 25), run(2, 5.1, 25.5), run(3, 5.3, 25.1)}),
                row(name, 6, 24, {run(1, 6, 24), run(2, 6.2, 24.2), run(3, 6.1, 23.8)})});
}

}  // namespace

TEST_CASE("the table shows changed options and the state of unfinished runs") {
  auto results = sweep({row("base", 5, 25, {run(1, 5, 25)}),
                        row("A1", 5.3, 24, {run(1, 5.2, 24.5)}), row("E", 5, 25, {})});
  results.rows[1].values["model.heads"] = "1";
  results.rows[1].changed = {"model.heads"};
  results.rows[2].values["model.position"] = "\"learned\"";
  results.rows[2].changed = {"model.position"};
  RunRecord begun = run(1, 0, 0);
  begun.state = RunState::unfinished;
  begun.status = "at step 300 of 8000";
  results.rows[2].runs = {begun};
  const Table table = results_table(results, compare(results));
  std::vector<std::string> keys;
  for (const auto& column : table.columns) keys.push_back(column.key);
  CHECK(std::find(keys.begin(), keys.end(), "model.heads") != keys.end());
  CHECK(std::find(keys.begin(), keys.end(), "model.d_k") == keys.end());
  const std::string markdown = to_markdown(table);
  CHECK_THAT(markdown, contains("position learned") && contains("seed 1 at step 300 of 8000") &&
                           contains("+0.20") && contains("+0.30"));
  for (const auto& cells : table.rows) CHECK(cells.size() == table.columns.size());
  CHECK(table.rows[0][1] == "8");
  CHECK(table.rows[1][1] == "1");
  CHECK(table.rows[2][1].empty());
}

TEST_CASE("a sweep of parsers shows F1, and the paper's columns where the paper has a figure") {
  auto results = sweep({row("base", 0, 0, {run(1, 5, 0), run(2, 5, 0)}),
                        row("x", 0, 0, {run(1, 5, 0)}), row("y", 0, 0, {run(1, 5, 0)})});
  results.evaluators[Metric::bleu].clear();
  results.evaluators[Metric::parse] = "dev";
  results.evaluators[Metric::chrf] = "test_chrf";
  results.rows[0].runs[0].scores[Metric::chrf] = 50.0;
  results.rows[0].runs[1].scores[Metric::chrf] = 50.1;
  const auto set_f1 = [&](size_t row, size_t run, double f1) {
    results.rows[row].runs[run].scores[Metric::parse] = f1;
    results.rows[row].runs[run].outputs[Metric::parse] = {.sentences = 1,
                                                          .score = [f1](auto) { return f1; }};
  };
  set_f1(0, 0, 80.0);
  set_f1(0, 1, 80.6);
  set_f1(1, 0, 95.0);
  set_f1(2, 0, 85.0);
  for (RowRecord& one : results.rows) one.paper = {};
  const auto compared = compare(results);
  CHECK(compared[0].means[Metric::parse]->mean == Approx(80.3));
  CHECK(*compared[1].differences[Metric::parse].ours == Approx(14.7));
  // Two seeds leave one degree of freedom: 12.7 standard errors of 0.52, 25.5 after correction for
  // two rows.
  CHECK(compared[1].differences[Metric::parse].significant);
  CHECK_FALSE(compared[2].differences[Metric::parse].significant);
  const std::string markdown = to_markdown(results_table(results, compared));
  CHECK_THAT(markdown, contains("F1") && contains("80.30 ± 0.42") && contains("+14.70 *") &&
                           contains("chrF") && contains("50.05 ± 0.07") && !contains("paper"));
  // A metric has the paper's columns where the paper has a figure.
  results.rows[0].paper.scores[Metric::parse] = 91.3;
  results.rows[1].paper.scores[Metric::parse] = 92.7;
  const auto with_paper = compare(results);
  CHECK(*with_paper[1].differences[Metric::parse].paper == Approx(1.4));
  CHECK(with_paper[1].differences[Metric::parse].verdict == "agrees");
  const std::string csv = to_csv(rows_table(results, with_paper));
  CHECK_THAT(csv, contains("f1_paper_difference") && contains(",1.4,") && contains("agrees") &&
                      !contains("ppl_paper"));
}

TEST_CASE("tables are rounded with intervals and one p-value, CSV has all numbers in full") {
  SweepResults results = two_rows();
  results.rows.push_back(row("one", 6, 24, {run(1, 5.2, 25)}));
  const auto compared = compare(results);
  const Table table = results_table(results, compared), rows = rows_table(results, compared);
  for (const auto& cells : table.rows) CHECK(cells.size() == table.columns.size());
  for (const auto& cells : rows.rows) CHECK(cells.size() == rows.columns.size());
  const std::string markdown = to_markdown(table), csv = to_csv(rows);
  CHECK_THAT(markdown, contains("PPL 95 % interval") && contains("PPL p |") &&
                           contains("[+0.67, +1.26]") && !contains("0.96666"));
  CHECK_THAT(csv, contains("ppl_p_seeds,ppl_p_holm,ppl_p,ppl_significant") &&
                      contains("bleu_p_joint") && contains("ppl_unstable") &&
                      contains("0.96666666666666"));
  for (const char* typeset : {"[", "±", "−", "*"}) CHECK(csv.find(typeset) == std::string::npos);
  // One seed a row: nothing is tested over seeds.
  for (RowRecord& one : results.rows) one.runs.resize(1);
  CHECK_THAT(to_markdown(results_table(results, compare(results))), !contains("interval"));
}

TEST_CASE("the table for a paper has means with marks, in LaTeX with booktabs") {
  SweepResults results = two_rows("x_1");
  results.rows[1].changed = {"model.d_k", "model.qk_norm"};
  results.rows[1].values["model.qk_norm"] = "\"l2\"";
  const std::string latex = to_latex(paper_table(results, compare(results)));
  CHECK(latex ==
        "\\begin{tabular}{lrlrrrrr}\n\\toprule\n"
        "row & $d_k$ & other & PPL & PPL paper & BLEU & BLEU paper & params $\\times 10^6$ \\\\\n"
        "\\midrule\n"
        "base & 64 &  & 5.13 $\\pm$ 0.15 & 5.00 & 25.20 $\\pm$ 0.26 & 25.0 & 1 \\\\\n"
        "x\\_1 & 64 & qk\\_norm l2 & 6.10 $\\pm$ 0.10$^{*}$ & 6.00 & 24.00 $\\pm$ 0.20 & 24.0 & "
        "1 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n");
}

TEST_CASE("parameters have three digits in tables, and all in CSV") {
  auto results = sweep({row("base", 5, 25, {run(1, 5, 25)}), row("x", 6, 24, {run(1, 6, 24)})});
  results.rows[1].runs[0].result.parameters = 213'456'789;
  const auto compared = compare(results);
  CHECK_THAT(to_markdown(results_table(results, compared)), contains(" 1 |") && contains(" 213 |"));
  CHECK_THAT(to_csv(rows_table(results, compared)), contains("213.456789"));
}

TEST_CASE("the table of costs has published FLOPs, also of systems that were not trained") {
  auto results = sweep({row("base", 5, 25, {run(1, 5, 25)}), row("A1", 5.3, 24, {})});
  const size_t own = cost_table(results).columns.size();
  results.rows[0].paper.flops = 3.3e18;
  PublishedSystem system{"Deep-Att", {.flops = 1.0e20}};
  system.paper.scores[Metric::bleu] = 39.2;
  results.published = {system};
  const Table table = cost_table(results);
  REQUIRE(table.columns.size() == own + 2);
  REQUIRE(table.rows.size() == 3);
  for (const auto& cells : table.rows) CHECK(cells.size() == table.columns.size());
  CHECK(table.rows[0].back() == "3.3e+18");
  CHECK(table.rows[1].back().empty());
  CHECK(table.rows[2].front() == "Deep-Att");
  CHECK(table.rows[2][own] == "39.20");
  CHECK(table.rows[2].back() == "1.0e+20");
}

TEST_CASE("speeds are means over runs on one kind of processor") {
  auto results = sweep({row("base", 5, 25, {run(1, 5, 25), run(2, 5, 25)})});
  for (RunRecord& one : results.rows[0].runs) one.provenance = {{"processor", "A"}};
  CHECK_THAT(to_csv(cost_table(results)), contains("base,6.00e+12,1.0,") && contains(",A\n"));
  results.rows[0].runs[1].provenance = {{"processor", "A"}, {"gpu", "B"}};
  CHECK_THAT(to_csv(cost_table(results)), contains("base,6.00e+12,,,,,,2 kinds\n"));
}

TEST_CASE("runs and learning curves are CSV, with the provenance of runs") {
  auto results = sweep({row("base", 5, 25, {run(1, 5, 25)}), row("x", 5, 25, {run(2, 6, 24)})});
  results.rows[1].runs[0].provenance = {{"commit", "c0ffee"}};
  CHECK_THAT(to_csv(runs_table(results)), contains("row,seed,finished,ppl,") &&
                                              contains("peak_memory,commit\nbase,1,1,5,") &&
                                              contains("0,c0ffee\n"));
  CHECK(to_csv(curves_table(results)) ==
        "row,seed,step,evaluator,weights,metric,value\nbase,1,100,valid,checkpoint,ppl,10\nbase,1,"
        "200,valid,checkpoint,ppl,5\n"
        "x,2,100,valid,checkpoint,ppl,12\nx,2,200,valid,checkpoint,ppl,6\n");
}

TEST_CASE("scores of a run are the last ones, and the best ones of main metrics") {
  RunRecord record = run(1, 5, 25);
  const auto add = [&](int64_t step, const char* evaluator, const char* weights, const char* metric,
                       double value) {
    record.curve.push_back({step, evaluator, weights, metric, value});
  };
  record.curve.clear();
  add(10, kTrainingCurve, kCheckpoint, "ppl", 3);
  add(10, "valid", kCheckpoint, "ppl", 4);
  add(10, "valid", kCheckpoint, "nll", 2);
  add(20, "valid", kCheckpoint, "ppl", 5);
  add(20, "test", kCheckpoint, "bleu", 30);
  add(30, "test", kCheckpoint, "bleu", 20);
  add(30, "test", "average", "bleu", 31);
  using Cells = std::vector<std::string>;
  CHECK(scores_table(record).rows ==
        std::vector<Cells>{{"test", "average", "bleu", "31.00", "30", "31.00", "30"},
                           {"test", "checkpoint", "bleu", "20.00", "30", "30.00", "20"},
                           {"valid", "checkpoint", "nll", "2", "10", "", ""},
                           {"valid", "checkpoint", "ppl", "5.00", "20", "4.00", "10"}});
}

TEST_CASE("CSV and Markdown escape what would break them") {
  Table table;
  table.columns = {{"a", "a", true}, {"b", "b"}};
  table.rows = {{"x, \"y\"", "z"}};
  CHECK(to_csv(table) == "a,b\n\"x, \"\"y\"\"\",z\n");
  table.rows = {{"a|b", "1"}};
  CHECK_THAT(to_markdown(table), contains("a\\|b"));
}

namespace {

std::string report_of(const SweepResults& results) {
  return markdown_report(results, compare(results));
}

}  // namespace

TEST_CASE("a report has the table, its legend, notes, cost and the command") {
  SweepResults results = two_rows();
  results.notes = {"a note"};
  results.command = "attn sweep x.json";
  results.signatures[Metric::bleu] = "nrefs:1";
  results.rows[0].values["train.average_last"] = "10";
  const std::string report = report_of(results);
  size_t at = 0;
  for (const char* part :
       {"# a sweep", "| base", "| A1", "adjusted by Holm's method",
        "train.average_last 10, train.patience", "Signature: nrefs:1", "Note: a note",
        "## Training cost", "    attn sweep x.json\n", "runs.csv"}) {
    INFO(part);
    at = report.find(part, at);
    REQUIRE(at != std::string::npos);
  }
  CHECK_THAT(report, !contains("‡"));
}

TEST_CASE("unstable rows are marked and explained") {
  SweepResults results = two_rows();
  results.rows.push_back(results.rows[1]);
  results.rows[2].runs[0].scores[Metric::loss] = 90.0;
  CHECK_THAT(report_of(results), contains(" ‡ |") && contains("‡ marks unstable rows"));
}

TEST_CASE("omitted, failed and unfinished runs are counted, and named in the table") {
  SweepResults results = two_rows();
  CHECK_THAT(report_of(results), !contains("runs finished"));
  for (RunRecord& run : results.rows[1].runs) {
    run.state = RunState::omitted;
    run.status = "trained with a different config";
    run.scores = {};
  }
  CHECK(progress(results) == "3 of 6 runs finished: 3 omitted (see the notes).");
  CHECK_THAT(report_of(results), contains("seed 1 trained with a different config, seed 2"));
  results.rows[1].runs[0].state = RunState::failed;
  results.rows[1].runs[1].state = RunState::unfinished;
  CHECK(progress(results) ==
        "3 of 6 runs finished: 1 failed, 1 unfinished, 1 omitted (see the notes).");
}

TEST_CASE("seeds that were planned but not run are counted at the top and named in the table") {
  SweepResults results = two_rows();
  results.rows[0].missing = 1;
  results.rows[1].missing = 4;
  results.rows.push_back(row("A2", 5, 25, {}));
  results.rows[2].missing = 2;
  CHECK_THAT(
      report_of(results),
      contains("# a sweep\n\n6 of 13 runs finished: 7 not run. 1 row has not been run.\n\n") &&
          contains("| 1 of 4 seeds not run ") && contains("| 4 of 7 seeds not run ") &&
          contains("| not run "));
  results.rows[1].missing = 2;
  results.rows[1].runs[0].state = RunState::unfinished;
  results.rows[1].runs[0].status = "at step 3 of 8";
  const Table table = results_table(results, compare(results));
  CHECK(table.columns.back().key == "state");
  CHECK(table.rows[1].back() == "seed 1 at step 3 of 8, 2 of 5 seeds not run");
}

TEST_CASE("the report of a single run has its scores and state") {
  SweepResults results = sweep({row("one", 5, 25, {run(1, 5, 25)})});
  results.single_run = true;
  CHECK_THAT(report_of(results),
             contains("Finished.\n\n## Scores\n\n| evaluator") && contains("## Training cost"));
  results.rows[0].runs[0].state = RunState::unfinished;
  results.rows[0].runs[0].status = "at step 3 of 8";
  CHECK_THAT(report_of(results), contains("Not finished: at step 3 of 8."));
}
