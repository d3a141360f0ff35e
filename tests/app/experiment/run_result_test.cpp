#include "app/experiment/run_result.h"

#include <string>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using testing::contains;

TEST_CASE("the changes of a run are listed, whatever else its run.json holds") {
  const testing::TemporaryDirectory run;
  CHECK(changes_of(run.path()).empty());
  for (const char* changes : {"1", "\"x\"", "[1]", "[{\"option\": 3}]", "{}"}) {
    CAPTURE(changes);
    run.write("run.json", std::string("{\"changes\": ") + changes + "}");
    CHECK(changes_of(run.path()).empty());
  }
  run.write("run.json", R"({"changes": [{"step": 7, "option": "train.clip_norm", "after": 2.0}]})");
  CHECK(changes_of(run.path()) == "train.clip_norm 2.0 from step 7");
}

TEST_CASE("a result is read back as it was written") {
  const testing::TemporaryDirectory run;
  CHECK_FALSE(read_result(run.path()).has_value());
  RunResult result{.step = 7, .parameters = 1 << 20, .seconds = 2.5, .peak_memory = 12};
  result.results["valid"] = {
      .values = {{"ppl", 3.25}}, .signature = "s", .output = "eval/valid-7.txt", .text = "hash"};
  write_result(run.path(), result);
  CHECK(read_result(run.path()) == result);
}

TEST_CASE("an invalid result names its file and the remedy") {
  const testing::TemporaryDirectory run;
  run.write("result.json", R"({"step": "seven"})");
  CHECK_THROWS_AS(read_result(run.path()), DataError);
  CHECK_THROWS_WITH(read_result(run.path()), contains("result.json") && contains("delete it"));
}

TEST_CASE("a run has finished when it made its steps, or stopped by its patience") {
  const testing::TemporaryDirectory run;
  write_result(run.path(), {.step = 100});
  CHECK(finished_result(run.path(), {.steps = 100}).has_value());
  CHECK_FALSE(finished_result(run.path(), {.steps = 200}).has_value());
  const auto had_steps = [&](const std::string& steps) {
    run.write("config.json", R"({"train": {"patience": 3, "steps": )" + steps +
                                 R"(}, "eval": [{"name": "valid", "kind": "loss", "every": 10}]})");
    return finished_result(run.path(), {.steps = 200, .patience = 3}).has_value();
  };
  CHECK(had_steps("150"));
  CHECK_FALSE(had_steps("100"));  // it was not stopped early and can be extended
}

TEST_CASE("a run was as read if it was so when it started or when it finished") {
  const testing::TemporaryDirectory run;
  CHECK(as_read(run.path()).empty());
  run.write("run.json", R"({"commit": "a"})");
  run.write("result.json", R"({"step": 1})");
  CHECK(as_read(run.path()).empty());
  run.write("run.json", R"({"as_read": ["norm", "attention"]})");
  CHECK(as_read(run.path()) == "attention, norm");
  run.write("result.json", R"({"step": 1, "as_read": ["softmax", "norm"]})");
  CHECK(as_read(run.path()) == "attention, norm, softmax");
}

TEST_CASE("a torn or foreign line of the metrics is passed over") {
  const testing::TemporaryDirectory run;
  CHECK(read_metrics(run.path()).empty());
  run.write("metrics.jsonl", "{\"kind\": \"train\", \"step\": 1}\nnonsense\n[1]\n{\"kind\": \"tr");
  const auto records = read_metrics(run.path());
  REQUIRE(records.size() == 1);
  CHECK(number_at(records[0], "step") == 1.0);
}

TEST_CASE("an evaluator's result at a step has the finite values of its record") {
  const testing::TemporaryDirectory run;
  run.write("metrics.jsonl",
            R"({"kind": "eval", "name": "test", "step": 10, "bleu": 20, "text": "old"})"
            "\n"
            R"({"kind": "eval", "name": "test", "step": 20, "bleu": 21.5, "ppl": "Infinity",)"
            R"( "eval_seconds": 3, "signature": "sig", "text": "hash"})"
            "\n");
  run.write("eval/test-20.txt", "a\n");
  const auto results = results_at(run.path(), 20);
  REQUIRE(results.size() == 1);
  const EvaluatorResult expected{
      .values = {{"bleu", 21.5}}, .signature = "sig", .output = "eval/test-20.txt", .text = "hash"};
  CHECK(results.at("test") == expected);
}

TEST_CASE("the last record of an evaluator at a step replaces earlier ones") {
  const testing::TemporaryDirectory run;
  run.write(
      "metrics.jsonl",
      R"({"kind": "eval", "name": "test", "step": 10, "bleu": 20, "ppl": 7, "signature": "a"})"
      "\n"
      R"({"kind": "average", "name": "test", "step": 10, "chrf": 50, "ppl": "Infinity"})"
      "\n");
  const EvaluatorResult expected{.values = {{"chrf", 50.0}}};
  CHECK(results_at(run.path(), 10).at("test") == expected);
}

TEST_CASE("a step that training cannot reach is none, nor is a number that is not finite") {
  const auto step = [](const char* record) { return step_of(parse_json(record, "t")); };
  CHECK(step(R"({"step": 4})") == 4);
  for (const char* none : {R"({"step": 0})", R"({"kind": "eval"})", R"({"step": -3})",
                           R"({"step": 18446744073709551615})"}) {
    CHECK(step(none) == 0);
  }
  const Json record = parse_json(R"({"step": 4, "ppl": "Infinity"})", "t");
  CHECK(number_at(record, "step") == 4.0);
  CHECK_FALSE(number_at(record, "ppl").has_value());
  CHECK_FALSE(number_at(record, "bleu").has_value());
}
