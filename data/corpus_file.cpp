#include "data/corpus_file.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace attn {
namespace {

/// Rounded up to align the index that follows.
uint64_t token_section_bytes(const CorpusHeader& header) {
  return (header.tokens * header.token_bytes + 7) / 8 * 8;
}

/// Whether the sizes match the file, checked without overflow: no count may exceed the file size.
bool sizes_fit(const CorpusHeader& header, uint64_t file_bytes) {
  if (header.token_bytes != 2 && header.token_bytes != 4) return false;
  if (header.pairs > file_bytes / 24 || header.tokens > file_bytes / header.token_bytes)
    return false;
  return file_bytes == sizeof(CorpusHeader) + token_section_bytes(header) +
                           8 * (header.sequences() * header.pairs + 1) + 8 * header.pairs;
}

/// Whether special tokens are in their vocabularies and ids fit into a token.
bool vocabularies_fit(const CorpusHeader& header) {
  const uint64_t max = header.token_bytes == 2 ? uint64_t{1} << 16 : uint64_t{1} << 31;
  return header.source_size <= max && header.target_size <= max && header.source_features < max &&
         header.source_eos < header.source_size && header.target_bos < header.target_size &&
         header.target_eos < header.target_size;
}

bool offsets_rise(std::span<const uint64_t> offsets, uint64_t tokens) {
  if (offsets.front() != 0 || offsets.back() != tokens) return false;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    if (offsets[i] > offsets[i + 1]) return false;
    if (offsets[i + 1] - offsets[i] > std::numeric_limits<int32_t>::max()) return false;
  }
  return true;
}

/// Whether all tokens are in their vocabularies. The maximum of all tokens often suffices, which is
/// faster.
template <class Token>
bool tokens_fit(const Token* tokens, const CorpusParts& parts) {
  // A negative token is a large unsigned one.
  using Unsigned = std::make_unsigned_t<Token>;
  const auto max_token = [&](uint64_t begin, uint64_t end) {
    Unsigned largest = 0;
    for (uint64_t i = begin; i < end; ++i) {
      largest = std::max(largest, static_cast<Unsigned>(tokens[i]));
    }
    return uint64_t{largest};
  };
  const CorpusHeader& header = parts.header;
  const std::array<uint64_t, 3> limits = {header.source_size, header.target_size,
                                          header.source_features + 1};
  const uint64_t smallest =
      *std::min_element(limits.begin(), limits.begin() + static_cast<int64_t>(header.sequences()));
  if (header.tokens == 0 || max_token(0, header.tokens) < smallest) return true;
  for (size_t i = 0; i + 1 < parts.offsets.size(); ++i) {
    const uint64_t limit = limits[i % header.sequences()];
    if (parts.offsets[i] == parts.offsets[i + 1]) continue;
    if (max_token(parts.offsets[i], parts.offsets[i + 1]) >= limit) return false;
  }
  return true;
}

/// Whether the features of each pair have an end mark for each source token and for EOS.
template <class Token>
bool features_fit(const Token* tokens, const CorpusParts& parts) {
  if (parts.header.source_features == 0) return true;
  const auto offsets = parts.offsets;
  for (size_t i = 0; i + 3 < offsets.size(); i += 3) {
    const Token *begin = tokens + offsets[i + 2], *end = tokens + offsets[i + 3];
    const auto marks = static_cast<uint64_t>(std::count(begin, end, Token{0}));
    if (begin == end || *(end - 1) != 0 || marks != offsets[i + 1] - offsets[i] + 1) return false;
  }
  return true;
}

/// Whether the numbers of dropped pairs fit the number of lines.
bool report_fits(const CorpusHeader& header) {
  uint64_t left = header.lines;
  for (const auto& one : header.dropped) {  // the number, then the first places
    if (one[0] > left) return false;
    left -= one[0];
  }
  return header.lines <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& items) {
  return std::as_bytes(std::span(items));
}

}  // namespace

uint64_t CorpusHeader::hash() const {
  return hash_bytes(std::as_bytes(std::span(this, 1)).first(offsetof(CorpusHeader, header_hash)));
}

Vocabularies CorpusHeader::vocabularies() const {
  return {static_cast<int64_t>(source_size), static_cast<int64_t>(target_size),
          static_cast<int64_t>(source_eos),  static_cast<int64_t>(target_bos),
          static_cast<int64_t>(target_eos),  static_cast<int64_t>(source_features)};
}

void CorpusHeader::set(const Vocabularies& vocabularies) {
  source_size = static_cast<uint64_t>(vocabularies.source_size);
  target_size = static_cast<uint64_t>(vocabularies.target_size);
  source_eos = static_cast<uint64_t>(vocabularies.source_eos);
  target_bos = static_cast<uint64_t>(vocabularies.target_bos);
  target_eos = static_cast<uint64_t>(vocabularies.target_eos);
  source_features = static_cast<uint64_t>(vocabularies.source_features);
  token_bytes =
      std::max({source_size, target_size, source_features + 1}) <= uint64_t{1} << 16 ? 2 : 4;
}

