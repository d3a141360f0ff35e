#include "app/sweep/plan.h"

#include <filesystem>

#include "app/sweep/costs.h"
#include "base/file.h"
#include "tests/app/sweep/sweeps.h"
#include "tests/support/catch.h"
#include "tests/support/source_dir.h"
#include "tests/support/table3.h"

using namespace attn;
using testing::contains;
using testing::Sweeps;

TEST_CASE("grids make a row for each combination, seeds a run for each") {
  const Sweeps sweeps;
  const auto text = sweeps.rows(
      R"({"name": "g", "seeds": 2, "grid": {"model.heads": [1, 4], "train.smoothing": ["all", "wrong"]}})");
  const SweepPlan plan = sweeps.plan(text);
  REQUIRE(plan.rows.size() == 5);
  CHECK(plan.rows[1].name == "g.heads=1.smoothing=all");
  CHECK(plan.rows[4].name == "g.heads=4.smoothing=wrong");
  CHECK(plan.rows[3].experiment.model.get<TransformerConfig>().heads == 4);
  REQUIRE(plan.runs.size() == 9);
  CHECK(plan.runs[4].experiment.seed == 5);
  CHECK(plan.runs[5].experiment.seed == 6);  // all rows' first seeds come first
  CHECK(sweeps.plan(text, {.seeds = 3}).runs.size() == 15);
  CHECK(sweeps.plan(sweeps.rows(R"({"name": "g", "grid": {"search.alpha": [2, -1]}})"))
            .rows[2]
            .name == "g.alpha=-1");
  const SweepPlan some = sweeps.plan(text, {.only = {"base", "*smoothing=all"}});
  CHECK(some.rows.size() == 5);
  CHECK(some.runs.size() == 5);
}

TEST_CASE("the values of a grid, which name its rows, cannot be overridden") {
  const Sweeps sweeps;
  const auto text = sweeps.rows(R"({"name": "g", "grid": {"model.heads": [1, 4]}})");
  CHECK_THROWS_WITH(sweeps.plan(text, {.assignments = {Assignment("model.heads=2")}}),
                    contains("--set model.heads=2: row g.heads=1"));
  CHECK_THROWS_WITH(sweeps.plan(text, {.assignments = {Assignment("model={}")}}),
                    contains("model.heads"));
  CHECK_NOTHROW(sweeps.plan(text, {.assignments = {Assignment("train.steps=7")}}));
  const auto beams = sweeps.rows(R"({"name": "g", "grid": {"eval.1.search.beam": [1, 4]}})");
  CHECK(sweeps.plan(beams).rows[1].experiment.eval[1].search == Json{{"beam", 1}});
  CHECK_THROWS_WITH(sweeps.plan(beams, {.assignments = {Assignment("eval[1].search.beam=2")}}),
                    contains("row g.beam=1 sets eval.1.search.beam itself"));
}

TEST_CASE("a grid's other values hold for each of its architectures and schedules") {
  const Sweeps sweeps;
  for (const char* grid :
       {R"("model.dropout": [0.2, 0.4], "model.architecture": ["transformer", "recurrent"])",
        R"("model.architecture": ["transformer", "recurrent"], "model.dropout": [0.2, 0.4])"}) {
    const SweepPlan plan =
        sweeps.plan(sweeps.rows(R"({"name": "g", "set": {"data": {"max_length": 50}}, "grid": {)" +
                                std::string(grid) + "}}"));
    for (size_t i = 1; i < plan.rows.size(); ++i) {
      const PlannedRow& row = plan.rows[i];
      INFO(row.name);
      const bool recurrent = row.experiment.model.architecture() == Architecture::recurrent;
      CHECK((row.name.find("recurrent") != std::string::npos) == recurrent);
      const double dropout = recurrent ? row.experiment.model.get<RecurrentConfig>().dropout
                                       : row.experiment.model.get<TransformerConfig>().dropout;
      CHECK(dropout == (row.name.find("0.4") != std::string::npos ? 0.4 : 0.2));
      CHECK(row.experiment.data.max_length == 50);
    }
  }
}

