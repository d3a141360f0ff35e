#include "app/experiment/config_difference.h"

#include "app/experiment/experiment.h"
#include "tests/support/catch.h"

using namespace attn;

namespace {

Experiment resolve_text(const std::string& text) {
  return resolve_experiment(parse_json(text, "test.json"), "test.json", ".");
}

}  // namespace

TEST_CASE("a missing key is a difference, and arrays of different lengths differ as a whole") {
  const Json a = parse_json(R"({"a": {"b": 1, "c": 2}, "list": [1, {"x": 2}], "same": null})", "a");
  const Json b = parse_json(R"({"a": {"b": 1, "d": 2}, "list": [1, {"x": 3}], "same": null})", "b");
  CHECK(changed_paths(a, a).empty());
  CHECK(changed_paths(a, b) == std::vector<std::string>{"a.c", "a.d", "list[1].x"});
  CHECK(changed_paths(parse_json(R"({"list": [1]})", "a"), parse_json(R"({"list": []})", "b")) ==
        std::vector<std::string>{"list"});
}

TEST_CASE("values by path include arrays and their elements, but not objects") {
  const auto values =
      values_by_path(parse_json(R"({"a": {"b": 1}, "list": ["x", {"y": []}]})", "a"));
  CHECK(values == std::map<std::string, std::string>{{"a.b", "1"},
                                                     {"list", R"(["x",{"y":[]}])"},
                                                     {"list[0]", R"("x")"},
                                                     {"list[1].y", "[]"}});
}

TEST_CASE("the difference of two configs is the list of the paths that differ") {
  const Experiment a = resolve_text(R"({"eval": [{"name": "x", "kind": "bleu"}]})");
  Experiment b = a;
  CHECK(changed_paths(write_config(a), write_config(b)).empty());
  b.model.get<TransformerConfig>().heads = 3;
  std::get<BleuEvaluation>(b.eval[0].options).search.beam = 9;
  CHECK(changed_paths(write_config(a), write_config(b)) ==
        std::vector<std::string>{"model.heads", "eval[0].beam"});
  b.eval.push_back({});
  CHECK(changed_paths(write_config(a), write_config(b)).back() == "eval");
}

TEST_CASE("options that only one of two configs has follow from the tag in which they differ") {
  const Json paper = write_config(resolve_text("{}"));
  const auto peak = [](const char* rate) {
    return write_config(resolve_text(R"({"train": {"schedule": "inverse_sqrt", "learning_rate": )" +
                                     std::string(rate) + "}}"));
  };
  const ConfigSchema& schema = schema_of<Experiment>();
  CHECK(changed_paths(peak("0.005"), paper, schema) == std::vector<std::string>{"train.schedule"});
  CHECK(changed_paths(paper, peak("0.001"), schema) == std::vector<std::string>{"train.schedule"});
  CHECK(changed_paths(paper, peak("0.005"), schema) ==
        std::vector<std::string>{"train.schedule", "train.learning_rate"});
}
