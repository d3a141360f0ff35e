#include "app/experiment/experiment.h"

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using testing::contains;

namespace {

Experiment resolve(const std::string& text, const std::vector<std::string>& assignments = {}) {
  return resolve_experiment({parse_json(text, "test.json")}, "test.json", ".",
                            {assignments.begin(), assignments.end()});
}

}  // namespace

TEST_CASE("an empty config is the paper's base") {
  CHECK(resolve("{}") == Experiment{});
  CHECK(resolve("{}").model.get<TransformerConfig>().layers == 6);
}

TEST_CASE("about is not inherited from a base") {
  const testing::TemporaryDirectory folder;
  folder.write("a.json", R"({"about": "of a", "seed": 7})");
  folder.write("b.json", R"({"base": "a.json"})");
  CHECK(load_experiment(folder / "a.json").about == "of a");
  CHECK(load_experiment(folder / "b.json").about.empty());
  CHECK(load_experiment(folder / "b.json").seed == 7);
  CHECK(load_experiment(folder / "b.json", {Assignment("about=of b")}).about == "of b");
}

TEST_CASE("base, file and assignments apply in this order, each a merge patch") {
  const testing::TemporaryDirectory folder;
  folder.write("far/base.json", R"({"seed": 5, "model": {"heads": 4, "d_k": 32}})");
  folder.write("row.json", R"({"base": "far/base.json", "model": {"heads": 2}})");
  const Experiment row = load_experiment(folder / "row.json", {Assignment("model.d_v=16")});
  CHECK(row.seed == 5);
  CHECK(row.model.get<TransformerConfig>().heads == 2);
  CHECK(row.model.get<TransformerConfig>().d_k == 32);
  CHECK(row.model.get<TransformerConfig>().d_v == 16);
  folder.write("loop.json", R"({"base": "loop.json"})");
  CHECK_THROWS_WITH(load_experiment(folder / "loop.json"), contains("more than 16"));
  folder.write("gone.json", R"({"base": "nowhere.json"})");
  CHECK_THROWS_WITH(load_experiment(folder / "gone.json"), contains("nowhere.json"));
}

TEST_CASE("d_k and d_v follow d_model and heads unless they are numbers") {
  const std::string tiny = R"({"model": {"d_model": 128, "heads": 4}})";
  const auto widths = [&](const std::vector<std::string>& assignments) {
    const Experiment experiment = resolve(tiny, assignments);
    const Json written = write_config(experiment);
    CHECK(read_resolved(written, "config.json") == experiment);
    const auto& model = experiment.model.get<TransformerConfig>();
    return std::pair(model.key_width(), model.value_width());
  };
  CHECK(widths({}) == std::pair<int64_t, int64_t>(32, 32));
  CHECK(widths({"model.heads=16"}) == std::pair<int64_t, int64_t>(8, 8));
  CHECK(widths({"model.d_model=256"}) == std::pair<int64_t, int64_t>(64, 64));
  CHECK(widths({"model.d_k=8", "model.heads=2"}) == std::pair<int64_t, int64_t>(8, 64));
  CHECK(widths({"model.d_k=8", "model.d_k=auto"}) == std::pair<int64_t, int64_t>(32, 32));
  CHECK(widths({"model.d_v=8", "model.d_v=null"}) == std::pair<int64_t, int64_t>(32, 32));
  const Json written = write_config(resolve(tiny));  // still derived when a run is loaded
  CHECK(written["model"]["d_k"] == "auto");
  const Experiment two = read_resolved(written, "config.json", {Assignment("model.heads=2")});
  CHECK(two.model.get<TransformerConfig>().key_width() == 64);
  CHECK(write_resolved(two)["model"]["d_k"] == 64);
  CHECK_THROWS_WITH(resolve(tiny, {"model.heads=3"}),
                    "--set model.heads: 3: must divide model.d_model, 128, unless model.d_k and "
                    "model.d_v are numbers");
  CHECK_THROWS_WITH(resolve(tiny, {"model.heads=0"}), contains("model.heads: 0: must be from 1"));
  CHECK_THROWS_WITH(resolve(tiny, {"model.d_v=atuo"}), contains("model.d_v") && contains("auto"));
}

