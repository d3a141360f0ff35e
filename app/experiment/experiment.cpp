#include "app/experiment/experiment.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/format.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxChain = 16;

// Prefixes the errors of a section's validate() with the section's path.
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
  return parse_json(read_file(file, kMaxConfigBytes), file.string());
}

// Merges the files of "base" into `config`, in order, then `json`.
void apply_with_base(Json& config, Json json, const std::string& name, const fs::path& folder,
                     int depth) {
  if (!json.is_object()) throw ConfigError(name + ": the config must be an object");
  if (const auto base = json.find("base"); base != json.end()) {
    const Json files = base->is_array() ? *base : Json::array({*base});
    if (depth >= kMaxChain)
      throw ConfigError(name + ": base: chain of more than 16 configs; is it a cycle?");
    for (const Json& file : files) {
      if (!file.is_string()) {
        throw ConfigError(name + ": base: expected the path of a config, or an array of paths");
      }
      const fs::path path = folder / file.get<std::string>();
      if (!fs::exists(path)) {
        throw ConfigError(name + ": base: '" + path.string() + "': no such file");
      }
      apply_with_base(config, read_json(path), path.string(), path.parent_path(), depth + 1);
    }
    json.erase("base");
  }
  // Not inherited: the command and the result describe the file that has them.
  if (depth > 0 && json.contains("about") && json["about"].is_string()) json.erase("about");
  apply_patch(config, json, schema_of<Experiment>());
}

void apply_assignments(Json& config, const std::vector<Assignment>& assignments) {
  for (const Assignment& assignment : assignments) {
    // An assignment to a tag replaces its object, and would silently undo earlier ones to it.
    const std::string section = assigned_section(assignment);
    for (auto earlier = assignments.data(); !section.empty() && earlier < &assignment; ++earlier) {
      if (!is_within(earlier->path, section)) continue;
      throw ConfigError("--set " + assignment.text + ": replaces " + section +
                        "; put it before --set " + earlier->text);
    }
    set_path(config, assignment, schema_of<Experiment>());
  }
}

// Evaluators inherit the options of "search".
void fill_in_search(Json& eval, const SearchConfig& search) {
  for (Json& item : eval) {
    if (!item.is_object()) continue;  // an error in the strict read
    const Json kind = item.value("kind", Json());
    EvaluatorConfig chosen;
    if (kind.is_string()) {
      chosen.set_kind(enum_named<EvaluatorKind>(kind.get<std::string>()).value_or(chosen.kind()));
    }
    if (chosen.search() == nullptr) continue;
    Json whole = write_config(search);
    apply_patch(whole, item);
    item = std::move(whole);
  }
}

// The place of an error in an option: the assignment that set it, else the config.
std::string place_of(const std::string& message, const std::string& name,
                     const std::vector<Assignment>& assignments) {
  const std::string path = message.substr(0, message.find(':'));
  const bool assigned = std::ranges::any_of(
      assignments, [&](const Assignment& one) { return is_within(path, one.path); });
  return assigned ? "--set " : name + ": ";
}

// Gives a Transformer's d_k and d_v their default, "auto": d_model / heads. Only after all patches
// have been merged, so that one that changes heads alone changes them, too.
void resolve_head_widths(Json& config) {
  const auto found = config.is_object() ? config.find("model") : config.end();
  if (found == config.end() || !found->is_object()) return;
  Json& model = *found;
  const Json architecture = model.value("architecture", Json());
  if (!architecture.is_null() && architecture != Json(enum_name(Architecture::transformer))) return;
  TransformerConfig sizes;
  for (const char* key : {"d_model", "heads"}) {
    read_config(sizes, Json{{key, model.value(key, Json())}}, "model");
  }
  for (const std::string key : {"d_k", "d_v"}) {
    const Json width = model.value(key, Json());
    if (width.is_number()) continue;
    require(width.is_null() || width == Json("auto"), "model." + key, width.dump(),
            "must be an integer or \"auto\" (d_model / heads)");
    const int64_t heads = std::max<int64_t>(sizes.heads, 1);  // validate() reports those below 1
    require(sizes.d_model % heads == 0, "model.heads", heads,
            format("must divide model.d_model %lld, since model.%s is \"auto\"; or set model.%s",
                   static_cast<long long>(sizes.d_model), key.c_str(), key.c_str()));
    model[key] = sizes.d_model / heads;
  }
}

