#include "app/experiment/resume.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "app/experiment/run_result.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;

namespace {

using Paths = std::vector<std::string>;

Experiment with_options(const std::vector<std::string>& assignments = {}) {
  return resolve_experiment({parse_json(R"({"eval": [{"name": "v", "kind": "bleu"}]})", "t")}, "t",
                            ".", {assignments.begin(), assignments.end()});
}

Experiment resolve_text(const std::string& text) {
  return resolve_experiment({parse_json(text, "test.json")}, "test.json", ".");
}

}  // namespace

TEST_CASE("what changes an update stops a resumed run, its length or another runtime does not") {
  const Experiment before = with_options();
  CHECK(resume_conflicts(before, before).empty());
  CHECK(resume_conflicts(
            before, with_options({"model.layers=2", "train.steps=7", "data.batch_tokens=9"})) ==
        Paths{"data.batch_tokens", "model.layers"});
  CHECK(resume_conflicts(before, with_options({"train.patience=3", "search.beam=2"})).empty());
  CHECK(resume_conflicts(before, with_options({"train.log_every=3", "about=x"})).empty());
  const Experiment elsewhere = with_options({"runtime.kernels=off", "runtime.timeout=90"});
  CHECK(resume_conflicts(before, elsewhere).empty());
  CHECK(result_conflicts(before, elsewhere).empty());
}

TEST_CASE("changes are listed with both values; only options of an update can change") {
  const Experiment before = with_options();
  const Experiment now =
      with_options({"train.clip_norm=2", "data.batch_tokens=9", "search.beam=2"});
  CHECK(changes_at(7, before, now) ==
        parse_json(R"([{"step": 7, "option": "data.batch_tokens", "before": 4096, "after": 9},
                       {"step": 7, "option": "train.clip_norm", "before": 0.0, "after": 2.0}])",
                   "t"));
  const Assignment clip("train.clip_norm=2"), seed("train.seed=2");
  require_changeable(std::span(&clip, 1));
  CHECK_THROWS_WITH(require_changeable(std::span(&seed, 1)),
                    Catch::Matchers::StartsWith("--change train.seed=2"));
}

TEST_CASE("a finished run's results mean its length and its evaluators, too") {
  const Experiment before = with_options();
  CHECK(result_conflicts(before, with_options({"train.steps=7", "train.log_every=3"})) ==
        Paths{"train.steps"});
  CHECK(result_conflicts(before, with_options({"search.beam=2"})) ==
        Paths{"search.beam", "eval[0].search.beam"});
}

TEST_CASE("how often checkpoints are written is part of a result that averages them") {
  const std::string every = "train.checkpoint_every";
  const Experiment last = with_options(), averaged = with_options({"train.average_last=3"});
  CHECK(result_conflicts(last, with_options({every + "=7"})).empty());
  CHECK(result_conflicts(averaged, with_options({"train.average_last=3", every + "=7"})) ==
        Paths{every});
  CHECK(resume_conflicts(averaged, with_options({"train.average_last=3", every + "=7"})).empty());
}

TEST_CASE("configs that only evaluate differently train the same weights") {
  const Experiment base = with_options();
  for (const char* same :
       {"search.beam=2", "train.average_last=3", "train.ema=0.99", "train.log_every=3"}) {
    CAPTURE(same);
    CHECK(training_text(with_options({same})) == training_text(base));
  }
  for (const char* other : {"train.steps=7", "model.layers=2", "train.patience=3", "seed=2"}) {
    CAPTURE(other);
    CHECK(training_text(with_options({other})) != training_text(base));
  }
  // Evaluation decides how long a run with early stopping is.
  CHECK(training_text(with_options({"train.patience=3", "search.beam=2"})) !=
        training_text(with_options({"train.patience=3"})));
}

TEST_CASE("a row may leave open the seed and the vocabulary that its run has") {
  const testing::TemporaryDirectory run;
  const auto trained = with_options({"seed=4", "data.source_model=s.model"});
  std::ofstream(run / kConfigFile) << write_config(trained).dump();
  CHECK(row_conflicts(run.path(), with_options()).empty());
  CHECK(row_conflicts(run.path(), with_options({"data.source_model=other.model"})) ==
        Paths{"data.source_model"});
  CHECK(row_conflicts(run.path(), with_options({"train.steps=9"})).empty());
  write_result(run.path(), {.step = 100'000'000});
  CHECK(row_conflicts(run.path(), with_options({"train.steps=9"})) == Paths{"train.steps"});
}

TEST_CASE("arrays of different lengths differ as a whole, elements by their paths") {
  const auto changed = [](const char* before, const char* after) {
    return changed_paths(resolve_text(before), resolve_text(after));
  };
  const char* one = R"({"eval": [{"name": "a", "kind": "bleu"}]})";
  CHECK(changed(one, one).empty());
  CHECK(changed(one, "{}") == Paths{"eval"});
  CHECK(changed(one, R"({"eval": [{"name": "a", "kind": "bleu", "every": 7}]})") ==
        Paths{"eval[0].every"});
}

TEST_CASE("what is derived differs if its value does") {
  const Experiment before = with_options();
  CHECK(changed_paths(before, with_options({"model.d_k=64", "model.d_v=64"})).empty());
  CHECK(changed_paths(before, with_options({"model.heads=4"})) ==
        Paths{"model.heads", "model.d_k", "model.d_v"});
  CHECK(changed_paths(before, with_options({"eval.0.search.beam=4"})).empty());
  CHECK(changed_paths(before, with_options({"eval.0.search.beam=2"})) ==
        Paths{"eval[0].search.beam"});
}

TEST_CASE("derived values that only one of two configs has differ unless they are defaults") {
  const auto recurrent = with_options({"model.architecture=recurrent", "eval.0.kind=loss"});
  const auto lists = [&](const std::vector<std::string>& options, const std::string& path) {
    return std::ranges::count(changed_paths(recurrent, with_options(options)), path) > 0;
  };
  CHECK_FALSE(lists({"model.heads=4"}, "model.d_k"));
  CHECK(lists({"model.d_k=32"}, "model.d_k"));
  CHECK_FALSE(lists({"search.beam=2"}, "eval[0].search"));
  CHECK(lists({"eval.0.search.beam=2"}, "eval[0].search"));
}

TEST_CASE("values by path include arrays and their elements, but not objects") {
  const auto values =
      values_by_path(parse_json(R"({"a": {"b": 1}, "list": ["x", {"y": []}]})", "a"));
  CHECK(values == std::map<std::string, std::string>{{"a.b", "1"},
                                                     {"list", R"(["x",{"y":[]}])"},
                                                     {"list[0]", R"("x")"},
                                                     {"list[1].y", "[]"}});
}

TEST_CASE("options that only one of two configs has follow from the tag in which they differ") {
  const Experiment paper = resolve_text("{}");
  const auto peak = [](const char* rate) {
    return resolve_text(R"({"train": {"schedule": "inverse_sqrt", "learning_rate": )" +
                        std::string(rate) + "}}");
  };
  CHECK(changed_paths(peak("0.005"), paper) == Paths{"train.schedule"});
  CHECK(changed_paths(paper, peak("0.001")) == Paths{"train.schedule"});
  CHECK(changed_paths(paper, peak("0.005")) == Paths{"train.schedule", "train.learning_rate"});
}
