// What an exporter reads: a trained Transformer as arrays, with its config and vocabularies.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/export/array.h"
#include "base/json_patch.h"
#include "data/tokenizer.h"
#include "eval/search/config.h"
#include "model/transformer/config.h"

namespace attn {

struct ExportSource {
  std::filesystem::path checkpoint;
  TransformerConfig config;
  SearchConfig search;  ///< written as the target's defaults where it has the option
  Tokenizers tokenizers;
  std::map<std::string, Array> weights;  ///< by their names in the checkpoint
  /// [positions, d_model], added to the embeddings; empty for positions that are not added.
  Array source_positions, target_positions;

  /// Throws std::out_of_range if there is none.
  const Array& at(const std::string& name) const { return weights.at(name); }
  bool has(const std::string& name) const { return weights.contains(name); }
  bool shared_vocabulary() const { return tokenizers.source == tokenizers.target; }
  /// The embedding matrices, [V, d_model], as model.embedding_sharing stores them.
  const Array& source_embedding() const { return at(first_of("shared_weight", "source_weight")); }
  const Array& target_embedding() const { return at(first_of("shared_weight", "target_weight")); }
  /// The width to which d_k and d_v are padded with zeros, for targets with one width per head.
  int64_t head_width() const { return std::max(config.d_k, config.d_v); }

 private:
  std::string first_of(const char* shared, const char* own) const {
    return has(shared) ? shared : own;
  }
};

/// A format, for messages about what it cannot express.
struct ExportTarget {
  std::string name;                           ///< the value of --to
  std::vector<std::string> expressible = {};  ///< the options of model that it can express
};

/// Throws ConfigError naming the option: "model.position: rotary: cannot be expressed …".
[[noreturn]] void reject_option(const ExportTarget& target, const std::string& option,
                                const std::string& value, const std::string& why = "");

/// Throws like reject_option() if the special tokens have different names on the two sides, since
/// the targets have one name for both.
void require_common_specials(const ExportTarget& target, const Tokenizers& tokenizers);

/// Throws like reject_option() for an option of the model that is neither at its default nor among
/// those that the target can express.
void require_expressible(const ExportTarget& target, const TransformerConfig& config);

/// The tokens of a vocabulary in the order of their ids. Throws DataError for tokens that are not
/// UTF-8, which the JSON of the targets cannot hold.
std::vector<std::string> tokens_of(const Tokenizer& tokenizer);

/// Throws DataError if the file cannot be written.
void write_json(const std::filesystem::path& path, const Json& json);

/// Writes the SentencePiece models, if these are the tokenizers, as source.spm and target.spm.
void write_sentencepiece(const ExportSource& source, const std::filesystem::path& folder);

}  // namespace attn