TEST_CASE("--set cannot remove what rows set, or their grids vary") {
  const Sweeps sweeps;
  const SweepRequest request{.assignments = {Assignment("model.architecture=recurrent")}};
  for (const char* row :
       {R"("grid": {"model.dropout": [0.4]})", R"("set": {"model": {"dropout": 0.4}})"}) {
    const SweepPlan plan =
        sweeps.plan(sweeps.rows(R"({"name": "r", )" + std::string(row) + "}"), request);
    CHECK(plan.rows[1].experiment.model.get<RecurrentConfig>().dropout == 0.4);
  }
  const auto heads = sweeps.rows(R"({"name": "h", "set": {"model": {"heads": 4}}})");
  CHECK_THROWS_WITH(sweeps.plan(heads, request),
                    contains("row h: model.heads: requires architecture transformer"));
  CHECK_NOTHROW(sweeps.plan(heads, {.assignments = {Assignment("model.heads=2")}}));
  const auto recurrent =
      sweeps.rows(R"({"name": "r", "set": {"model": {"architecture": "recurrent"}}})");
  CHECK_THROWS_WITH(sweeps.plan(recurrent, {.assignments = {Assignment("model.heads=4")}}),
                    Catch::Matchers::StartsWith("--set model.heads: requires architecture"));
  CHECK_THROWS_WITH(
      sweeps.plan(sweeps.rows(R"({"name": "g", "set": {"model": {"heads": 4}},
                                   "grid": {"model.heads": [1, 2]}})")),
      contains(R"(rows[1].grid.model.heads: [1,2]: "set" also sets it; keep one of them)"));
}

TEST_CASE("rows are patches on the base and what the sweep sets; the first is compared with") {
  const Sweeps sweeps;
  sweeps.write("common.json", R"({"model": {"dropout": 0.3, "heads": 4}})");
  sweeps.write("own.json", R"({"model": {"dropout": 0.4}})");
  const SweepPlan plan = sweeps.plan(
      R"({"base": "base.json", "patch": ["common.json"], "set": {"model": {"dropout": 0.2}},
          "rows": [{"name": "base"}, {"name": "own", "patch": ["own.json"]},
                   {"name": "set", "patch": ["own.json"], "set": {"model": {"dropout": 0.5}}}]})");
  const auto dropout = [&](size_t row) {
    return plan.rows[row].experiment.model.get<TransformerConfig>().dropout;
  };
  REQUIRE(plan.rows.size() == 3);
  CHECK(dropout(0) == 0.2);
  CHECK(dropout(1) == 0.4);
  CHECK(dropout(2) == 0.5);
  CHECK(plan.rows[0].changed.empty());
  CHECK(plan.rows[1].changed == std::vector<std::string>{"model.dropout"});
  CHECK(plan.rows[1].experiment.model.get<TransformerConfig>().heads == 4);
  CHECK(plan.metrics[Metric::loss] == "v");
  CHECK(plan.metrics[Metric::bleu] == "b");
  REQUIRE(plan.runs.size() == 3);
  CHECK(plan.runs[1].name == "own/seed-5");
  CHECK(plan.runs[1].directory == sweeps.folder() / "own" / "seed-5");
  CHECK(plan.runs[1].config() == sweeps.folder() / "own" / "seed-5.json");
}

TEST_CASE("a row is compared with the row that it names, a grid's row by its full name") {
  const Sweeps sweeps;
  const SweepPlan plan = sweeps.plan(sweeps.rows(
      R"({"name": "g", "grid": {"model.heads": [1, 4]}}, {"name": "a", "baseline": "g.heads=4"})"));
  const auto baseline = [&](size_t row) { return plan.rows[plan.rows[row].baseline].name; };
  CHECK(baseline(0) == "base");
  CHECK(baseline(1) == "base");
  CHECK(baseline(3) == "g.heads=4");
}

