#include "data/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/hash.h"
#include "data/sentencepiece.h"
#include "data/source_features.h"
#include "data/word_vocabulary.h"

namespace attn {
namespace {

/// Larger files are not tokenizers: vocabularies of millions of long words are smaller.
constexpr int64_t max_model_bytes = int64_t{1} << 28;

// The vocabulary may also be that of train.init_from.
constexpr const char *kSourceOption = "data.source_model", *kTargetOption = "data.target_model";

std::shared_ptr<const Tokenizer> learn(const DataConfig& config,
                                       std::span<const std::filesystem::path> texts,
                                       const Log& log) {
  std::string names;
  for (const auto& text : texts) names += (names.empty() ? "" : " and ") + text.string();
  const std::string kind(enum_name(config.tokenizer));
  if (log) log("training a tokenizer (" + kind + ") on " + names);
  std::string bytes = config.tokenizer == TokenizerKind::words
                          ? learn_word_vocabulary(texts, config.vocab_size, config.min_frequency,
                                                  config.unknown_classes)
                          : learn_sentencepiece(texts, config, {}, log);
  std::shared_ptr<const Tokenizer> tokenizer = parse_tokenizer(std::move(bytes), names);
  if (log) {
    std::string line = "vocabulary: " + std::to_string(tokenizer->size()) + " tokens";
    if (tokenizer->size() < config.vocab_size && config.task == Task::translation) {
      line += "; the text yields fewer than data.vocab_size = " + std::to_string(config.vocab_size);
    }
    log(line);
  }
  return tokenizer;
}

/// Config of the vocabulary of tree symbols: all symbols, as whole words.
DataConfig symbols_config(DataConfig config) {
  config.tokenizer = TokenizerKind::words;
  config.vocab_size = int64_t{1} << 20;
  config.min_frequency = 1;
  config.unknown_classes = false;
  return config;
}

}  // namespace

uint64_t Tokenizer::fingerprint() const {
  return hash_text(serialized());
}

void UnknownTokens::add(const Tokenizer& tokenizer, std::span<const int32_t> tokens) {
  all += static_cast<int64_t>(tokens.size());
  unknown += std::ranges::count_if(tokens, [&](int32_t id) { return tokenizer.is_unknown(id); });
}

std::string unknown_note(const UnknownTokens& count, const std::string& side) {
  if (count.all == 0) return "";
  const double percent =
      100.0 * static_cast<double>(count.unknown) / static_cast<double>(count.all);
  return (percent > 1 ? "warning: " : "") +
         format("%.2f %% of the %s tokens are unknown (<unk>)", percent, side.c_str());
}

std::string unknown_suffix(const UnknownTokens& count, const std::string& side) {
  return count.unknown == 0 ? "" : "  (" + unknown_note(count, side) + ")";
}

std::unique_ptr<Tokenizer> parse_tokenizer(std::string bytes, const std::string& name) {
  if (bytes.empty()) throw DataError(name + ": is empty");
  if (looks_like_sentencepiece(bytes)) return parse_sentencepiece(std::move(bytes), name);
  return parse_word_vocabulary(bytes, name);
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path) {
  require_regular_file(path);  // opening a pipe would wait for its writer
  return parse_tokenizer(read_file(path, max_model_bytes), path.string());
}

Vocabularies vocabularies_of(const Tokenizers& tokenizers) {
  return {tokenizers.source->size(), tokenizers.target->size(),
          tokenizers.source->eos(),  tokenizers.target->bos(),
          tokenizers.target->eos(),  tokenizers.features ? tokenizers.features->size() : 0};
}

Tokenizers make_tokenizers(const DataConfig& config, const Log& log) {
  const std::filesystem::path source = text_path(config.train, config.source);
  const std::filesystem::path target = text_path(config.train, config.target);
  const auto make = [&](const char* option, const std::string& model,
                        std::span<const std::filesystem::path> texts, const DataConfig& how) {
    if (model.empty()) return learn(how, texts, log);
    std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(model);
    const bool pieces = looks_like_sentencepiece(tokenizer->serialized());
    if (pieces == (how.tokenizer == TokenizerKind::words)) {
      throw ConfigError(std::string(option) + ": " + model +
                        (pieces ? ": a SentencePiece model; expected a list of words"
                                : ": a list of words; expected a SentencePiece model") +
                        " (data.tokenizer)");
    }
    return tokenizer;
  };
  Tokenizers made;
  if (config.shared_vocabulary) {
    made.source = make(kSourceOption, config.source_model, std::vector{source, target}, config);
    made.target = made.source;
  } else {
    made.source = make(kSourceOption, config.source_model, std::vector{source}, config);
    made.target = make(kTargetOption, config.target_model, std::vector{target},
                       config.task == Task::parsing ? symbols_config(config) : config);
  }
  if (config.has_features()) made.features = learn_features(config, source);
  return made;
}

}  // namespace attn
