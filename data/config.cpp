#include "data/config.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

// Opening a pipe would wait for its writer.
void require_file_to_read(const std::string& field, const std::string& path) {
  try {
    require_regular_file(path);
  } catch (const DataError& error) {
    throw DataError(field + ": " + error.what());
  }
}

// A text: also not empty, which would otherwise be noticed only after the tokenizer is trained.
void require_file(const std::string& field, const std::string& path) {
  if (std::error_code failure; !std::filesystem::exists(path, failure) && !failure) {
    constexpr std::string_view folder = "corpora/";  // of data/fetch
    const size_t begin = folder.size(), end = path.find('/', begin);
    const bool named = path.starts_with(folder) && end != std::string::npos;
    throw DataError(field + ": " + path + ": no such file (paths are relative to the working " +
                    "directory; " +
                    (named ? "data/fetch " + path.substr(begin, end - begin) +
                                 " downloads this corpus, if data/fetch --list has it)"
                           : "data/fetch --list shows the corpora that can be downloaded)"));
  }
  require_file_to_read(field, path);
  std::error_code unknown;
  if (std::filesystem::file_size(path, unknown) == 0)
    throw DataError(field + ": " + path + ": is empty");
}

}  // namespace

void DataConfig::validate() const {
  // Larger values are probably typos.
  constexpr int64_t max = int64_t{1} << 30;
  require_between("data.vocab_size", vocab_size, 4, max);  // <unk>, BOS, EOS and a token
  require(!shared_vocabulary || target_model.empty() || target_model == source_model,
          "data.target_model", target_model,
          "must be empty or equal source_model with data.shared_vocabulary");
  require(task != Task::parsing || !shared_vocabulary, "data.shared_vocabulary", "true",
          "must be false for parsing: words and tree symbols are different vocabularies");
  require(task == Task::parsing || silver.empty(), "data.silver", "[…]",
          "requires data.task=parsing");
  require_between("data.silver_ratio", silver_ratio, 0, 1000);
  require(silver_ratio == 0 || !silver.empty(), "data.silver_ratio", silver_ratio,
          "requires data.silver");
  require_sources();
  require(!word_pieces || (word_pieces >= 100 && word_pieces <= 100'000), "data.word_pieces",
          word_pieces, "must be 0 or from 100 to 100000");
  require_between("data.word_dropout", word_dropout, 0, 1000);
  require_between("data.character_coverage", character_coverage, 0.98,
                  1);  // SentencePiece's limits
  require(min_frequency >= 1, "data.min_frequency", min_frequency, "must be at least 1");
  require_between("data.max_length", max_length, 2, max);  // a token and EOS
  require_between("data.batch_tokens", batch_tokens, 1, max);
}

void DataConfig::require_sources() const {
  const auto require_word = [](const std::string& place, const std::string& word) {
    const bool plain = std::ranges::all_of(
        word, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; });
    require(plain && word.size() <= 100, place, "\"" + word + "\"",
            "must be a word of at most 100 bytes");
  };
  require_word("data.tag", tag);
  require(tag.empty() || (source != kTagsSuffix && target != kTagsSuffix), "data.tag",
          "\"" + tag + "\"", "requires other languages than \"" + std::string(kTagsSuffix) + "\"");
  for (size_t i = 0; i < sources.size(); ++i) {
    const TextSource& one = sources[i];
    const std::string place = "data.sources[" + std::to_string(i) + "].";
    require(!one.text.empty(), place + "text", "\"\"", "give the path of the text");
    require_between(place + "ratio", one.ratio, 0, 1000);
    require_word(place + "tag", one.tag);
    require(one.tag.empty() == tag.empty(), place + "tag", "\"" + one.tag + "\"",
            tag.empty() ? "requires data.tag, the tag of data.train"
                        : "must be set, since data.tag is set");
  }
}

void DataConfig::require_texts() const {
  require(
      !train.empty(), "data.train", "\"\"",
      "give the path of the training text without \".<language>\" (parsing: the file of trees)");
  require_file_to_read("data.source_model", source_model);
  require_file_to_read("data.target_model", target_model);
  if (task != Task::parsing) {
    require(!source.empty(), "data.source", "\"\"", "give the source language, such as \"en\"");
    require(!target.empty(), "data.target", "\"\"", "give the target language, such as \"de\"");
  }
  require_text("data.train", train, *this);
  if (!valid.empty()) require_text("data.valid", valid, *this);
  for (const std::string& path : silver) require_file("data.silver", path);
  for (const TextSource& one : sources) require_text("data.sources", one.text, *this);
}

void require_text(const std::string& option, const std::string& prefix, const DataConfig& config) {
  if (config.task == Task::parsing) return require_file(option, prefix);
  for (const std::string& language : {config.source, config.target}) {
    const std::string ending = "." + language;
    const std::string path = text_path(prefix, language);
    if (!std::filesystem::exists(path) && prefix.ends_with(ending) &&
        std::filesystem::exists(prefix)) {
      const std::string both = prefix.substr(0, prefix.size() - ending.size());
      throw DataError(option + ": " + prefix + ": give the path without " + ending + ", " + both +
                      ", for both languages");
    }
    require_file(option, path);
  }
}

std::string text_path(const std::string& prefix, const std::string& language) {
  return prefix + "." + language;
}

std::vector<std::filesystem::path> text_files(const DataConfig& config, const std::string& text) {
  if (config.task == Task::parsing) return {text};
  return {text_path(text, config.source), text_path(text, config.target)};
}

}  // namespace attn
