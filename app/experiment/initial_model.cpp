#include "app/experiment/initial_model.h"

#include "app/experiment/checkpoint.h"
#include "app/experiment/progress_line.h"
#include "app/experiment/resume.h"
#include "base/check.h"
#include "base/error.h"
#include "data/corpus_check.h"
#include "data/parsing/tag_dictionary.h"
#include "data/parsing/treebank.h"
#include "train/checkpoint.h"

namespace attn {
namespace {

// The forms "tags" and "in_order" have the same symbols in different order, so that their
// vocabularies do not tell them apart.
void require_same_task(const ModelDirectory& directory, const DataConfig& data) {
  const DataConfig checkpoint = load_description(directory).data;
  const bool same = checkpoint.task == data.task &&
                    (data.task != Task::parsing || checkpoint.tree_form == data.tree_form);
  require(same, "train.init_from", directory.path().string(),
          "is of another data.task or data.tree_form");
}

// The tags of words in the training trees. Requires all symbols to be in the vocabulary.
std::shared_ptr<const TagDictionary> known_tags(const DataConfig& text, const Tokenizer& target) {
  const std::filesystem::path words = text_path(text.train, text.source),
                              symbols = text_path(text.train, text.target);
  require_known_symbols(symbols, target);
  return std::make_shared<const TagDictionary>(
      learn_tags(words, symbols, text.tree_form, vocabulary_labels(target, text.tree_form)));
}

}  // namespace

InitialModel::InitialModel(const std::string& path)
    : directory_(find_checkpoint(path)), tokenizers_(load_tokenizers(directory_)) {}

DataConfig InitialModel::with_vocabularies(DataConfig data) const {
  require_same_task(directory_, data);
  const bool shared = tokenizers_.source == tokenizers_.target;
  require(
      !data.source_model.empty() || !data.target_model.empty() || shared == data.shared_vocabulary,
      "train.init_from", directory_.path().string(),
      std::string("its vocabulary is ") + (shared ? "" : "not ") +
          "shared, unlike data.shared_vocabulary");
  if (data.source_model.empty()) {
    data.source_model =
        (shared ? directory_.shared_tokenizer() : directory_.source_tokenizer()).string();
  }
  if (data.target_model.empty() && !data.shared_vocabulary) {
    data.target_model =
        (shared ? directory_.shared_tokenizer() : directory_.target_tokenizer()).string();
  }
  if (features(data)) {
    data.word_classes = false;
    data.word_pieces = 0;
    data.tag.clear();
  }
  return data;
}

std::shared_ptr<const SourceFeatures> InitialModel::features(const DataConfig& data) const {
  const SourceFeatures* known = tokenizers_.features.get();
  const bool same = known != nullptr && data.has_features() &&
                    data.word_classes == !known->names().classes.empty() &&
                    (data.word_pieces > 0) == (known->pieces() != nullptr);
  return same ? known->with_more_tags(tags_of(data)) : nullptr;
}

std::vector<std::string> InitialModel::load_into(Seq2SeqModel& model, const Tokenizers& tokenizers,
                                                 const Experiment& experiment) const {
  InitialWeights initial{.excluded = {}, .extended = {"feature_weight"}};
  if (tokenizers.source->fingerprint() != tokenizers_.source->fingerprint()) {
    initial.excluded.insert({"source_weight", "shared_weight"});
  }
  if (tokenizers.target->fingerprint() != tokenizers_.target->fingerprint()) {
    initial.excluded.insert({"target_weight", "projection_weight", "shared_weight"});
  }
  const SourceFeatures *mine = tokenizers.features.get(), *checkpoint = tokenizers_.features.get();
  const bool prefix = mine != nullptr && checkpoint != nullptr &&
                      checkpoint->with_more_tags(mine->names().tags)->fingerprint() ==
                          mine->with_more_tags({})->fingerprint();
  if (!prefix) initial.excluded.insert("feature_weight");
  const WeightsLoaded result = load_fitting_weights(directory_.weights(), model, initial);
  const std::string name = "train.init_from: " + directory_.path().string();
  if (result.loaded == 0) {
    throw ConfigError(name + ": none of its weights fits the model; set the same model options");
  }
  std::vector<std::string> lines = {name + ": loaded " + std::to_string(result.loaded) + " of " +
                                    std::to_string(result.parameters) + " parameters"};
  // Weights of the same shapes may be those of another function, such as of more, narrower heads.
  for (const std::string& path : changed_paths(load_description(directory_), experiment)) {
    if (!is_within(path, "model")) continue;
    lines.push_back("  " + path + " differs from the checkpoint's config");
  }
  for (const std::string& note : result.notes) lines.push_back("  " + note);
  return lines;
}

Tokenizers stored_tokenizers(const ModelDirectory& run, const Experiment& experiment) {
  return with_tag(load_tokenizers(run), experiment.data.tag, "data.tag");
}

Tokenizers training_tokenizers(const Experiment& experiment, const DataConfig& text,
                               const InitialModel* initial, const std::filesystem::path& cache,
                               const Log& log) {
  const DataConfig& data = experiment.data;
  check_texts(text_path(text.train, text.source), text_path(text.train, text.target));
  DataConfig once = with_vocabulary_text(data, cache);
  if (initial != nullptr) once = initial->with_vocabularies(once);
  if (initial != nullptr && log && data.source_model.empty()) {
    log("the vocabulary is that of train.init_from: options of data that make one are not used");
  }
  Tokenizers tokenizers;
  {
    const ProgressLine shown({.what = "preparing the tokenizers", .unit = ""});
    tokenizers = make_tokenizers(once, log);
  }
  if (initial != nullptr && !tokenizers.features) tokenizers.features = initial->features(data);
  if (data.task == Task::parsing) tokenizers.tags = known_tags(once, *tokenizers.target);
  return with_tag(std::move(tokenizers), experiment.data.tag, "data.tag");
}

}  // namespace attn
