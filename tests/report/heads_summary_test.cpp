#include "report/heads_summary.h"

#include <string>

#include "report/comparison.h"
#include "report/page.h"
#include "tests/report/pages.h"
#include "tests/report/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::check_page;
using testing::contains;
using testing::row;
using testing::run;
using testing::sweep;

namespace {

// Importance of three kinds, and BLEU of a run with 0, 1, 2 and 3 of 3 heads masked.
RunRecord with_heads(RunRecord record, double cross, std::vector<double> bleu) {
  record.heads = {{"encoder", 1}, {"decoder", 1}, {"cross", cross}};
  for (size_t i = 0; i < bleu.size(); ++i) {
    record.pruning.push_back({static_cast<double>(i) / 3.0, bleu[i]});
  }
  return record;
}

SweepResults with_two_rows() {
  return sweep({row("base", 5, 25,
                    {with_heads(run(1, 5, 25), 2, {25, 24.5, 20, 24.9}),
                     with_heads(run(2, 5, 26), 6, {26, 25, 25.5, 1})}),
                row("A1", 6, 24, {run(1, 6, 24)}),
                row("A2", 6, 24, {with_heads(run(1, 6, 24), 0, {24, 22, 3, 0}), run(2, 6, 24)})});
}

}  // namespace

TEST_CASE("the summary of heads has the rows with heads, and means over their runs") {
  const Table table = heads_summary_table(with_two_rows());
  REQUIRE(table.rows.size() == 2);
  // cross: 2 of 4 and 6 of 8; one and two of three heads masked at a loss of at most 1
  CHECK(table.rows[0] == std::vector<std::string>{"base", "3", "19", "19", "62", "25.50", "50"});
  CHECK(table.rows[1] == std::vector<std::string>{"A2", "3", "50", "50", "0", "24.00", "0"});
  CHECK(heads_summary_table(sweep({row("base", 5, 25, {run(1, 5, 25)})})).rows.empty());
}

TEST_CASE("statistics without a pruning curve leave its cells empty") {
  const SweepResults results = sweep({row("base", 5, 25, {with_heads(run(1, 5, 25), 2, {})})});
  CHECK(heads_summary_table(results).rows.front()[5].empty());
  CHECK(heads_summary_table(results).rows.front()[6].empty());
}

TEST_CASE("both reports have a section on heads exactly if a run has their statistics") {
  const SweepResults results = with_two_rows();
  const std::string page = html_report(results, compare(results));
  check_page(page);
  CHECK_THAT(page, contains("<h2>Heads</h2>") && contains("% of heads masked"));
  CHECK_THAT(markdown_report(results, compare(results)), contains("## Heads"));
  const SweepResults without = sweep({row("base", 5, 25, {run(1, 5, 25)})});
  CHECK_THAT(html_report(without, compare(without)), !contains("<h2>Heads</h2>"));
  CHECK_THAT(markdown_report(without, compare(without)), !contains("## Heads"));
}
