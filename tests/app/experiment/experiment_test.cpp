#include "app/experiment/experiment.h"

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using testing::contains;

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

Experiment resolve(const std::string& text, const std::vector<std::string>& assignments = {}) {
  return resolve_experiment(parse_json(text, "test.json"), "test.json", ".", assignments);
}

}  // namespace

TEST_CASE("an empty config is the paper's base") {
  const Experiment experiment = resolve("{}");
  CHECK(experiment == Experiment{});
  CHECK(experiment.model.get<TransformerConfig>().layers == 6);
  CHECK(experiment.train.warmup == 4000);
  CHECK(experiment.search.beam == 4);
}

TEST_CASE("base, file and assignments apply in this order, each a merge patch") {
  const testing::TemporaryDirectory folder;
  write(folder / "far/base.json", R"({"seed": 5, "model": {"heads": 4, "d_k": 32}})");
  write(folder / "row.json", R"({"base": "far/base.json", "model": {"heads": 2}})");
  const Experiment row = load_experiment(folder / "row.json", {"model.d_v=16"});
  CHECK(row.seed == 5);
  CHECK(row.model.get<TransformerConfig>().heads == 2);
  CHECK(row.model.get<TransformerConfig>().d_k == 32);
  CHECK(row.model.get<TransformerConfig>().d_v == 16);
  write(folder / "loop.json", R"({"base": "loop.json"})");
  CHECK_THROWS_WITH(load_experiment(folder / "loop.json"), contains("more than 16"));
  write(folder / "gone.json", R"({"base": "nowhere.json"})");
  CHECK_THROWS_WITH(load_experiment(folder / "gone.json"), contains("nowhere.json"));
}

TEST_CASE("an object that is set is a patch: what it leaves out keeps its value") {
  const std::string tiny = R"({"model": {"layers": 1, "d_model": 32, "heads": 2}})";
  const Experiment experiment = resolve(tiny, {R"(model={"heads": 4})"});
  CHECK(experiment.model.get<TransformerConfig>().heads == 4);
  CHECK(experiment.model.get<TransformerConfig>().layers == 1);
  CHECK(experiment.model.get<TransformerConfig>().d_model == 32);
  CHECK_THROWS_WITH(resolve(tiny, {R"(model={"heads": 4, "heads": 8})"}), contains("stands twice"));
}

TEST_CASE("null is an option's default, whatever the base has, and its name is checked") {
  const testing::TemporaryDirectory folder;
  write(folder / "base.json", R"({"train": {"clip_norm": 1.0}, "search": {"beam": 9},
                                  "model": {"heads": 4}, "eval": [{"name": "a"}]})");
  write(folder / "patch.json", R"({"base": "empty.json", "train": {"clip_norm": null}})");
  write(folder / "empty.json", "{}");
  const auto from = [&](const std::string& text, const std::vector<std::string>& set = {}) {
    return resolve_experiment(parse_json(text, "t"), "t", folder.path(), set);
  };
  const std::string base = R"({"base": "base.json")";
  CHECK(from(base + R"(, "train": {"clip_norm": null}})").train.clip_norm == 0.0);
  CHECK(from(base + "}", {"train.clip_norm=null"}).train.clip_norm == 0.0);
  CHECK(from(base + "}", {R"(train={"clip_norm": null})"}).train.clip_norm == 0.0);
  CHECK(from(R"({"base": ["base.json", "patch.json"]})").train.clip_norm == 0.0);
  CHECK(from(base + R"(, "model": null})").model == ModelConfig{});
  CHECK(from(base + R"(, "search": null})").eval[0].search == SearchConfig{});
  CHECK(from(base + R"(, "eval": [{"name": "a", "beam": null}]})").eval[0].search.beam ==
        SearchConfig{}.beam);
  CHECK_THROWS_WITH(from(base + R"(, "train": {"clip_nrom": null}})"),
                    contains("train.clip_nrom: unknown key") && contains("clip_norm"));
  CHECK_THROWS_WITH(from(base + "}", {"train.clip_nrom=null"}), contains("clip_norm"));
}

TEST_CASE("what is written is read back as the same experiment") {
  const Experiment before =
      resolve(R"({"search": {"beam": 7}, "eval": [{"name": "a"}, {"name": "b", "beam": 2}]})");
  CHECK(before.eval[0].search.beam == 7);  // evaluators search as the experiment does
  CHECK(before.eval[1].search.beam == 2);  // unless they say otherwise
  Json written = write_experiment(before);
  CHECK(resolve_experiment(written, "again", ".") == before);
  // A resolved config still listens to its "search".
  const Experiment changed = resolve_experiment(written, "again", ".", {"search.beam=9"});
  CHECK(changed.eval[0].search.beam == 9);
  CHECK(changed.eval[1].search.beam == 2);
}

TEST_CASE("mistakes name the file and the whole path") {
  CHECK_THROWS_WITH(resolve(R"({"model": {"layrs": 2}})"),
                    contains("test.json: model.layrs") && contains("layers"));
  CHECK_THROWS_WITH(resolve(R"({"train": {"warmup": -1}})"), contains("train.warmup: -1"));
  CHECK_THROWS_WITH(resolve(R"({"eval": [{"name": "a/b"}]})"), contains("eval[0].name"));
  CHECK_THROWS_WITH(resolve(R"({"eval": [{"name": "a"}, {"name": "a"}]})"), contains("twice"));
  CHECK_THROWS_WITH(resolve(R"({"data": {"shared_vocabulary": false}})"),
                    contains("embedding_sharing"));
  CHECK_THROWS_WITH(resolve(R"({"model": {"position": "learned", "max_positions": 10}})"),
                    contains("max_positions"));
  CHECK_THROWS_WITH(resolve(R"({"model": {"word_positions": true}})"),
                    contains("model.word_positions") && contains("data.task"));
  CHECK_THROWS_WITH(resolve(R"({"model": {"word_positions": true, "position": "none"}})"),
                    contains("word_positions") && contains("model.position"));
  CHECK_THROWS_WITH(resolve("{}", {"model.hedas=3"}), contains("heads"));
  CHECK_THROWS_WITH(resolve("{}", {"model=3"}), contains("model: 3"));
}
