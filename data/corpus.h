// Encoded parallel text, memory-mapped from a cache file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "data/corpus_check.h"
#include "data/tokenizer.h"

namespace attn {

/// One sentence: tokens without BOS and EOS, stored in 16 bits if the vocabulary allows.
class TokenView {
 public:
  TokenView(const std::byte* data, int64_t size, bool wide)
      : data_(data), size_(size), wide_(wide) {}
  int64_t size() const { return size_; }
  int32_t operator[](int64_t i) const {
    return wide_ ? reinterpret_cast<const int32_t*>(data_)[i]
                 : reinterpret_cast<const uint16_t*>(data_)[i];
  }
  void append_to(std::vector<int64_t>& out) const {
    for (int64_t i = 0; i < size_; ++i) out.push_back((*this)[i]);
  }
  std::vector<int32_t> to_vector() const {
    std::vector<int32_t> out;
    for (int64_t i = 0; i < size_; ++i) out.push_back((*this)[i]);
    return out;
  }

 private:
  const std::byte* data_;
  int64_t size_;
  bool wide_;
};

/// Pairs of token sequences, read-only. Not copyable; moves are cheap and keep views valid.
class EncodedCorpus {
 public:
  /// Opens a cache file and verifies all of it. Throws DataError if it is missing or invalid.
  explicit EncodedCorpus(const std::filesystem::path& cache);
  /// From pairs in memory. Throws DataError for a token outside its vocabulary.
  EncodedCorpus(std::span<const std::pair<std::vector<int32_t>, std::vector<int32_t>>> pairs,
                const Vocabularies& vocabularies);

  int64_t size() const { return pairs_; }
  TokenView source(int64_t i) const { return view(sequences_ * i); }
  TokenView target(int64_t i) const { return view(sequences_ * i + 1); }
  /// SourceFeatures::encode of the source; only if the vocabularies have source features.
  TokenView features(int64_t i) const { return view(sequences_ * i + 2); }
  /// In tokens, without BOS and EOS.
  int64_t source_length(int64_t i) const { return length(sequences_ * i); }
  int64_t target_length(int64_t i) const { return length(sequences_ * i + 1); }
  /// Of all targets, with an EOS each: those of an epoch.
  int64_t target_tokens() const;
  /// Line number of pair i in the texts, from 1.
  int64_t line(int64_t i) const { return static_cast<int64_t>(lines_[static_cast<size_t>(i)]); }
  /// Places of pairs in the source text, by line: "corpora/train.de:12"; "line 12" if the pairs are
  /// not from files.
  std::vector<std::string> places(std::span<const int64_t> pairs) const;
  const Vocabularies& vocabularies() const { return vocabularies_; }
  /// Report on dropped pairs. The paths are only set by `load_corpus`.
  const CorpusReport& report() const { return report_; }
  /// Counts the unknown tokens of the pairs, which takes a pass over them.
  UnknownTokens unknown(Side side, const Tokenizer& tokenizer) const;
  /// Hash of the texts, tokenizers and options of the cache.
  uint64_t key() const { return key_; }

 private:
  friend EncodedCorpus load_corpus(const struct CorpusRequest& request);

  std::span<const std::byte> bytes() const;
  void index(const std::string& name);
  int64_t length(int64_t i) const {
    const auto at = static_cast<size_t>(i);
    return static_cast<int64_t>(offsets_[at + 1] - offsets_[at]);
  }
  TokenView view(int64_t i) const {
    return {tokens_ + offsets_[static_cast<size_t>(i)] * (wide_ ? 4 : 2), length(i), wide_};
  }

  std::variant<MappedFile, std::vector<uint64_t>> storage_;
  const std::byte* tokens_ = nullptr;
  std::span<const uint64_t> offsets_;
  std::span<const uint64_t> lines_;
  int64_t pairs_ = 0;
  int64_t sequences_ = 2;  // per pair
  bool wide_ = false;
  Vocabularies vocabularies_;
  CorpusReport report_;
  uint64_t key_ = 0;
};

/// Arguments of `load_corpus`.
struct CorpusRequest {
  std::filesystem::path source;
  std::filesystem::path target;
  /// The tag of each line; empty: that of the tokenizers' features.
  std::filesystem::path tags = {};
  Tokenizers tokenizers;
  /// Pairs with more tokens on either side, EOS included, are dropped; 0: no limit (validation
  /// text).
  int64_t max_length = 0;
  /// Directory of the cache file, created if missing.
  std::filesystem::path cache_directory;
  /// Number of threads; 0: all cores.
  int64_t threads = 0;
  Log log = {};
  /// Called with the number of pairs read so far while they are encoded, by the calling thread.
  std::function<void(int64_t)> progress = {};
};

/// Checks and encodes the texts, with the features of the tokenizers if any, or opens the cache of
/// an earlier call with the same texts, tokenizers and limit. An invalid cache is rebuilt. Logs the
/// report and the share of unknown tokens. Throws DataError like check_texts.
EncodedCorpus load_corpus(const CorpusRequest& request);

}  // namespace attn
