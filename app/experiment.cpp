#include "app/experiment.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLargestConfig = 1 << 24;
constexpr int kLongestChain = 16;

// The knob's place in front of what a part's validate() says.
template <class Part>
void validate_part(const Part& part, const std::string& place) {
  try {
    part.validate();
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    throw ConfigError(message.starts_with(place + ".") ? message : place + "." + message);
  }
}

Json read_json(const fs::path& file) {
  return parse_json(read_file(file, kLargestConfig), file.string());
}

Json with_base(Json json, const std::string& name, const fs::path& folder, int depth);

Json read_with_base(const fs::path& file, int depth) {
  return with_base(read_json(file), file.string(), file.parent_path(), depth);
}

// Applies what "base" names below `json`: one file, or several, each a patch on those before it.
Json with_base(Json json, const std::string& name, const fs::path& folder, int depth) {
  if (!json.is_object()) throw ConfigError(name + ": the config must be an object");
  const auto base = json.find("base");
  if (base == json.end()) return json;
  const Json files = base->is_array() ? *base : Json::array({*base});
  if (depth >= kLongestChain) throw ConfigError(name + ": base: a chain of more than 16 configs");
  Json below = Json::object();
  for (const Json& file : files) {
    if (!file.is_string()) {
      throw ConfigError(name + ": base: must be the path of a config, or an array of paths");
    }
    below.merge_patch(read_with_base(folder / file.get<std::string>(), depth + 1));
  }
  json.erase("base");
  below.merge_patch(json);
  return below;
}

}  // namespace

void Experiment::validate() const {
  require(seed >= 0, "seed", seed, "must be 0 or more");
  validate_part(data, "data");
  validate_part(model, "model");
  validate_part(train, "train");
  validate_part(search, "search");
  std::set<std::string> names;
  for (size_t i = 0; i < eval.size(); ++i) {
    const std::string place = "eval[" + std::to_string(i) + "]";
    validate_part(eval[i], place);
    require(names.insert(eval[i].name).second, place + ".name", "\"" + eval[i].name + "\"",
            "stands twice");
    const EvaluatorKind other =
        data.task == Task::parsing ? EvaluatorKind::bleu : EvaluatorKind::parse;
    require(eval[i].kind != other, place + ".kind", enum_name(eval[i].kind),
            data.task == Task::parsing ? "is for translation; choose parse or loss"
                                       : "needs data.task parsing; choose bleu or loss");
  }
  const bool scheduled =
      std::any_of(eval.begin(), eval.end(), [](const auto& config) { return config.every > 0; });
  require(train.patience == 0 || scheduled, "train.patience", train.patience,
          "needs an evaluator with a schedule (eval[…].every), which decides what is better");
  const bool shared = model.embedding_sharing() == EmbeddingSharing::all;
  require(!shared || data.task != Task::parsing,
          "model.embedding_sharing", "all",
          "must be decoder or none for parsing: words and symbols are two vocabularies");
  require(!shared || data.shared_vocabulary,
          "model.embedding_sharing", "all", "needs data.shared_vocabulary");
  require(!model.counts_words() || data.task == Task::parsing, "model.word_positions", "true",
          "needs data.task parsing: it counts the leaves of trees");
  const auto positions = model.max_length();
  require(!positions || data.max_length <= *positions, "model.max_positions", positions.value_or(0),
          "is less than data.max_length: positions would run out");
}

Experiment resolve_experiment(Json json, const std::string& name, const fs::path& folder,
                              const std::vector<std::string>& assignments) {
  Json merged = with_base(std::move(json), name, folder, 0);
  for (const std::string& assignment : assignments) set_path(merged, assignment);
  Experiment experiment;
  try {
    // Evaluators search as "search" says unless they say otherwise.
    if (merged.contains("search")) read_config(experiment.search, merged["search"], "search");
    if (merged.contains("eval") && merged["eval"].is_array()) {
      for (Json& item : merged["eval"]) {
        if (!item.is_object()) continue;  // the strict read below complains
        Json whole = write_config(experiment.search);
        whole.merge_patch(item);
        item = std::move(whole);
      }
    }
    read_config(experiment, merged);
    experiment.validate();
  } catch (const ConfigError& error) {
    throw ConfigError(name + ": " + error.what());
  }
  return experiment;
}

Json write_experiment(const Experiment& experiment) {
  Json json = write_config(experiment);
  const Json search = write_config(experiment.search);
  for (Json& item : json["eval"]) {
    for (const auto& [key, value] : search.items()) {
      if (item.contains(key) && item[key] == value) item.erase(key);
    }
  }
  return json;
}

Experiment load_experiment(const fs::path& file, const std::vector<std::string>& assignments) {
  return resolve_experiment(read_json(file), file.string(), file.parent_path(), assignments);
}

}  // namespace attn
