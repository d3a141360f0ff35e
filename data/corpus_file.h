// The cache file of an encoded corpus: a header, the tokens of all pairs (source, target and, with
// source features, those: source, target, features, source, …) and an index. Numbers are in native
// byte order, which the magic number identifies.
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "data/corpus_check.h"
#include "data/tokenizer.h"

namespace attn {

/// The first bytes of the file.
struct CorpusHeader {
  static constexpr uint64_t right_magic = 0x7370726f43747441;  // "AttCorps"
  static constexpr uint64_t right_version = 2;

  uint64_t magic = right_magic;
  uint64_t version = right_version;
  uint64_t key = 0;
  uint64_t pairs = 0;
  uint64_t tokens = 0;
  uint64_t token_bytes = 2;
  uint64_t source_size = 0;
  uint64_t target_size = 0;
  uint64_t source_eos = 0;
  uint64_t target_bos = 0;
  uint64_t target_eos = 0;
  uint64_t source_features = 0;
  uint64_t lines = 0;
  uint64_t max_length = 0;
  /// For each problem its count and its first places, as line × 2 + side; 0: no place.
  std::array<std::array<uint64_t, 1 + Dropped::max_places>, 3> dropped{};
  /// Hash of everything after the header.
  uint64_t body_hash = 0;
  /// Hash of the header up to here.
  uint64_t header_hash = 0;

  uint64_t hash() const;
  /// Sequences of a pair: two, or three with source features.
  uint64_t sequences() const { return source_features > 0 ? 3 : 2; }
  Vocabularies vocabularies() const;
  CorpusReport report() const;
  void set(const Vocabularies& vocabularies);
  void set(const CorpusReport& report);
};
static_assert(std::has_unique_object_representations_v<CorpusHeader>);

/// The sections of a verified file.
struct CorpusParts {
  CorpusHeader header;
  const std::byte* tokens;
  /// Start of each sequence and end of the last one, in tokens: sequences × pairs + 1
  /// numbers.
  std::span<const uint64_t> offsets;
  std::span<const uint64_t> lines;
};

/// Verifies the file: sizes, hashes, offsets, that each token is in its vocabulary, and that each
/// source token has features. Throws DataError starting with `name`.
CorpusParts parse_corpus(std::span<const std::byte> bytes, const std::string& name);

/// Writes a corpus pair by pair. The stream must be seekable; the caller checks it for errors.
class CorpusWriter {
 public:
  CorpusWriter(std::ostream& out, const Vocabularies& vocabularies, uint64_t key);
  /// `features`: SourceFeatures::encode, if the vocabularies have source features. Throws DataError
  /// for a token outside its vocabulary.
  void add(std::span<const int32_t> source, std::span<const int32_t> target, int64_t line,
           std::span<const int32_t> features = {});
  /// Writes index and header.
  void finish(const CorpusReport& report);

 private:
  void put(std::span<const std::byte> bytes);
  void put_tokens(std::span<const int32_t> tokens, uint64_t vocabulary);

  std::ostream& out_;
  CorpusHeader header_;
  Hasher body_;
  std::vector<uint32_t> lengths_;
  std::vector<uint64_t> lines_;
  std::vector<uint16_t> narrow_;  // scratch
};

}  // namespace attn