CorpusReport CorpusHeader::report() const {
  CorpusReport report;
  report.lines = static_cast<int64_t>(lines);
  report.max_length = static_cast<int64_t>(max_length);
  for (size_t i = 0; i < dropped.size(); ++i) {
    report.dropped[i].count = static_cast<int64_t>(dropped[i][0]);
    for (size_t k = 1; k < dropped[i].size() && dropped[i][k] != 0; ++k) {
      const Side side = dropped[i][k] % 2 == 0 ? Side::source : Side::target;
      report.dropped[i].first.push_back({static_cast<int64_t>(dropped[i][k] / 2), side});
    }
  }
  return report;
}

void CorpusHeader::set(const CorpusReport& report) {
  lines = static_cast<uint64_t>(report.lines);
  max_length = static_cast<uint64_t>(report.max_length);
  for (size_t i = 0; i < dropped.size(); ++i) {
    const Dropped& from = report.dropped[i];
    dropped[i] = {static_cast<uint64_t>(from.count)};
    for (size_t k = 0; k < from.first.size(); ++k) {
      dropped[i][k + 1] = static_cast<uint64_t>(from.first[k].line) * 2 +
                          (from.first[k].side == Side::source ? 0 : 1);
    }
  }
}

CorpusParts parse_corpus(std::span<const std::byte> bytes, const std::string& name) {
  const auto check = [&](bool ok, const char* what) {
    if (!ok) throw DataError(name + ": " + what);
  };
  CorpusParts parts{};
  CorpusHeader& header = parts.header;
  check(bytes.size() >= sizeof header, "not a corpus cache, or truncated");
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
  check(header.magic == CorpusHeader::right_magic, "not a corpus cache, or different byte order");
  check(header.version == CorpusHeader::right_version, "corpus cache of a different version");
  check(header.header_hash == header.hash(), "corrupt corpus cache (header)");
  check(sizes_fit(header, bytes.size()), "truncated corpus cache");
  check(report_fits(header), "corrupt corpus cache (dropped pairs)");
  check(vocabularies_fit(header), "corrupt corpus cache (vocabularies)");
  check(header.body_hash == hash_bytes(bytes.subspan(sizeof header)),
        "corrupt corpus cache (content)");
  parts.tokens = bytes.data() + sizeof header;
  const auto* index = reinterpret_cast<const uint64_t*>(parts.tokens + token_section_bytes(header));
  parts.offsets = {index, header.sequences() * header.pairs + 1};
  parts.lines = {index + parts.offsets.size(), header.pairs};
  check(offsets_rise(parts.offsets, header.tokens), "corrupt corpus cache (index)");
  const auto check_tokens = [&](const auto* tokens) {
    check(tokens_fit(tokens, parts), "corrupt corpus cache (tokens outside the vocabulary)");
    check(features_fit(tokens, parts), "corrupt corpus cache (features)");
  };
  if (header.token_bytes == 2) {
    check_tokens(reinterpret_cast<const uint16_t*>(parts.tokens));
  } else {
    check_tokens(reinterpret_cast<const int32_t*>(parts.tokens));
  }
  return parts;
}

CorpusWriter::CorpusWriter(std::ostream& out, const Vocabularies& vocabularies, uint64_t key)
    : out_(out) {
  header_.set(vocabularies);
  header_.key = key;
  const std::array<char, sizeof header_> room{};  // overwritten by `finish`
  out_.write(room.data(), room.size());
}

void CorpusWriter::put(std::span<const std::byte> bytes) {
  body_.update(bytes);
  out_.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void CorpusWriter::put_tokens(std::span<const int32_t> tokens, uint64_t vocabulary) {
  for (const int32_t token : tokens) {
    if (token >= 0 && static_cast<uint64_t>(token) < vocabulary) continue;
    throw DataError("token " + std::to_string(token) + " is outside its vocabulary of " +
                    std::to_string(vocabulary));
  }
  if (header_.token_bytes == 2) {
    narrow_.assign(tokens.begin(), tokens.end());
    put(bytes_of(narrow_));
  } else {
    put(std::as_bytes(tokens));
  }
  header_.tokens += tokens.size();
  lengths_.push_back(static_cast<uint32_t>(tokens.size()));
}

void CorpusWriter::add(std::span<const int32_t> source, std::span<const int32_t> target,
                       int64_t line, std::span<const int32_t> features) {
  put_tokens(source, header_.source_size);
  put_tokens(target, header_.target_size);
  if (header_.source_features > 0) put_tokens(features, header_.source_features + 1);
  lines_.push_back(static_cast<uint64_t>(line));
  ++header_.pairs;
}

void CorpusWriter::finish(const CorpusReport& report) {
  const std::vector<std::byte> gap(token_section_bytes(header_) -
                                   header_.tokens * header_.token_bytes);
  put(gap);
  uint64_t offset = 0;
  put(std::as_bytes(std::span(&offset, 1)));
  for (const uint32_t length : lengths_) {
    offset += length;
    put(std::as_bytes(std::span(&offset, 1)));
  }
  put(bytes_of(lines_));
  header_.set(report);
  header_.body_hash = body_.digest();
  header_.header_hash = header_.hash();
  out_.seekp(0);
  out_.write(reinterpret_cast<const char*>(&header_), sizeof header_);
}

}  // namespace attn