// Runs of earlier versions list the options of diverse beam search, at their defaults.
void drop_diverse_search(Json& config) {
  const auto drop = [](Json& search) {
    if (!search.is_object()) return;
    if (search.value("groups", Json()) == Json(1)) search.erase("groups");
    if (search.value("diversity", Json()) == Json(0.5)) search.erase("diversity");
  };
  if (config.contains("search")) drop(config["search"]);
  if (config.contains("eval")) std::ranges::for_each(config["eval"], drop);
}

Experiment read_merged(Json merged, const std::string& name,
                       const std::vector<Assignment>& assignments) {
  Experiment experiment;
  try {
    drop_diverse_search(merged);
    resolve_head_widths(merged);
    if (merged.contains("search") && !merged["search"].is_null()) {
      read_config(experiment.search, merged["search"], "search");
    }
    if (merged.contains("eval") && merged["eval"].is_array()) {
      fill_in_search(merged["eval"], experiment.search);
    }
    read_config(experiment, merged);
    experiment.validate();
  } catch (const UnknownKey& error) {
    const std::string meant = option_path(error.leaf);
    const std::string message = meant.empty() || meant == error.path
                                    ? error.what()
                                    : error.complaint + "; did you mean " + meant + "?";
    throw ConfigError(place_of(message, name, assignments) + message);
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    throw ConfigError(place_of(message, name, assignments) + message);
  }
  return experiment;
}

// Checks the options of search that only apply to one task.
void require_for_task(const SearchConfig& search, const DataConfig& data,
                      const std::string& place) {
  const bool parsing = data.task == Task::parsing;
  require(parsing || search.constrained, place + ".constrained", "false",
          "requires data.task=parsing");
  require(parsing || search.known_tags == 0, place + ".known_tags", search.known_tags,
          "requires data.task=parsing");
  require(search.known_tags == 0 || data.tree_form != TreeForm::xx, place + ".known_tags",
          search.known_tags, "requires a data.tree_form with tags");
  const bool of_trees = search.mbr == RiskUtility::f1;
  require(search.mbr == RiskUtility::none || parsing == of_trees, place + ".mbr",
          enum_name(search.mbr),
          of_trees ? "requires data.task=parsing" : "requires data.task=translation");
}

}  // namespace

void Experiment::validate() const {
  constexpr int64_t kLargestSeed = int64_t{1}
                                   << 62;  // leaves room for those that a sweep counts on
  require(seed >= 0 && seed <= kLargestSeed, "seed", seed, "must be from 0 to 2^62");
  validate_part(data, "data");
  validate_part(model, "model");
  validate_part(train, "train");
  validate_part(search, "search");
  validate_part(runtime, "runtime");
  require(!runtime.shard_optimizer || train.optimizer.kind != OptimizerKind::muon,
          "runtime.shard_optimizer", "true",
          "cannot be combined with train.optimizer=muon, which updates whole matrices");
  require_for_task(search, data, "search");
  std::set<std::string> names;
  for (size_t i = 0; i < eval.size(); ++i) {
    const std::string place = "eval[" + std::to_string(i) + "]";
    validate_part(eval[i], place);
    if (const SearchConfig* of_item = eval[i].search()) require_for_task(*of_item, data, place);
    require(names.insert(eval[i].name).second, place + ".name", "\"" + eval[i].name + "\"",
            "duplicate name");
    at_place(place, [&] { eval[i].require_task(data.task); });
  }
  require(train.patience == 0 || deciding_evaluator(eval) != nullptr, "train.patience",
          train.patience, "needs an evaluator with eval[…].every > 0 to compare checkpoints");
  const bool shared = model.embedding_sharing() == EmbeddingSharing::all;
  require(!shared || data.task != Task::parsing, "model.embedding_sharing", "all",
          "must be decoder or none for parsing: words and tree symbols are different vocabularies");
  require(!shared || data.shared_vocabulary, "model.embedding_sharing", "all",
          "requires data.shared_vocabulary");
  const auto* transformer = std::get_if<TransformerConfig>(&model.options);
  require(transformer || train.residual_precision == Precision::fp32, "train.residual_precision",
          "bf16", "requires model.architecture=transformer: others have no residual stream");
  require(!transformer || !transformer->word_positions || data.task == Task::parsing,
          "model.word_positions", "true",
          "requires data.task=parsing: it counts the leaves of trees");
  require(!transformer || !transformer->deterministic_attention ||
              (data.task == Task::parsing && data.tokenizer == TokenizerKind::words),
          "model.deterministic_attention", "true",
          "requires data.task=parsing and data.tokenizer=words: a leaf of the tree is one source "
          "token");
  if (train.optimizer.kind == OptimizerKind::muon) {
    const std::string conflict = model.muon_conflict();
    require(conflict.empty(), "train.optimizer", "muon", conflict);
  }
  const auto positions = model.max_length();
  require(!positions || data.max_length <= *positions, "model.max_positions", positions.value_or(0),
          "must be at least data.max_length");
}

