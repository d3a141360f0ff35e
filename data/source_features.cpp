#include "data/source_features.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "data/lines.h"
#include "data/sentencepiece.h"
#include "data/word_vocabulary.h"

namespace attn {
namespace {

constexpr size_t kMaxNames = size_t{1} << 20;

std::unordered_map<std::string, int32_t> numbered(const std::vector<std::string>& names,
                                                  int64_t first, const std::string& place) {
  std::unordered_map<std::string, int32_t> ids;
  for (const std::string& name : names) {
    const auto id = static_cast<int32_t>(first + static_cast<int64_t>(ids.size()));
    if (name.empty()) throw DataError(place + ": an empty name of a feature");
    if (!ids.emplace(name, id).second)
      throw DataError(place + ": duplicate feature '" + name + "'");
  }
  return ids;
}

std::shared_ptr<const Tokenizer> learn_pieces(const DataConfig& config,
                                              const std::filesystem::path& text) {
  DataConfig how;
  how.tokenizer = TokenizerKind::bpe;
  how.vocab_size = config.word_pieces;
  // All characters of a large alphabet would not leave room for pieces.
  how.character_coverage = 0.9995;
  const VocabularyOptions options{.size = "data.word_pieces"};
  return parse_sentencepiece(learn_sentencepiece(std::vector{text}, how, options), text.string());
}

}  // namespace

SourceFeatures::SourceFeatures(Names names, std::shared_ptr<const Tokenizer> pieces,
                               const std::string& name)
    : names_(std::move(names)), pieces_(std::move(pieces)) {
  const auto classes = static_cast<int64_t>(names_.classes.size());
  class_ids_ = numbered(names_.classes, 0, name);
  tag_ids_ = numbered(names_.tags, classes + (pieces_ ? pieces_->size() : 0), name);
}

int64_t SourceFeatures::size() const {
  return static_cast<int64_t>(names_.classes.size() + names_.tags.size()) +
         (pieces_ ? pieces_->size() : 0);
}

std::shared_ptr<const SourceFeatures> SourceFeatures::with_tag(std::string_view tag,
                                                               std::string_view option) const {
  if (!tag_ids_.contains(std::string(tag)) && !(tag.empty() && tag_ids_.empty())) {
    throw ConfigError(std::string(option) + ": \"" + std::string(tag) + "\": " +
                      (tag_ids_.empty()
                           ? "the model has no tags"
                           : "not a tag of the model; it has " + joined(names_.tags, ", ")));
  }
  auto copy = std::make_shared<SourceFeatures>(*this);
  copy->tag_ = tag;
  return copy;
}

std::shared_ptr<const SourceFeatures> SourceFeatures::with_more_tags(
    std::span<const std::string> tags) const {
  Names names = names_;
  for (const std::string& tag : tags) {
    if (!tag_ids_.contains(tag)) names.tags.push_back(tag);
  }
  return std::make_shared<SourceFeatures>(std::move(names), pieces_, "data.tag");
}

int32_t SourceFeatures::tag_id(std::string_view tag) const {
  const auto found = tag_ids_.find(std::string(tag));
  if (found == tag_ids_.end()) {
    throw std::invalid_argument("SourceFeatures: no tag '" + std::string(tag) + "'");
  }
  return found->second;
}

void SourceFeatures::append_word(std::string_view word, std::vector<int32_t>& out) const {
  if (!class_ids_.empty()) {
    for (const std::string& name : unknown_word_classes(word)) {
      if (const auto found = class_ids_.find(name); found != class_ids_.end()) {
        out.push_back(found->second + 1);
      }
    }
  }
  if (!pieces_) return;
  const auto first = static_cast<int32_t>(names_.classes.size());
  for (const int32_t piece : pieces_->encode(word)) out.push_back(first + piece + 1);
}

std::vector<int32_t> SourceFeatures::encode(std::string_view text, int64_t tokens,
                                            std::string_view tag) const {
  const std::string_view its = tag.empty() ? std::string_view(tag_) : tag;
  const int32_t last = tag_ids_.empty() ? 0 : tag_id(its) + 1;
  std::vector<int32_t> out;
  int64_t rows = 0;
  const auto end_row = [&] {
    if (last > 0) out.push_back(last);
    out.push_back(0);
    ++rows;
  };
  if (pieces_ || !class_ids_.empty()) {
    for_each_word(text, [&](std::string_view word) {
      append_word(word, out);
      end_row();
    });
    if (rows != tokens) {
      throw std::invalid_argument("SourceFeatures: " + std::to_string(rows) + " words, but " +
                                  std::to_string(tokens) + " tokens");
    }
  }
  while (rows <= tokens) end_row();
  return out;
}

std::string SourceFeatures::serialized() const {
  std::string text;
  for (const std::string& name : names_.classes) text += "class\t" + name + "\n";
  for (const std::string& name : names_.tags) text += "tag\t" + name + "\n";
  return text;
}

uint64_t SourceFeatures::fingerprint() const {
  Hasher hasher;
  hasher.update(hash_text(serialized()));
  hasher.update(pieces_ ? pieces_->fingerprint() : 0);
  hasher.update(hash_text(tag_));
  return hasher.digest();
}

std::shared_ptr<const SourceFeatures> learn_features(const DataConfig& config,
                                                     const std::filesystem::path& source) {
  SourceFeatures::Names names{.classes = {}, .tags = tags_of(config)};
  if (config.word_classes) {
    const auto words = count_words(std::vector{source}, size_t{1} << 22);
    for (auto& [name, count] : frequent_classes(words, kMaxClasses)) names.classes.push_back(name);
  }
  if (config.word_classes && names.classes.empty()) {
    throw DataError(source.string() + ": no class of words occurs 10 times (data.word_classes)");
  }
  return std::make_shared<SourceFeatures>(
      std::move(names), config.word_pieces > 0 ? learn_pieces(config, source) : nullptr,
      source.string());
}

SourceFeatures::Names parse_feature_names(std::string_view text, const std::string& name) {
  SourceFeatures::Names names;
  int64_t number = 0;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::string place = name + ":" + std::to_string(++number);
    const size_t tab = line.find('\t');
    const std::string_view kind = line.substr(0, tab);
    if (tab == std::string_view::npos || (kind != "class" && kind != "tag") ||
        find_invalid_utf8(line)) {
      throw DataError(place + R"(: expected "class<TAB>name" or "tag<TAB>name")");
    }
    auto& list = kind == "class" ? names.classes : names.tags;
    if (list.size() >= kMaxNames) throw DataError(place + ": more than 2^20 names");
    list.emplace_back(line.substr(tab + 1));
  }
  return names;
}