TEST_CASE("null is an option's default, whatever the base has, and its name is checked") {
  const testing::TemporaryDirectory folder;
  folder.write("base.json", R"({"train": {"clip_norm": 1.0}, "search": {"beam": 9},
                                  "model": {"heads": 4},
                                  "eval": [{"name": "a", "kind": "bleu"}]})");
  folder.write("patch.json", R"({"base": "empty.json", "train": {"clip_norm": null}})");
  folder.write("empty.json", "{}");
  const auto from = [&](const std::string& text, const std::vector<std::string>& set = {}) {
    return resolve_experiment({parse_json(text, "t")}, "t", folder.path(),
                              {set.begin(), set.end()});
  };
  const std::string base = R"({"base": "base.json")";
  CHECK(from(base + R"(, "train": {"clip_norm": null}})").train.clip_norm == 0.0);
  CHECK(from(base + "}", {"train.clip_norm=null"}).train.clip_norm == 0.0);
  CHECK(from(base + "}", {R"(train={"clip_norm": null})"}).train.clip_norm == 0.0);
  CHECK(from(R"({"base": ["base.json", "patch.json"]})").train.clip_norm == 0.0);
  CHECK(from(base + R"(, "model": null})").model == ModelConfig{});
  const auto search = [](const Experiment& experiment) {
    return experiment.eval[0].search_over(experiment.search);
  };
  CHECK(search(from(base + R"(, "search": null})")) == SearchConfig{});
  const std::string evaluator = R"(, "eval": [{"kind": "bleu", "search": {"beam": null}}]})";
  CHECK(search(from(base + evaluator)).beam == SearchConfig{}.beam);
  CHECK(search(from(base + R"(, "eval": [{"kind": "bleu", "search": null}]})")).beam == 9);
  CHECK(from(base + R"(, "eval": [{"name": "a", "kind": null}]})").eval[0].kind() ==
        EvaluatorKind::loss);
  CHECK_THROWS_WITH(from(base + R"(, "train": {"clip_nrom": null}})"),
                    contains("train.clip_nrom: unknown key") && contains("clip_norm"));
  CHECK_THROWS_WITH(from(base + "}", {"train.clip_nrom=null"}), contains("clip_norm"));
}

TEST_CASE("a written experiment is read back equal") {
  const Experiment before =
      resolve(R"({"search": {"beam": 7}, "eval": [{"name": "a", "kind": "bleu"},
                  {"name": "b", "kind": "bleu", "search": {"beam": 2}}, {"name": "c"}]})");
  const auto beam = [](const Experiment& experiment, size_t i) {
    return experiment.eval[i].search_over(experiment.search).beam;
  };
  CHECK(beam(before, 0) == 7);  // evaluators search as the experiment does
  CHECK(beam(before, 1) == 2);  // unless they say otherwise
  Json written = write_config(before);
  CHECK(resolve_experiment({written}, "again", ".") == before);
  // Evaluators of a resolved config still inherit from "search".
  const Experiment changed =
      resolve_experiment({written}, "again", ".", {Assignment("search.beam=9")});
  CHECK(beam(changed, 0) == 9);
  CHECK(beam(changed, 1) == 2);
  CHECK(written["eval"][1]["search"] == Json{{"beam", 2}});  // as given
  CHECK(write_resolved(changed)["eval"][1]["search"].size() == write_config(SearchConfig{}).size());
  const Experiment one =
      resolve_experiment({written}, "again", ".", {Assignment("eval.1.search.alpha=1")});
  CHECK(one.eval[1].search == parse_json(R"({"beam": 2, "alpha": 1})", "t"));
}

