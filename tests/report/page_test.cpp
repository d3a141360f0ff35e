#include "report/page.h"

#include <cmath>
#include <string>

#include "report/comparison.h"
#include "report/page_plots.h"
#include "report/row_groups.h"
#include "report/summary.h"
#include "report/table.h"
#include "tests/report/pages.h"
#include "tests/report/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::check_page;
using testing::contains;
using testing::count_of;
using testing::row;
using testing::run;
using testing::sweep;

namespace {

std::string page_of(const SweepResults& results) {
  const std::string page = html_report(results, compare(results));
  check_page(page);
  return page;
}

RowRecord without_paper(RowRecord record) {
  record.paper = {};
  return record;
}

SweepResults two_rows() {
  return sweep({row("base", 5, 25, {run(1, 5, 25), run(2, 5.1, 25.3), run(3, 5.05, 25.1)}),
                row("A1", 5.3, 24, {run(1, 6, 20), run(2, 6.1, 20.3), run(3, 6.05, 20.1)})});
}

}  // namespace

TEST_CASE("a page begins with the summary and the differences, then the table and curves") {
  SweepResults results = two_rows();
  results.rows[1].about = "one head";
  const std::string page = page_of(results);
  const char* parts[] = {
      "<h1>a sweep</h1>",
      "A1 does not differ significantly from base in BLEU (25.13 ± 0.15), but does in perplexity",
      "The paper&#39;s sign holds for 0 of 1 in BLEU and 1 of 1 in perplexity",
      "class=\"forest\"",
      ">one head<",
      "<h2>Results</h2>",
      "<h2>Learning curves</h2>",
      "<h2>Training cost</h2>",
      "Reproduce"};
  size_t at = 0;
  for (const char* part : parts) {
    INFO(part);
    at = page.find(part, at);
    REQUIRE(at != std::string::npos);
  }
  CHECK_THAT(page, contains("−5.00") && contains("−1.0") && contains("class=\"band\""));
  CHECK_THAT(markdown_report(results, compare(results)), contains("| base") && contains("| A1"));
}

TEST_CASE("names and descriptions are escaped everywhere on a page") {
  SweepResults results = two_rows();
  results.title = "<b>T</b>";
  results.about = "1 < 2 & \"x\"";
  results.rows[1].name = "A<i>";
  results.rows[1].about = "\"><u>";
  results.rows[1].changed = {"model.x"};
  results.rows[1].values["model.x"] = "\"<s>\"";
  results.evaluators[Metric::bleu] = "<em>";
  results.notes = {"<mark>"};
  results.command = "attn sweep <q>";
  const std::string page = page_of(results);
  for (const char* tag : {"<b>", "<i>", "<u>", "<s>", "<em>", "<mark>", "<q>"}) {
    INFO(tag);
    CHECK(page.find(tag) == std::string::npos);
  }
  CHECK_THAT(page, contains("A&lt;i&gt;") && contains("&quot;&gt;&lt;u&gt;"));
}

TEST_CASE("rows with another baseline are named with it, and counted apart") {
  SweepResults results = two_rows();
  CHECK(page_of(results).find("baseline names") == std::string::npos);
  results.rows.push_back(row("A2", 5.5, 24, {run(1, 5, 20), run(2, 5.1, 20.3)}));
  results.rows[2].about = "two heads";
  results.rows[2].baseline = 1;
  const std::string page = page_of(results);
  CHECK_THAT(page, contains("A1 does not differ significantly from base in BLEU") &&
                       contains("Of 1 row with another baseline, 0 differ significantly from it in "
                                "BLEU, 1 in perplexity (A2).") &&
                       contains(">vs. A1: two heads<") &&
                       contains("or from the row that the column baseline names"));
}

TEST_CASE("single seeds have no bands, and no test over seeds") {
  SweepResults results = two_rows();
  for (RowRecord& record : results.rows) record.runs.resize(1);
  const std::string page = page_of(results);
  CHECK(page.find("class=\"band\"") == std::string::npos);
  CHECK(page.find("class=\"interval\" style") == std::string::npos);
}

TEST_CASE("without results in the paper the page shows the minimum detectable differences") {
  SweepResults results = two_rows();
  for (RowRecord& record : results.rows) record = without_paper(std::move(record));
  const std::string page = page_of(results);
  CHECK_THAT(page, contains("Minimum detectable difference"));
  CHECK(page.find("class=\"paper\"") == std::string::npos);
  CHECK(page.find("paper&#39;s") == std::string::npos);
}

