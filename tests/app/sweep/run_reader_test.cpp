#include "app/sweep/report.h"

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;

namespace {

RunRecord run_on(const std::string& text, const std::string& vocabulary) {
  RunRecord run;
  run.state = RunState::finished;
  run.texts[Metric::loss] = run.texts[Metric::bleu] = text;
  run.target_vocabulary = vocabulary;
  return run;
}

RowRecord row_of(const std::string& name, std::vector<RunRecord> runs) {
  RowRecord row;
  row.name = name;
  row.runs = std::move(runs);
  return row;
}

Experiment parser(TreeForm form, bool drop_traces) {
  Experiment experiment;
  experiment.data.task = Task::parsing;
  experiment.data.tree_form = form;
  experiment.data.drop_traces = drop_traces;
  return experiment;
}

SweepResults marked(std::vector<RowRecord> rows, std::vector<Experiment> experiments = {}) {
  SweepResults results;
  results.rows = std::move(rows);
  experiments.resize(results.rows.size());
  mark_incomparable(results, experiments);
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
        "other: its BLEU was computed on different data than that of base: no difference is shown");
}

TEST_CASE("a row with its baseline's losses is named if an option of its training differs") {
  const auto trained = [](int64_t seed, std::vector<double> losses) {
    RunRecord run = run_on("text", "pieces");
    run.seed = seed;
    run.losses = std::move(losses);
    return run;
  };
  bool equivalent = false;  // whether the row's trainings are the baseline's
  const auto notes = [&](std::vector<RunRecord> runs, auto change) {
    SweepResults results;
    results.rows = {row_of("base", {trained(1, {5, 4}), trained(2, {5, 3}), trained(3, {})}),
                    row_of("row", std::move(runs))};
    std::vector<Experiment> experiments(2);
    change(experiments[1]);
    note_ineffective(results, experiments);
    mark_equivalent(results, experiments);
    CHECK(!results.rows[0].equivalent_row);
    equivalent = results.rows[1].equivalent_row.has_value();
    return results.notes;
  };
  const auto dropout = [](Experiment& row) { row.model.get<TransformerConfig>().dropout = 0.2; };
  const auto beam = [](Experiment& row) { row.search.beam = 8; };
  CHECK(notes({trained(1, {5, 4}), trained(2, {5, 3}), trained(4, {1})}, dropout) ==
        std::vector<std::string>{"row: all its losses equal those of base to the last bit: "
                                 "model.dropout had no effect?"});
  CHECK(!equivalent);
  CHECK(notes({trained(1, {5, 4}), trained(2, {5, 3.0000000000000004})}, dropout).empty());
  CHECK(notes({trained(1, {5, 4, 3})}, dropout).empty());
  CHECK(notes({trained(3, {}), trained(4, {5, 4})}, dropout).empty());
  CHECK(notes({trained(1, {5, 4}), trained(2, {5, 4})}, beam).empty());
  CHECK(!equivalent);
  CHECK(notes({trained(1, {5, 4}), trained(2, {5, 3})}, beam).empty());
  CHECK(equivalent);
}

TEST_CASE("rows as read and rows of different commits are named") {
  const auto built = [](const std::string& commit, const std::string& as_read) {
    RunRecord run = run_on("text", "pieces");
    run.commit = commit;
    run.as_read = as_read;
    return run;
  };
  const auto notes = [](std::vector<RowRecord> rows) {
    SweepResults results;
    results.rows = std::move(rows);
    note_builds(results);
    return results.notes;
  };
  RunRecord unfinished = built("c", "norm");
  unfinished.state = RunState::unfinished;
  const RunRecord plain = built("a", ""), unknown = built("", "");
  CHECK(notes({row_of("base", {plain, plain}), row_of("B", {plain, unknown, unfinished})}).empty());
  const RunRecord edited = built("b+changes", "attention, norm");
  CHECK(notes({row_of("base", {plain}), row_of("B", {edited, edited}),
               row_of("C", {plain, edited})}) ==
        std::vector<std::string>{
            "B, C ran as read, without the fast paths of edited formulas: attention, norm",
            "rows were trained by different commits of attn (a: base, C; b+changes: B, C)"});
}

TEST_CASE("of the changes at a step the last one counts, none that the config does not have") {
  const testing::TemporaryDirectory run;
  const auto change = [](int step, const std::string& option, const std::string& after) {
    return R"({"kind":"change","step":)" + std::to_string(step) + R"(,"option":")" + option +
           R"(","after":)" + after + "}\n";
  };
  const std::string clip = "train.clip_norm", batch = "data.batch_tokens";
  run.write("metrics.jsonl", change(10, clip, "3.0") + change(20, clip, "1.0") +
                                 change(20, batch, "7") + change(20, clip, "2.0"));
  Experiment own;  // resumed at step 20 without the change of batches
  own.train.clip_norm = 2;
  SweepResults results;
  CHECK(RunReader(results).read(run.path(), "run", own, own).changes ==
        "train.clip_norm 3.0 from step 10, train.clip_norm 2.0 from step 20");
}

TEST_CASE("runs that are omitted do not decide which text a row has") {
  RunRecord omitted = run_on("former", "former");
  omitted.state = RunState::omitted;  // as those on texts that have changed
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
  std::vector<RowRecord> rows;
  for (const char* name : {"base", "order", "words", "traces"}) {
    rows.push_back(row_of(name, {run_on("dev", name)}));  // the counts of labels differ
  }
  const SweepResults results =
      marked(std::move(rows), {parser(TreeForm::tags, true), parser(TreeForm::in_order, true),
                               parser(TreeForm::xx, true), parser(TreeForm::tags, false)});
  CHECK(!results.rows[1].incomparable[Metric::loss]);
  CHECK(results.rows[2].incomparable[Metric::loss]);
  CHECK(results.rows[3].incomparable[Metric::loss]);
}
