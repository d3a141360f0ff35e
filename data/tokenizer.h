// Tokenizers: text to token ids and back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/config.h"

namespace attn {

/// Receives one line of log output.
using Log = std::function<void(const std::string&)>;

/// A vocabulary and the segmentation of text into its pieces. Immutable and thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Number of tokens: ids are 0 to size() - 1.
  virtual int64_t size() const = 0;
  /// The tokens of the text, without BOS and EOS, even if the text contains their names. Words that
  /// the vocabulary lacks are unk() or a class of unknown words.
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;
  /// The text of the tokens, without BOS and EOS. Throws std::out_of_range for an id outside
  /// of the vocabulary.
  virtual std::string decode(std::span<const int32_t> tokens) const = 0;
  /// The text of one token. Throws std::out_of_range for an id outside of the vocabulary.
  virtual std::string piece(int64_t id) const = 0;

  /// BOS, the first token of the decoder input; EOS if the vocabulary has no BOS.
  virtual int32_t bos() const = 0;
  virtual int32_t eos() const = 0;
  virtual int32_t unk() const = 0;

  /// Occurrences of the token in the text from which the vocabulary was made; 0: not recorded.
  virtual int64_t count(int64_t /*id*/) const { return 0; }
  /// Whether it is unk() or a class of unknown words.
  virtual bool is_unknown(int64_t id) const { return id == unk(); }
  /// The token that encode() yields for this token's text if it is not in the vocabulary.
  virtual int32_t unknown_form(int64_t /*id*/) const { return unk(); }

  /// The bytes of the tokenizer file, as read by `parse_tokenizer`.
  virtual const std::string& serialized() const = 0;

  /// Content hash of `serialized()`.
  uint64_t fingerprint() const;
};

/// Counts unknown tokens of a text.
struct UnknownTokens {
  int64_t unknown = 0, all = 0;
  void add(const Tokenizer& tokenizer, std::span<const int32_t> tokens);
};
/// "0.02 % of the source tokens are unknown (<unk>)", as a warning above 1 %; empty without tokens.
std::string unknown_note(const UnknownTokens& count, const std::string& side);
/// unknown_note in parentheses, for the end of a line; empty if no token is unknown.
std::string unknown_suffix(const UnknownTokens& count, const std::string& side);

/// Reads a SentencePiece model or a word list, detected by content. `name` is for messages. Throws
/// DataError.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string bytes, const std::string& name);
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);

class SourceFeatures;
class TagDictionary;

/// The tokenizers of both sides; with a shared vocabulary the same object.
struct Tokenizers {
  std::shared_ptr<const Tokenizer> source;
  std::shared_ptr<const Tokenizer> target;
  /// Parsing: the tags of each word in the training trees; null: unknown.
  std::shared_ptr<const TagDictionary> tags = nullptr;
  /// Further indices of source tokens; null: the model has none.
  std::shared_ptr<const SourceFeatures> features = nullptr;
};

/// Sizes and special tokens of the vocabularies of a corpus.
struct Vocabularies {
  int64_t source_size = 0;
  int64_t target_size = 0;
  int64_t source_eos = 0;
  int64_t target_bos = 0;
  int64_t target_eos = 0;
  int64_t source_features = 0;  ///< 0: none
  /// The target class that no position has as its target: BOS, unless EOS is the same; -1: none.
  int64_t never_target() const { return target_bos == target_eos ? -1 : target_bos; }
  bool operator==(const Vocabularies&) const = default;
};

/// Sizes and special tokens of the two tokenizers.
Vocabularies vocabularies_of(const Tokenizers& tokenizers);

/// Loads the tokenizers that the config names and trains the others on the training text,
/// deterministically. Throws ConfigError and DataError.
Tokenizers make_tokenizers(const DataConfig& config, const Log& log = {});

}  // namespace attn