TEST_CASE("the page says which weights were scored, also if rows differ in it") {
  SweepResults results = two_rows();
  CHECK_THAT(page_of(results),
             contains("All scores were computed with the weights after the last update"));
  for (RowRecord& row : results.rows) row.values["train.average_last"] = "10";
  CHECK_THAT(page_of(results),
             contains("All scores were computed with the average of the last 10 checkpoints."));
  for (RowRecord& row : results.rows) {  // fewer than asked for
    row.values["train.steps"] = "450";
    row.values["train.checkpoint_every"] = "100";
  }
  CHECK_THAT(page_of(results), contains("with the average of the last 5 checkpoints."));
  for (RowRecord& row : results.rows) row.values["train.steps"] = "1000";
  const std::string name = results.rows[1].name;
  results.rows[1].values["train.average_last"] = "0";
  CHECK_THAT(page_of(results),
             contains("Scores were computed with the average of the last 10 checkpoints; for " +
                      name + " with the weights after the last update"));
  results.rows[1].values["train.ema"] = "0.999";
  CHECK_THAT(page_of(results),
             contains("; for " + name + " with the exponential moving average of the weights."));
}

TEST_CASE("the best TER is the lowest") {
  const auto scored = [](const char* name, double ter) {
    RowRecord record = row(name, 5, 25, {run(1, 5, 25), run(2, 5, 25), run(3, 5, 25)});
    for (RunRecord& one : record.runs) {
      one.scores = {};
      one.scores[Metric::ter] = ter + 0.1 * static_cast<double>(one.seed);
    }
    return record;
  };
  SweepResults results = sweep({scored("base", 50), scored("worse", 60), scored("better", 40)});
  results.evaluators = {};
  results.evaluators[Metric::ter] = "test";
  CHECK_THAT(page_of(results), contains("best is better (") && contains("worst worse ("));
  const auto compared = compare(results);
  CHECK(differences_forest(results, compared, row_groups(results)).panels[0].lower_is_better);
}

TEST_CASE("one row has its scores and its learning curve, and no differences") {
  SweepResults results = two_rows();
  results.rows.resize(1);
  const std::string page = page_of(results);
  CHECK_THAT(page, contains("base has BLEU 25.13 ± 0.15, perplexity 5.05 ± 0.05"));
  CHECK(page.find("class=\"forest\"") == std::string::npos);
  CHECK(count_of(page, "<h3>") == 1);
  results.rows[0].runs.clear();
  CHECK_THAT(page_of(results), contains("No result yet.") && contains(">1 row has not been run.<"));
}

TEST_CASE("failed and unfinished rows are on the page with their states") {
  SweepResults results = two_rows();
  RunRecord failed = run(1, 0, 0), running = run(1, 0, 0);
  for (RunRecord* record : {&failed, &running}) {
    record->state = RunState::unfinished;
    record->scores = {};
    record->curve = {{100, 50.0}, {200, NAN}, {300, INFINITY}};
  }
  failed.state = RunState::failed;
  failed.status = "failed at step 300";
  running.status = "at step 300 of 800";
  results.rows.push_back(row("A2", 5, 25, {failed}));
  results.rows.push_back(row("A3", 5, 25, {running}));
  results.rows.push_back(row("A4", 5, 25, {}));
  const std::string page = page_of(results);
  CHECK_THAT(page,
             contains(">6 of 8 runs finished: 1 failed, 1 unfinished. 1 row has not been run.<"));
  for (const char* part : {">failed<", ">unfinished<", ">not run<", "seed 1 failed at step 300"}) {
    CHECK_THAT(page, contains(part));
  }
}

TEST_CASE("omitted runs are counted at the top, and name the state of a row without other runs") {
  SweepResults results = two_rows();
  for (RunRecord& run : results.rows[1].runs) {
    run.state = RunState::omitted;
    run.scores = {};
  }
  CHECK_THAT(page_of(results), contains(">3 of 6 runs finished: 3 omitted (see the notes).<"));
  CHECK(missing_state(results.rows[1]) == "omitted");
  results.rows[1].runs.back().state = RunState::unfinished;
  CHECK(missing_state(results.rows[1]) == "unfinished");
}