TEST_CASE("null in a row or a grid is a value: the option's default") {
  const Sweeps sweeps;
  sweeps.write("base.json", R"({"train": {"clip_norm": 1.0}, "model": {"heads": 4}})");
  const SweepPlan row =
      sweeps.plan(sweeps.rows(R"({"name": "x", "set": {"train": {"clip_norm": null}}})"));
  CHECK(row.rows[1].experiment.train.clip_norm == 0.0);
  CHECK(row.rows[1].changed == std::vector<std::string>{"train.clip_norm"});
  const SweepPlan grid = sweeps.plan(sweeps.rows(
      R"({"name": "g", "set": {"model": null}, "grid": {"train.clip_norm": [null, 2]}})"));
  CHECK(grid.rows[1].name == "g.clip_norm=null");
  CHECK(grid.rows[1].experiment.train.clip_norm == 0.0);
  CHECK(grid.rows[1].experiment.model.get<TransformerConfig>().heads == TransformerConfig{}.heads);
  CHECK(grid.rows[2].experiment.train.clip_norm == 2.0);
  // null in a row resets an option that all rows set to its default, not to the base's value.
  const SweepPlan both = sweeps.plan(
      R"({"base": "base.json", "set": {"train": {"clip_norm": 3.0}},
          "rows": [{"name": "base"}, {"name": "x", "set": {"train": {"clip_norm": null}}}]})");
  CHECK(both.rows[0].experiment.train.clip_norm == 3.0);
  CHECK(both.rows[1].experiment.train.clip_norm == 0.0);
}

TEST_CASE("an error in any row names the row, the path and the nearest name") {
  const Sweeps sweeps;
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"("name": "x", "set": {"model": {"heds": 1}})", "s.json: row x: model.heds"},
      {R"("name": "x", "set": {"model": {"heds": 1}})", "did you mean heads"},
      {R"("name": "x", "set": {"model": {"d_model": 0}})", "row x: model.d_model: 0"},
      {R"("name": "x", "sett": {})", "rows[1].sett"},
      {R"("name": "a/b")", "rows[1].name"},
      {R"("name": "..")", "rows[1].name"},
      {R"("name": "cache")", "rows[1].name: \"cache\": is a name of the sweep's own"},
      {R"("name": "x.tuned")", "rows[1].name"},
      {R"("name": "base")", "duplicate row name base"},
      {R"("name": "x", "set": {"seed": 3})", "seeds"},
      {R"("name": "x", "set": {"base": "y"})", "patch"},
      {R"("name": "x", "seeds": 9000000000000000000)", "rows[1].seeds"},
      {R"("name": "x", "grid": {"model.heads": 3})", "rows[1].grid.model.heads"},
      {R"("name": "x", "grid": {"model.heads": []})", "rows[1].grid.model.heads: []: "},
      {R"("name": "g", "grid": {"seed": [1, 2]})",
       "rows[1].grid.seed: [1,2]: belongs in \"seeds\""},
      {R"("name": "x", "patch": ["none.json"])", "none.json': no such file"},
      {R"("name": "x", "baseline": "bsae")",
       "row x: baseline: \"bsae\": no row above it has that name; did you mean base?"},
      {R"("name": "x", "baseline": "x")", "row x: baseline: \"x\": no row above it"},
      {R"("name": "x", "baseline": "y"}, {"name": "y")", "row x: baseline: \"y\": no row above it"},
      // An option that only one of the schedules has.
      {R"("name": "g", "grid": {"train.final_rate": [0.1, 0.2],
                                "train.schedule": ["constant", "cosine"]})",
       "train.final_rate"},
      {R"("name": "g", "set": {"model": null}, "grid": {"model.layers": [3]})",
       "row g.layers=3: model: null: resets all options"},
  };
  for (const auto& [row, message] : rows) {
    CHECK_THROWS_WITH(sweeps.plan(sweeps.rows("{" + row + "}"), {.only = {"base"}}),
                      contains(message));
  }
  const std::vector<std::pair<std::string, std::string>> texts = {
      {R"("base": "base.json", "rows": [])", "rows"},
      {R"("rows": [{"name": "base"}])", "base"},
      {R"("base": "base.json", "metrics": {"bleu": "c"}, "rows": [{"name": "a"}])", "metrics.bleu"},
      {R"("base": "base.json", "rows": [{"name": "b", "baseline": "x"}, {"name": "x"}])",
       "row b: baseline: \"x\": no row above it"},
  };
  for (const auto& [text, message] : texts) {
    CHECK_THROWS_WITH(sweeps.plan("{" + text + "}"), contains(message));
  }
  const std::string good = sweeps.rows(R"({"name": "A1"})");
  CHECK_THROWS_WITH(sweeps.plan(good, {.only = {"A2"}}), contains("--only A2") && contains("A1"));
  CHECK_THROWS_WITH(sweeps.plan(good, {.seeds = 10001}), contains("--seeds: 10001"));
  CHECK_THROWS_WITH(sweeps.plan(good, {.assignments = {Assignment("seed=9223372036854775807")}}),
                    contains("seed: 9223372036854775807"));
}

