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

TEST_CASE("an option is found by its name in any section") {
  CHECK(option_path("heads") == "model.heads");
  CHECK(option_path("model.heads") == "model.heads");
  CHECK(option_path("beam") == "search.beam");
  CHECK(option_path("hidden") == "model.hidden");
  CHECK(option_path("heds").empty());
  CHECK(nearest_option("heds") == "model.heads");
  CHECK(nearest_option("unheard_of_at_all").empty());
}

TEST_CASE("the error for an unknown key suggests an option of any section") {
  CHECK_THAT(complaint("heads=3"), contains("--set heads: unknown key; did you mean model.heads?"));
  CHECK_THAT(complaint("hads=3"), contains("did you mean model.heads?"));
  CHECK_THAT(complaint("train.heads=3"), contains("did you mean model.heads?"));
  CHECK_THAT(complaint("model.heds=3"),
             contains("model.heds: unknown key") && contains("did you mean heads?"));
  CHECK_THAT(complaint("trian.steps=3"), contains("did you mean train.steps?"));
  CHECK_THAT(complaint("unheard_of_at_all=3"), contains("one of: about, seed, data"));
}