TEST_CASE("errors name the file, the full path and the remedy") {
  const std::string silver = R"({"data": {"task": "parsing", "shared_vocabulary": false},
      "model": {"embedding_sharing": "decoder"}, "search": {"known_tags": 2}})";
  const std::string words = R"({"model": {"deterministic_attention": true,
      "embedding_sharing": "decoder"},
      "data": {"task": "parsing", "tokenizer": "bpe", "shared_vocabulary": false}})";
  struct Mistake {
    std::string config, message;
    std::vector<std::string> set;
  };
  const std::vector<Mistake> mistakes = {
      {R"({"model": {"layrs": 2}})",
       "test.json: model.layrs: unknown key (architecture transformer); did you mean layers?"},
      {R"({"train": {"warmup": -1}})", "train.warmup: -1"},
      {R"({"eval": [{"name": "a/b"}]})", "eval[0].name"},
      {R"({"eval": [{"name": "a"}, {"name": "a"}]})", "duplicate name"},
      {R"({"data": {"shared_vocabulary": false}})", "embedding_sharing"},
      {R"({"model": {"position": "learned", "max_positions": 10}})", "max_positions"},
      {R"({"model": {"architecture": "bytenet"},
           "train": {"precision": "bf16", "residual_precision": "bf16"}})",
       "train.residual_precision: bf16: requires model.architecture=transformer"},
      {R"({"model": {"architecture": "convolutional"}, "train": {"optimizer": "muon"}})",
       "train.optimizer: muon: cannot be combined with model.architecture=convolutional"},
      {R"({"model": {"word_positions": true}})", "model.word_positions: "},
      {R"({"model": {"word_positions": true, "position": "none"}})", "model.position"},
      {R"({"model": {"deterministic_attention": true}})", "data.task"},
      {words, "data.tokenizer=words"},
      {"{}", "model: expected an object, got 3", {"model=3"}},
      // Options that an evaluator's kind, the schedule, the tokenizer or the task does not have.
      {R"({"eval": [{"kind": "bleu", "beam": 5}]})",
       "test.json: eval[0].beam: unknown key (kind bleu); did you mean search.beam?"},
      {R"({"eval": [{"kind": "loss", "search": {"beam": 5}}]})",
       "eval[0].search: requires kind ter, chrf, bleu, parse"},
      {R"({"eval": [{"kind": "bleu", "search": {"baem": 5}}]})",
       "test.json: eval[0].search.baem: unknown key; did you mean beam?"},
      {R"({"eval": [{"kind": "bleu", "search": {"beam": 0}}]})", "eval[0].search.beam: 0: must be"},
      {R"({"eval": [{"kind": "bleu", "search": 5}]})", "eval[0].search: expected an object, got 5"},
      {R"({"eval": [{"kind": "bleu", "search": {"beam": 5, "known_tags": 1}}]})",
       "eval[0].search.known_tags: 1: requires data.task=parsing"},
      {R"({"eval": [{"kind": "bleu", "search": {"beam": 1}}]})",
       "eval[0].search.nbest: 2: must be at most beam",
       {"search.nbest=2"}},
      {R"({"eval": [{"kind": "bleu"}]})",
       "--set eval[0].search.baem: unknown key; did you mean beam?",
       {"eval.0.search.baem=5"}},
      {"{}", "--set eval: \"0\" is not an index of an array of 0", {"eval.0.every=5"}},
      {R"({"eval": [{"lowercase": true}]})", "eval[0].lowercase: requires kind chrf, bleu"},
      {R"({"eval": [{"kind": "bleu", "params": "a.prm"}]})", "eval[0].params: requires kind parse"},
      {R"({"eval": [{"kind": "parse"}]})",
       "eval[0].kind: parse: requires data.task=parsing; use loss"},
      {R"({"train": {"learning_rate": 0.1}})",
       "train.learning_rate: requires schedule inverse_sqrt, constant, cosine, wsd"},
      {R"({"data": {"min_frequency": 1}})", "data.min_frequency: requires tokenizer words"},
      {"{}", "encoder_layers: requires architecture recurrent", {"model.encoder_layers=1"}},
      {R"({"data": {"tokenizer": "words", "normalization": "nfkc"}})",
       "requires tokenizer bpe, unigram"},
      {R"({"data": {"silver_ratio": 2}})", "requires task parsing"},
      {R"({"data": {"task": "parsing", "source": "en"}})",
       "data.source: requires task translation"},
      {R"({"search": {"known_tags": 2}})", "search.known_tags: 2: requires data.task=parsing"},
      {R"({"search": {"constrained": false}})", "constrained: false: requires data.task=parsing"},
      {silver,
       "data.silver_ratio: 2: requires data.silver",
       {"search.known_tags=0", "data.silver_ratio=2"}},
      {silver, "known_tags: 2: requires a data.tree_form with tags", {"data.tree_form=xx"}},
      {"{}", "requires architecture recurrent", {"model.attention=dot"}},
      // The option of that name in another section.
      {"{}", "did you mean model.heads?", {"train.heads=3"}},
      {"{}",
       "model.heds: unknown key (architecture transformer); did you mean heads?",
       {"model.heds=3"}},
      {"{}", "did you mean train", {"trian.steps=3"}},
      {"{}", "one of: about, seed, data", {"unheard_of_at_all=3"}},
  };
  for (const Mistake& mistake : mistakes) {
    CHECK_THROWS_WITH(resolve(mistake.config, mistake.set), contains(mistake.message));
  }
  CHECK_NOTHROW(
      resolve(R"({"model": {"architecture": "recurrent"}, "train": {"optimizer": "muon"}})"));
  CHECK_NOTHROW(resolve(silver, {"search.constrained=false"}));  // of constrained evaluators
}

