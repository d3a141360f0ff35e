#include "app/experiment/loaded_ensemble.h"

#include <utility>

#include "base/error.h"
#include "data/source_features.h"

namespace attn {
namespace {

[[noreturn]] void differ(const LoadedModel& first, const LoadedModel& other,
                         const std::string& how) {
  throw ConfigError(first.directory.path().string() + " and " + other.directory.path().string() +
                    ": " + how);
}

// The pieces and their order; the segmentation of the first run's tokenizer is used for all.
void require_same_vocabulary(const LoadedModel& first, const LoadedModel& other, const char* side,
                             const Tokenizer& expected, const Tokenizer& found) {
  const std::string remedy = "; the members of an ensemble must share their vocabularies (data." +
                             std::string(side) + "_model)";
  if (expected.size() != found.size()) {
    differ(first, other,
           std::string(side) + " vocabularies of " + std::to_string(expected.size()) + " and " +
               std::to_string(found.size()) + " tokens" + remedy);
  }
  if (expected.serialized() == found.serialized()) return;
  for (int64_t id = 0; id < expected.size(); ++id) {
    if (expected.piece(id) == found.piece(id)) continue;
    differ(first, other,
           "different " + std::string(side) + " vocabularies: token " + std::to_string(id) +
               " is \"" + expected.piece(id) + "\" and \"" + found.piece(id) + "\"" + remedy);
  }
  if (expected.bos() != found.bos() || expected.eos() != found.eos()) {
    differ(first, other,
           "different BOS or EOS in the " + std::string(side) + " vocabulary" + remedy);
  }
}

void require_compatible(const LoadedModel& first, const LoadedModel& other) {
  const DataConfig &expected = first.experiment.data, &found = other.experiment.data;
  if (expected.task != found.task) {
    differ(first, other,
           "data.task " + std::string(enum_name(expected.task)) + " and " +
               std::string(enum_name(found.task)) + "; an ensemble needs one task");
  }
  if (expected.task == Task::parsing && expected.tree_form != found.tree_form) {
    differ(first, other,
           "data.tree_form " + std::string(enum_name(expected.tree_form)) + " and " +
               std::string(enum_name(found.tree_form)) + "; an ensemble needs one form of trees");
  }
  require_same_vocabulary(first, other, "source", *first.tokenizers.source,
                          *other.tokenizers.source);
  require_same_vocabulary(first, other, "target", *first.tokenizers.target,
                          *other.tokenizers.target);
  const auto features_of = [](const LoadedModel& model) {
    const SourceFeatures* features = model.tokenizers.features.get();
    return features != nullptr ? features->fingerprint() : 0;
  };
  if (features_of(first) != features_of(other)) {
    differ(first, other,
           "different tags or word features of the source (data.tag, data.word_classes, "
           "data.word_pieces); an ensemble needs the same");
  }
}

LoadedEnsemble combined(std::vector<LoadedModel> members) {
  const LoadedModel& first = members.front();
  Tokenizers tokenizers = first.tokenizers;
  std::vector<Seq2SeqModel*> models;
  for (const LoadedModel& member : members) {
    require_compatible(first, member);
    // For members that count words; others do not use the second position.
    if (!tokenizers.target_counter) tokenizers.target_counter = member.tokenizers.target_counter;
    models.push_back(member.model.get());
  }
  Ensemble ensemble(std::move(models), first.experiment.search.ensemble);
  return {.members = std::move(members),
          .tokenizers = std::move(tokenizers),
          .models = std::move(ensemble)};
}

}  // namespace

std::string LoadedEnsemble::description() const {
  std::string list;
  for (const LoadedModel& member : members) {
    list += (list.empty() ? "" : ", ") + member.directory.path().string();
  }
  return members.size() == 1 ? list : std::to_string(members.size()) + " models: " + list;
}

LoadedEnsemble load_ensemble(std::span<const std::filesystem::path> paths, torch::Device device,
                             const std::vector<std::string>& assignments) {
  std::vector<LoadedModel> members;
  for (const auto& path : paths) members.push_back(load_model(path, device, assignments));
  return combined(std::move(members));
}

LoadedEnsemble load_ensemble_to_search(std::span<const std::filesystem::path> paths,
                                       torch::Device device,
                                       const std::vector<std::string>& assignments) {
  std::vector<LoadedModel> members;
  for (const auto& path : paths) {
    members.push_back(load_model_to_search(path, device, assignments));
  }
  return combined(std::move(members));
}

}  // namespace attn