void Experiment::require_texts() const {
  data.require_texts();
  for (const EvaluatorConfig& config : eval) config.require_text(data);
}

std::string option_path(std::string_view name) {
  for (const FieldDoc& doc : explain_config(Experiment{})) {
    const std::string_view path = doc.path;
    if (path.starts_with("eval")) continue;
    if (path == name || path.substr(path.rfind('.') + 1) == name) return doc.path;
  }
  return "";
}

std::string assigned_section(const Assignment& assignment) {
  const std::string& path = assignment.path;
  const size_t dot = path.find('.');
  const auto section = schema_of<Experiment>().inner.find(path.substr(0, dot));
  if (section == schema_of<Experiment>().inner.end()) return "";
  for (const ConfigSchema::Tag& tag : section->second.tags) {
    if (!tag.replaces) continue;
    const bool sets =
        dot == path.npos ? assignment.value.contains(tag.name) : path.substr(dot + 1) == tag.name;
    if (sets) return section->first;
  }
  return "";
}

Experiment resolve_experiment(const std::vector<Json>& patches, const std::string& name,
                              const fs::path& folder, const std::vector<Assignment>& assignments) {
  Json merged = Json::object();
  for (const Json& patch : patches) apply_with_base(merged, patch, name, folder, 0);
  apply_assignments(merged, assignments);
  return read_merged(std::move(merged), name, assignments);
}

Experiment read_resolved(Json json, const std::string& name,
                         const std::vector<Assignment>& assignments) {
  apply_assignments(json, assignments);
  return read_merged(std::move(json), name, assignments);
}

Experiment load_description(const ModelDirectory& directory,
                            const std::vector<Assignment>& assignments) {
  const fs::path file = directory.config();
  Json json;
  try {
    json = read_json(file);
    Experiment described = read_resolved(json, file.string());
    if (assignments.empty()) return described;
  } catch (const ConfigError& error) {  // in a file that attn wrote
    throw DataError(std::string(error.what()) + "; restore the file, or delete " +
                    directory.path().string() + " to retrain the run");
  }
  return read_resolved(std::move(json), file.string(), assignments);
}

Json write_experiment(const Experiment& experiment) {
  Json json = write_config(experiment);
  const Json search = write_config(experiment.search);
  for (size_t i = 0; i < experiment.eval.size(); ++i) {
    Json& item = json["eval"][i];
    for (const auto& [key, value] : search.items()) {
      if (item.contains(key) && item[key] == value) item.erase(key);
    }
  }
  return json;
}

const EvaluatorConfig* find_evaluator(const Experiment& experiment, const std::string& name) {
  for (const EvaluatorConfig& config : experiment.eval) {
    if (config.name == name) return &config;
  }
  return nullptr;
}

Experiment load_experiment(const fs::path& file, const std::vector<Assignment>& assignments) {
  require_input(file, {InputKind::config});
  return resolve_experiment({read_json(file)}, file.string(), file.parent_path(), assignments);
}

}  // namespace attn
