// From text to numbers and back.
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

/// Takes one line of talk for the user.
using Log = std::function<void(const std::string&)>;

/// A vocabulary and the rule that cuts text into its pieces. Constant after construction, so that
/// several threads may use one.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Number of tokens: ids are 0 to size() - 1.
  virtual int64_t size() const = 0;
  /// The tokens of the text, without BOS and EOS. Text never yields a special token, whatever is
  /// written in it.
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;
  /// The text of the tokens; special tokens are dropped. Throws std::out_of_range for an id that is
  /// none.
  virtual std::string decode(std::span<const int32_t> tokens) const = 0;
  /// How a token is written. Throws std::out_of_range for an id that is none.
  virtual std::string piece(int64_t id) const = 0;

  /// BOS, with which a target starts; EOS if the vocabulary has no BOS.
  virtual int32_t bos() const = 0;
  virtual int32_t eos() const = 0;
  virtual int32_t unk() const = 0;

  /// The bytes to store, which `parse_tokenizer` reads back.
  virtual const std::string& serialized() const = 0;

  /// Content hash of `serialized()`.
  uint64_t fingerprint() const;
};

/// Reads a SentencePiece model or a word list, told apart by their content. `name` is for messages.
/// Throws DataError.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string bytes, const std::string& name);
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);

class TagDictionary;
class TokenCounter;

/// The tokenizers of the two sides; with a shared vocabulary both are one object.
struct Tokenizers {
  std::shared_ptr<const Tokenizer> source;
  std::shared_ptr<const Tokenizer> target;
  /// Of parsing: the tags that words had in training; null: not known.
  std::shared_ptr<const TagDictionary> tags = nullptr;
  /// Of the target side: what the second index of its rows counts; null: the model takes none.
  std::shared_ptr<const TokenCounter> target_counter = nullptr;
};

/// Loads the tokenizers that the config names and learns the others from the training text, the
/// same ones from the same text each time. Throws ConfigError and DataError.
Tokenizers make_tokenizers(const DataConfig& config, const Log& log = {});

}  // namespace attn
