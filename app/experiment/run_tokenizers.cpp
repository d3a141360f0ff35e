#include "app/experiment/run_tokenizers.h"

#include "app/experiment/checkpoint.h"
#include "app/experiment/progress_line.h"
#include "data/corpus_check.h"
#include "data/parsing/tag_dictionary.h"
#include "data/parsing/treebank.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

Tokenizers prepared(const Experiment& experiment, Tokenizers tokenizers) {
  tokenizers = with_tag(std::move(tokenizers), experiment.data.tag, "data.tag");
  set_target_counter(experiment, tokenizers);
  return tokenizers;
}

// The tags of words in the training trees. Requires all symbols to be in the vocabulary.
std::shared_ptr<const TagDictionary> known_tags(const DataConfig& text, const Tokenizer& target) {
  const fs::path words = text_path(text.train, text.source),
                 symbols = text_path(text.train, text.target);
  require_known_symbols(symbols, target);
  return std::make_shared<const TagDictionary>(
      learn_tags(words, symbols, text.tree_form, vocabulary_labels(target, text.tree_form)));
}

}  // namespace

Tokenizers stored_tokenizers(const ModelDirectory& run, const Experiment& experiment) {
  Tokenizers tokenizers = load_tokenizers(run);
  require_features(experiment.data, tokenizers, run.path().string());
  return prepared(experiment, std::move(tokenizers));
}

Tokenizers training_tokenizers(const Experiment& experiment, const DataConfig& text,
                               const InitialModel* initial, const fs::path& cache, const Log& log) {
  const DataConfig& data = experiment.data;
  check_texts(text_path(text.train, text.source), text_path(text.train, text.target));
  DataConfig once = with_vocabulary_text(data, cache);
  if (initial != nullptr) once = initial->with_vocabularies(once);
  Tokenizers tokenizers;
  {
    const ProgressLine shown({.what = "preparing the tokenizers", .unit = ""});
    tokenizers = make_tokenizers(once, log);
  }
  if (initial != nullptr && !tokenizers.features) tokenizers.features = initial->features(data);
  if (data.task == Task::parsing) tokenizers.tags = known_tags(once, *tokenizers.target);
  return prepared(experiment, std::move(tokenizers));
}

}  // namespace attn
