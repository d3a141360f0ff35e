#include "app/sweep/comparable.h"

#include "tests/support/catch.h"

using namespace attn;

namespace {

RunRecord run_on(const std::string& text, const std::string& vocabulary) {
  RunRecord run;
  run.finished = true;
  run.texts[Metric::loss] = run.texts[Metric::bleu] = text;
  run.target_vocabulary = vocabulary;
  return run;
}

RowRecord row_of(const std::string& name, std::vector<RunRecord> runs) {
  RowRecord row;
  row.name = name;
  row.values = {{"data.task", "\"translation\""}};
  row.runs = std::move(runs);
  return row;
}

RowRecord parser(const std::string& name, const std::string& form, const std::string& traces) {
  RowRecord row = row_of(name, {run_on("dev", name)});  // the counts of labels differ
  row.values = {{"data.task", "\"parsing\""},
                {"data.tree_form", "\"" + form + "\""},
                {"data.drop_traces", traces}};
  return row;
}

SweepResults marked(std::vector<RowRecord> rows) {
  SweepResults results;
  results.rows = std::move(rows);
  mark_incomparable(results);
  return results;
}

}  // namespace

TEST_CASE("a row on another text has no difference in the metrics of that text") {
  RowRecord other = row_of("other", {run_on("text", "pieces")});
  other.runs.front().texts[Metric::bleu] = "test2017";
  const SweepResults results = marked({row_of("base", {run_on("text", "pieces")}),
                                       row_of("same", {run_on("text", "pieces")}), other,
                                       row_of("unknown", {run_on("", "")})});
  for (const MetricFacts& facts : kMetrics) {
    const Metric metric = facts.metric;
    CHECK(!results.rows[0].incomparable[metric]);
    CHECK(!results.rows[1].incomparable[metric]);
    CHECK(results.rows[2].incomparable[metric] == (metric == Metric::bleu));
    CHECK(!results.rows[3].incomparable[metric]);
  }
  REQUIRE(results.notes.size() == 1);
  CHECK(results.notes.front() ==
        "other: its BLEU is of another text than that of base: no difference");
}

TEST_CASE("runs that are omitted do not decide which text a row has") {
  RunRecord omitted = run_on("former", "former");
  omitted.finished = false;  // as those on texts that have changed
  const SweepResults results = marked({row_of("base", {run_on("text", "pieces"), omitted}),
                                       row_of("row", {omitted, run_on("text", "pieces")})});
  for (const MetricFacts& facts : kMetrics) CHECK(!results.rows[1].incomparable[facts.metric]);
  CHECK(results.notes.empty());
}

TEST_CASE("perplexities of translators with other vocabularies have no difference") {
  const SweepResults results = marked({row_of("base", {run_on("text", "pieces")}),
                                       row_of("smaller", {run_on("text", "fewer pieces")})});
  CHECK(results.rows[1].incomparable[Metric::loss]);
  CHECK(!results.rows[1].incomparable[Metric::bleu]);
}

TEST_CASE("parsers are compared by perplexity if their symbols for a tree are the same") {
  const SweepResults results =
      marked({parser("base", "tags", "true"), parser("order", "in_order", "true"),
              parser("words", "xx", "true"), parser("traces", "tags", "false")});
  CHECK(!results.rows[1].incomparable[Metric::loss]);
  CHECK(results.rows[2].incomparable[Metric::loss]);
  CHECK(results.rows[3].incomparable[Metric::loss]);
}
