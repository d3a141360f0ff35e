#include "app/experiment/experiment.h"

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
template <class Check>
void at_place(const std::string& place, Check check) {
  try {
    check();
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    throw ConfigError(message.starts_with(place + ".") ? message : place + "." + message);
  }
}

template <class Part>
void validate_part(const Part& part, const std::string& place) {
  at_place(place, [&] { part.validate(); });
}

Json read_json(const fs::path& file) {
  return parse_json(read_file(file, kLargestConfig), file.string());
}

// Lays over `config` what "base" names (one file, or several, in their order), then `json`.
void apply_with_base(Json& config, Json json, const std::string& name, const fs::path& folder,
                     int depth) {
  if (!json.is_object()) throw ConfigError(name + ": the config must be an object");
  if (const auto base = json.find("base"); base != json.end()) {
    const Json files = base->is_array() ? *base : Json::array({*base});
    if (depth >= kLongestChain) throw ConfigError(name + ": base: a chain of more than 16 configs");
    for (const Json& file : files) {
      if (!file.is_string()) {
        throw ConfigError(name + ": base: must be the path of a config, or an array of paths");
      }
      const fs::path path = folder / file.get<std::string>();
      apply_with_base(config, read_json(path), path.string(), path.parent_path(), depth + 1);
    }
    json.erase("base");
  }
  apply_patch(config, json);
}

// The options of an evaluator of that kind, with their defaults.
Json options_of(EvaluatorKind kind) {
  EvaluatorConfig config;
  config.choose(kind);
  return write_config(config);
}

// The same of an entry of "eval"; null where its kind can't be read.
Json options_of(const Json& evaluator) {
  if (!evaluator.is_object()) return {};
  EvaluatorConfig config;
  const auto kind = evaluator.find("kind");
  if (kind == evaluator.end() || kind->is_null()) return write_config(config);
  for (const auto& entry : EnumNames<EvaluatorKind>::values) {
    if (*kind == Json(entry.name)) return options_of(entry.value);
  }
  return {};
}

bool any_kind_has(const std::string& option) {
  const auto& kinds = EnumNames<EvaluatorKind>::values;
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const auto& entry) { return options_of(entry.value).contains(option); });
}

// Evaluators search as "search" says unless they say otherwise.
void apply_search(Json& evaluator, const Json& search) {
  const Json options = options_of(evaluator);
  Json whole = Json::object();
  for (const auto& [key, value] : search.items()) {
    if (options.contains(key)) whole[key] = value;
  }
  apply_patch(whole, evaluator);
  evaluator = std::move(whole);
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
    at_place(place, [&] { eval[i].require_task(data.task); });
  }
  const bool scheduled =
      std::any_of(eval.begin(), eval.end(), [](const auto& config) { return config.every > 0; });
  require(train.patience == 0 || scheduled, "train.patience", train.patience,
          "needs an evaluator with a schedule (eval[…].every), which decides what is better");
  const bool shared = model.embedding_sharing() == EmbeddingSharing::all;
  require(!shared || data.task != Task::parsing, "model.embedding_sharing", "all",
          "must be decoder or none for parsing: words and symbols are two vocabularies");
  require(!shared || data.shared_vocabulary, "model.embedding_sharing", "all",
          "needs data.shared_vocabulary");
  require(!model.counts_words() || data.task == Task::parsing, "model.word_positions", "true",
          "needs data.task parsing: it counts the leaves of trees");
  const auto positions = model.max_length();
  require(!positions || data.max_length <= *positions, "model.max_positions", positions.value_or(0),
          "is less than data.max_length: positions would run out");
}

Experiment resolve_experiment(Json json, const std::string& name, const fs::path& folder,
                              const std::vector<std::string>& assignments) {
  return resolve_patches({std::move(json)}, name, folder, assignments);
}

Experiment resolve_patches(const std::vector<Json>& patches, const std::string& name,
                           const fs::path& folder, const std::vector<std::string>& assignments) {
  Json merged = Json::object();
  for (const Json& patch : patches) apply_with_base(merged, patch, name, folder, 0);
  for (const std::string& assignment : assignments) set_path(merged, assignment);
  Experiment experiment;
  try {
    if (merged.contains("search") && !merged["search"].is_null()) {
      read_config(experiment.search, merged["search"], "search");
    }
    if (merged.contains("eval") && merged["eval"].is_array()) {
      for (Json& item : merged["eval"]) {
        if (!item.is_object()) continue;  // the strict read below complains
        apply_search(item, write_config(experiment.search));
      }
    }
    read_config(experiment, merged);
    experiment.validate();
  } catch (const ConfigError& error) {
    throw ConfigError(name + ": " + error.what());
  }
  return experiment;
}

void drop_other_kinds(Json& config) {
  if (!config.is_object() || !config.contains("eval") || !config["eval"].is_array()) return;
  for (Json& evaluator : config["eval"]) {
    const Json options = options_of(evaluator);
    if (options.is_null()) continue;  // the strict read complains
    const Json before = evaluator;
    for (const auto& [key, value] : before.items()) {
      if (!options.contains(key) && any_kind_has(key)) evaluator.erase(key);
    }
  }
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
  Json json = read_json(file);
  if (file.filename().string().ends_with(kConfigFile)) drop_other_kinds(json);
  return resolve_experiment(std::move(json), file.string(), file.parent_path(), assignments);
}

}  // namespace attn
