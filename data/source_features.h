// Further indices of source tokens, whose embeddings the encoder input adds to the token's: the tag
// of the sentence's text (data.tag), and the classes and subword pieces of the word
// (data.word_classes, data.word_pieces; Suzuki et al. 2018). Unlike a tag token at the start of the
// sentence, an added embedding needs no vocabulary entry and no position, so tags work with every
// tokenizer and words stay aligned with tokens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizer.h"

namespace attn {

/// The vocabulary of features, and the features of sentences. Immutable and thread-safe. Ids:
/// classes, pieces, tags, so that further tags change no other id.
class SourceFeatures {
 public:
  /// What the feature ids stand for, in their order within a kind.
  struct Names {
    std::vector<std::string> classes;  ///< word classes, data/word_vocabulary.h
    std::vector<std::string> tags;
  };

  /// `pieces`: segments words; null: no pieces. Throws DataError starting with `name` for an empty
  /// or duplicate name.
  SourceFeatures(Names names, std::shared_ptr<const Tokenizer> pieces, const std::string& name);

  /// Features of this vocabulary are 0 to size() - 1.
  int64_t size() const;
  const Names& names() const { return names_; }
  const std::shared_ptr<const Tokenizer>& pieces() const { return pieces_; }

  /// A copy whose sentences have this tag. Throws ConfigError with the known tags if it has none of
  /// this name (or, with tags, if it is empty); `option` is for the message.
  std::shared_ptr<const SourceFeatures> with_tag(std::string_view tag,
                                                 std::string_view option) const;
  /// A copy that also knows these tags.
  std::shared_ptr<const SourceFeatures> with_more_tags(std::span<const std::string> tags) const;

  /// The features of a sentence of `tokens` tokens and EOS: for each of these rows its features +
  /// 1, ended by 0. With classes or pieces the tokens must be words. `tag` is the tag of the
  /// sentence; empty: the one set by with_tag(). Throws std::invalid_argument if the number of
  /// words of the text differs.
  std::vector<int32_t> encode(std::string_view text, int64_t tokens,
                              std::string_view tag = {}) const;

  /// The contents of features.txt: one "class<TAB>NAME" or "tag<TAB>NAME" line per name. The model
  /// of the pieces is another file.
  std::string serialized() const;
  /// Hash of all contents, including the tag set by with_tag().
  uint64_t fingerprint() const;

 private:
  int32_t tag_id(std::string_view tag) const;
  void append_word(std::string_view word, std::vector<int32_t>& out) const;

  Names names_;
  std::shared_ptr<const Tokenizer> pieces_;
  std::unordered_map<std::string, int32_t> class_ids_, tag_ids_;
  std::string tag_;  // set by with_tag()
};

/// Features as the options ask for, from the source side of the training text.
std::shared_ptr<const SourceFeatures> learn_features(const DataConfig& config,
                                                     const std::filesystem::path& source);

/// Reads the output of `serialized`. Throws DataError with name:line.
SourceFeatures::Names parse_feature_names(std::string_view text, const std::string& name);

/// The tags of the config, without duplicates.
std::vector<std::string> tags_of(const DataConfig& config);

/// The tokenizers with sentences of this tag (SourceFeatures::with_tag). Throws ConfigError if
/// there is a tag but no features.
Tokenizers with_tag(Tokenizers tokenizers, std::string_view tag, std::string_view option);

/// The output of `encode` limited to the first `tokens` tokens, and EOS.
std::vector<int32_t> cut_features(std::span<const int32_t> features, int64_t tokens);

}  // namespace attn
