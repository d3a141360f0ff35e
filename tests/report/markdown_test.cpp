#include <string>

#include "report/tables.h"
#include "tests/report/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::contains;
using testing::row;
using testing::run;
using testing::sweep;

namespace {

SweepResults two_rows() {
  return sweep({row("base", 5, 25, {run(1, 5, 25), run(2, 5.1, 25.3), run(3, 5.05, 25.1)}),
                row("A1", 5.3, 24, {run(1, 6, 20), run(2, 6.1, 20.3), run(3, 6.05, 20.1)})});
}

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
  for (const char* part : {"# a sweep", "| base", "| A1", "adjusted by Holm's method",
                           "train.average_last 10, train.ema", "Signature: nrefs:1", "Note: a note",
                           "## Training cost", "    attn sweep x.json\n", "runs.csv"}) {
    INFO(part);
    at = report.find(part, at);
    REQUIRE(at != std::string::npos);
  }
  CHECK(report.find("‡") == std::string::npos);
}

TEST_CASE("unstable rows are marked and explained") {
  SweepResults results = two_rows();
  results.rows.push_back(results.rows[1]);
  results.rows[2].runs[0].scores[Metric::loss] = 90.0;
  CHECK_THAT(report_of(results), contains(" ‡ |") && contains("‡ marks unstable rows"));
}

TEST_CASE("omitted, failed and unfinished runs are counted, and named in the table") {
  SweepResults results = two_rows();
  CHECK(report_of(results).find("runs finished") == std::string::npos);
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
  results.rows[0].missing_seeds = {4};
  results.rows[1].missing_seeds = {4, 5, 6, 7};
  results.rows.push_back(row("A2", 5, 25, {}));
  results.rows[2].missing_seeds = {1, 2};
  CHECK_THAT(
      report_of(results),
      contains("# a sweep\n\n6 of 13 runs finished: 7 not run. 1 row has not been run.\n\n") &&
          contains("| seed 4 not run ") && contains("| 4 of 7 seeds not run ") &&
          contains("| not run "));
  results.rows[1].missing_seeds = {4, 6};
  results.rows[1].runs[0].state = RunState::unfinished;
  results.rows[1].runs[0].status = "at step 3 of 8";
  const Table table = results_table(results, compare(results));
  CHECK(table.columns.back().key == "state");
  CHECK(table.rows[1].back() == "seed 1 at step 3 of 8, seeds 4, 6 not run");
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
