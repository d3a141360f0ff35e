#include "app/experiment/nearest_option.h"

#include "app/experiment/experiment.h"
#include "tests/support/catch.h"

using namespace attn;
using attn::testing::contains;

namespace {

std::string complaint(const std::string& assignment) {
  try {
    resolve_experiment(Json::object(), "x.json", ".", {assignment});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an option is found by its name in any section and by what other toolkits call it") {
  CHECK(option_path("heads") == "model.heads");
  CHECK(option_path("model.heads") == "model.heads");
  CHECK(option_path("beam") == "search.beam");
  CHECK(option_path("beam-size") == "search.beam");
  CHECK(option_path("lr") == "train.learning_rate");
  CHECK(option_path("optimizer.lr") == "train.learning_rate");
  CHECK(option_path("batch_size") == "data.batch_tokens");
  CHECK(option_path("hidden") == "model.hidden");
  CHECK(option_path("every") == "eval[].every");
  CHECK(option_path("heds").empty());
  CHECK(nearest_option("heds") == "model.heads");
  CHECK(nearest_option("unheard_of_at_all").empty());
}

TEST_CASE("the error for an unknown key suggests an option of any section") {
  CHECK_THAT(complaint("heads=3"), contains("--set heads: unknown key; did you mean model.heads?"));
  const auto flat = [] { resolve_experiment(Json{{"model.heads", 3}}, "x.json", "."); };
  CHECK_THROWS_WITH(flat(), contains("model.heads: unknown key; nest the objects: "
                                     "{\"model\": {\"heads\": …}}"));
  CHECK_THAT(complaint("hads=3"), contains("did you mean model.heads?"));
  CHECK_THAT(complaint("train.lr=3"), contains("did you mean train.learning_rate?"));
  CHECK_THAT(complaint("train.heads=3"), contains("did you mean model.heads?"));
  CHECK_THAT(complaint("optimizer.lr=3"), contains("did you mean train.optimizer?"));
  CHECK_THAT(complaint("model.num_layers=3"), contains("did you mean model.layers?"));
  CHECK_THAT(complaint("model.heds=3"),
             contains("model.heds: unknown key") && contains("did you mean heads?"));
  CHECK_THAT(complaint("trian.steps=3"), contains("did you mean train.steps?"));
  CHECK_THAT(complaint("every=3"), contains("did you mean eval[0].every?"));
  CHECK_THAT(complaint("unheard_of_at_all=3"), contains("one of: about, seed, data"));
}

TEST_CASE("every alias names an existing option") {
  for (const char* name :
       {"warmup_steps", "max_steps", "num_layers", "nheads", "clip", "dropout_rate", "lenpen",
        "save_every", "tie_embeddings", "src", "vocab", "random_seed", "d_inner", "compute_type"}) {
    const std::string option = option_path(name);
    INFO(name);
    CHECK(option != "");
    CHECK(option_path(option) == option);
  }
}