std::vector<std::string> tags_of(const DataConfig& config) {
  if (config.tag.empty()) return {};
  std::vector<std::string> tags = {config.tag};
  for (const TextSource& source : config.sources) {
    if (std::ranges::find(tags, source.tag) == tags.end()) tags.push_back(source.tag);
  }
  return tags;
}

Tokenizers with_tag(Tokenizers tokenizers, std::string_view tag, std::string_view option) {
  if (tokenizers.features) {
    tokenizers.features = tokenizers.features->with_tag(tag, option);
  } else if (!tag.empty()) {
    throw ConfigError(std::string(option) + ": \"" + std::string(tag) +
                      "\": the model has no tags (data.tag)");
  }
  return tokenizers;
}

std::vector<int32_t> cut_features(std::span<const int32_t> features, int64_t tokens) {
  std::vector<size_t> ends = {0};
  for (size_t i = 0; i < features.size(); ++i) {
    if (features[i] == 0) ends.push_back(i + 1);
  }
  // The rows of the kept tokens, then the last one: EOS.
  const auto kept = std::min(static_cast<size_t>(tokens), ends.size() - 2);
  std::vector<int32_t> out(features.begin(), features.begin() + static_cast<int64_t>(ends[kept]));
  out.insert(out.end(), features.begin() + static_cast<int64_t>(ends[ends.size() - 2]),
             features.end());
  return out;
}

}  // namespace attn
