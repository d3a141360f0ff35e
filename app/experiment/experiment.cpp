#include "app/experiment/experiment.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"

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

// Calls work(). The errors get the place: the assignment that set the option, else the config.
template <class Work>
void at_source(const std::string& name, const std::vector<Assignment>& assignments, Work work) {
  const auto fail = [&](const std::string& message) {
    const std::string path = message.substr(0, message.find(':'));
    const bool assigned = std::ranges::any_of(assignments, [&](const Assignment& one) {
      return is_within(path, one.path) || is_within(one.path, path);
    });
    throw ConfigError((assigned ? "--set " : name + ": ") + message);
  };
  try {
    work();
  } catch (const UnknownKey& error) {
    const std::string meant = option_path(error.leaf);
    fail(meant.empty() ? error.what() : error.complaint + "; did you mean " + meant + "?");
  } catch (const ConfigError& error) {
    fail(error.what());
  }
}

// Reads the files of "base", in order, then `json`.
void read_with_base(Experiment& experiment, Json json, const std::string& name,
                    const fs::path& folder, int depth) {
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
        throw ConfigError(name + ": '" + path.string() + "': no such file (base or patch)");
      }
      read_with_base(experiment, read_json(path), path.string(), path.parent_path(), depth + 1);
    }
    json.erase("base");
  }
  // Not inherited: the command and the result describe the file that has them.
  if (depth > 0 && json.contains("about") && json["about"].is_string()) json.erase("about");
  at_source(name, {}, [&] { read_config(experiment, json); });
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
    const std::string searching = place + ".search";
    const SearchConfig of_item = eval[i].search_over(search, searching);
    validate_part(of_item, searching);
    require_for_task(of_item, data, searching);
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
          "must be at least data.max_length=" + std::to_string(data.max_length));
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

Experiment patched(Experiment experiment, const Json& patch, const std::string& name,
                   const std::vector<Assignment>& assignments) {
  at_source(name, assignments, [&] {
    read_config(experiment, patch);
    experiment.validate();
  });
  return experiment;
}

Json with_assignments(Json patch, const std::vector<Assignment>& assignments) {
  for (const Assignment& one : assignments) {
    try {
      merge_patch(patch, nested(one.path, one.value));
    } catch (const ConfigError& error) {
      throw ConfigError("--set " + one.text + ": " + error.what());
    }
  }
  return patch;
}

Experiment resolve_experiment(const std::vector<Json>& patches, const std::string& name,
                              const fs::path& folder, const std::vector<Assignment>& assignments,
                              const Json& last) {
  Experiment experiment;
  for (const Json& patch : patches) read_with_base(experiment, patch, name, folder, 0);
  return patched(std::move(experiment), with_assignments(last, assignments), name, assignments);
}

Experiment read_resolved(const Json& json, const std::string& name,
                         const std::vector<Assignment>& assignments) {
  return patched(patched({}, json, name), with_assignments(Json::object(), assignments), name,
                 assignments);
}

Experiment load_description(const ModelDirectory& directory,
                            const std::vector<Assignment>& assignments) {
  const fs::path file = directory.config();
  Experiment described;
  try {
    described = read_resolved(read_json(file), file.string());
  } catch (const ConfigError& error) {  // in a file that attn wrote
    throw DataError(std::string(error.what()) +
                    "; restore the file (or remove an option of another version), or delete " +
                    directory.path().string() + " to retrain the run");
  }
  return patched(std::move(described), with_assignments(Json::object(), assignments), file.string(),
                 assignments);
}

Json write_resolved(Experiment experiment) {
  if (auto* model = std::get_if<TransformerConfig>(&experiment.model.options)) {
    model->d_k = model->key_width();
    model->d_v = model->value_width();
  }
  for (EvaluatorConfig& one : experiment.eval) {
    one.search = write_config(one.search_over(experiment.search));
  }
  return write_config(experiment);
}

Json scoring_options(EvaluatorConfig config, const SearchConfig& search) {
  config.search = write_config(config.search_over(search));
  Json json = write_config(config);
  // The same scores by another name, and files that text_key knows by their content.
  for (const char* key : {"name", "every", "test", "sealed", "data", "params", "wrong"}) {
    json.erase(key);
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