TEST_CASE("the shipped Table 3 is the paper's, parameters and all") {
  SweepRequest request;
  request.file = std::filesystem::path(testing::kSourceDir) / "experiments/table3.json";
  const SweepPlan plan = plan_sweep(request);
  const auto expected = testing::table3();
  REQUIRE(plan.rows.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO(expected[i].name);
    CHECK(plan.rows[i].name == expected[i].name);
    const Experiment paper{.model = expected[i].config};
    CHECK(write_resolved(plan.rows[i].experiment)["model"] == write_resolved(paper)["model"]);
    if (expected[i].paper_millions > 0) {
      CHECK(plan.rows[i].paper.params_m == expected[i].paper_millions);
    }
  }
  const auto multi30k =
      std::filesystem::path(testing::kSourceDir) / "experiments/multi30k/table3.json";
  CHECK(plan_sweep({.file = multi30k}).rows.size() == expected.size());
  CHECK_NOTHROW(check_parameters(plan));
  SweepPlan wrong = plan;
  wrong.rows[5].paper.params_m = 59.0;
  CHECK_THROWS_WITH(check_parameters(wrong), contains("B1"));
}

TEST_CASE("every config in experiments can be read") {
  const auto folder = std::filesystem::path(testing::kSourceDir) / "experiments";
  int64_t read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const Json json = parse_json(read_file(entry.path()), entry.path().string());
    if (!json.contains("data") && !json.contains("base") && !json.contains("model")) continue;
    INFO(entry.path().string());
    ++read;
    if (json.contains("rows")) {
      CHECK_NOTHROW(plan_sweep({.file = entry.path()}));
    } else {
      CHECK_NOTHROW(load_experiment(entry.path()));
    }
  }
  CHECK(read > 15);
}

TEST_CASE("the command of a plan repeats what was set, quoted for the shell") {
  const Sweeps sweeps;
  SweepRequest request;
  request.assignments = {Assignment("train.steps=50"), Assignment("about=it's a test")};
  request.seeds = 3;
  const SweepPlan plan = sweeps.plan(sweeps.rows(R"({"name": "B1"})"), request);
  CHECK(plan.command == "attn sweep " + plan.source +
                            " --set train.steps=50 --set 'about=it'\\''s a test' --run " +
                            sweeps.folder().string() + " --seeds 3");
  request.threads = 2;
  CHECK(sweeps.plan(sweeps.rows(R"({"name": "B1"})"), request)
            .command.starts_with("attn --threads 2 sweep "));
}