TEST_CASE("seeds that were planned but not run are counted at the top and named in the table") {
  SweepResults results = two_rows();
  CHECK(page_of(results).find("runs finished") == std::string::npos);
  CHECK(markdown_report(results, compare(results)).find("runs finished") == std::string::npos);
  results.rows[0].missing_seeds = {4};
  results.rows[1].missing_seeds = {4, 5, 6, 7};
  results.rows.push_back(row("A2", 5, 25, {}));
  results.rows[2].missing_seeds = {1, 2};
  const std::string state = "6 of 13 runs finished: 7 not run. 1 row has not been run.";
  CHECK_THAT(page_of(results), contains("<p class=\"progress\">" + state) &&
                                   contains(">seed 4 not run<") &&
                                   contains(">4 of 7 seeds not run<") && contains(">not run<"));
  CHECK_THAT(markdown_report(results, compare(results)),
             contains("# a sweep\n\n" + state + "\n\n| row"));
  results.rows[1].missing_seeds = {4, 6};
  results.rows[1].runs[0].state = RunState::unfinished;
  results.rows[1].runs[0].status = "at step 3 of 8";
  const Table table = results_table(results, compare(results));
  CHECK(table.columns.back().key == "state");
  CHECK(table.rows[1].back() == "seed 1 at step 3 of 8, seeds 4, 6 not run");
  for (const auto& cells : table.rows) CHECK(cells.size() == table.columns.size());
}

TEST_CASE("the summary says of each metric which of its rows differ") {
  // BLEU of one row, perplexity of two, of which the other one differs.
  SweepResults results = two_rows();
  results.rows[1].runs = results.rows[0].runs;
  results.rows.push_back(results.rows[1]);
  results.rows[2].name = "A2";
  for (RunRecord& record : results.rows[2].runs) {
    *record.scores[Metric::loss] += 1;
    record.scores[Metric::bleu] = std::nullopt;
  }
  CHECK_THAT(page_of(results),
             contains("A1 does not differ significantly from base in BLEU (25.13 ± 0.15), and 1 of "
                      "the 2 rows differs in perplexity (5.05 ± 0.05)."));
}

TEST_CASE("the summary speaks of inconclusive rows where there are any") {
  SweepResults results = two_rows();
  for (RunRecord& record : results.rows[1].runs) record.scores[Metric::bleu] = std::nullopt;
  const std::string page = page_of(results);
  CHECK_THAT(page, contains("The paper&#39;s sign holds for 1 of 1 in perplexity, and is reversed "
                            "for 0 of 1 in perplexity."));
  CHECK(page.find("the others are inconclusive") == std::string::npos);
}

TEST_CASE("scores that are not finite or identical do not spoil a page") {
  SweepResults results = two_rows();
  results.rows[1].runs[0].scores[Metric::loss] = NAN;
  results.rows[1].runs[1].scores[Metric::loss] = INFINITY;
  results.rows[1].runs[0].curve = {{100, NAN}, {200, -1.0}, {300, 0.0}};
  page_of(results);
  results = two_rows();
  results.rows[1].runs = results.rows[0].runs;
  CHECK_THAT(page_of(results), contains("A1 does not differ significantly from base"));
}

TEST_CASE("sixty rows are all in the plot and in the table, in panels of seven curves at most") {
  SweepResults results = sweep({row("base", 0, 0, {run(1, 5, 25)})});
  for (int k = 0; k < 60; ++k) {
    const double x = k;
    std::string name = "rate.learning_rate=";
    name += std::to_string(1000 + k);
    results.rows.push_back(row(name, 0, 0, {run(1, 5 + 0.01 * x, 25 - 0.1 * x)}));
    results.rows.back().changed = {"train.learning_rate"};
    results.rows.back().values["train.learning_rate"] = std::to_string(1000 + k);
  }
  for (RowRecord& record : results.rows) record.paper = {};
  const std::string page = page_of(results);
  for (const RowRecord& record : results.rows) {
    INFO(record.name);
    const std::string value = record.name.substr(record.name.find('=') + 1);
    CHECK_THAT(page, contains(record.name == value
                                  ? ">base</span></th>"
                                  : ">rate.<wbr>learning_rate=<wbr>" + value + "</span></th>"));
  }
  CHECK(count_of(page, "<g class=\"row\">") == 60 + 2 * 60);  // side by side; one by one
  CHECK_THAT(page, contains("(9 of 9)") && contains("BLEU against learning_rate"));
}

TEST_CASE("names of rows may break between options, not within values") {
  SweepResults results = two_rows();
  results.rows[1].name = "hd.heads=1.dropout=0.3";
  const auto compared = compare(results);
  const Table table = results_table(results, compared);
  CHECK_THAT(to_html(table),
             contains("<span>hd.<wbr>heads=<wbr>1.<wbr>dropout=<wbr>0.3</span></th>"));
  CHECK(to_csv(table).find("wbr") == std::string::npos);
}

TEST_CASE("a table has the rows' meanings for the pointer, and lines between groups of columns") {
  SweepResults results = two_rows();
  results.rows[1].about = "one head";
  const std::string html = to_html(results_table(results, compare(results)));
  CHECK_THAT(html, contains("<tr title=\"A1: one head\">"));
  CHECK(count_of(html, "class=\"group first\"") == 2);
  CHECK(to_csv(results_table(results, compare(results))).find("one head") == std::string::npos);
}