TEST_CASE("a patch that changes the schedule removes the former one's options") {
  const std::string peak = R"({"train": {"schedule": "inverse_sqrt", "learning_rate": 0.005}})";
  const Experiment paper = resolve(peak, {"train.schedule=paper"});
  CHECK(paper == resolve("{}"));
  CHECK_FALSE(write_config(paper)["train"].contains("learning_rate"));
  CHECK(resolve(peak, {"train.schedule=constant"}).train.learning_rate == 0.005);
  CHECK_THROWS_WITH(resolve(peak, {"train.schedule=paper", "train.learning_rate=0.1"}),
                    contains("requires schedule inverse_sqrt"));
}

TEST_CASE("an error in an assigned option names --set, any other error the config") {
  CHECK_THROWS_WITH(resolve("{}", {"model.heads=4", "model.dropout=3"}),
                    Catch::Matchers::StartsWith("--set model.dropout: 3: "));
  CHECK_THROWS_WITH(resolve(R"({"model": {"dropout": 3}})", {"model.heads=4"}),
                    !contains("--set") && contains(": model.dropout: 3: "));
  CHECK_THROWS_WITH(
      resolve("{}", {"model.heads=4", "heads=3"}),
      Catch::Matchers::StartsWith("--set heads: unknown key; did you mean model.heads"));
  CHECK_THROWS_WITH(resolve(R"({"heads": 3})", {"model.heads=4"}),
                    !contains("--set") && contains(": heads: unknown key"));
  const std::string config = R"({"eval": [{"name": "valid", "kind": "loss"}]})";
  for (const char* path : {"eval[0].evry", "eval.0.evry"}) {
    CHECK_THROWS_WITH(resolve(config, {std::string(path) + "=3"}),
                      Catch::Matchers::StartsWith("--set eval[0].evry: unknown key") &&
                          contains("did you mean every?"));
  }
  CHECK(resolve(config, {"eval[0].every=7"}).eval[0].every == 7);
  CHECK_THROWS_WITH(resolve("{}", {"model=null", "model.heads=4"}),
                    Catch::Matchers::StartsWith("--set model.heads=4: model: null: resets"));
}

TEST_CASE("the order of assignments of a tag and of its options does not matter") {
  const std::string object = R"(model={"architecture": "recurrent"})";
  const Experiment recurrent = resolve("{}", {object, "model.dropout=0.5"});
  CHECK(recurrent.model.get<RecurrentConfig>().dropout == 0.5);
  CHECK(resolve("{}", {"model.dropout=0.5", object}) == recurrent);
  CHECK(resolve("{}", {"model.dropout=0.5", "model.architecture=recurrent"}) == recurrent);
  CHECK_THROWS_WITH(resolve("{}", {"model.layers=2", "model.architecture=recurrent"}),
                    contains("--set model.layers: requires architecture transformer"));
}
