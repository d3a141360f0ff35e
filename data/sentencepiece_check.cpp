// The library trusts the offsets of a model's normalization table, and reads outside of it when it
// encodes; and a file truncated between two pieces still loads.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/error.h"
#include "data/sentencepiece.h"

namespace attn {
namespace {

using Fields = std::multimap<uint64_t, std::string_view>;

std::optional<uint64_t> take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return {};
}

/// The strings and messages among the fields of a Protocol Buffers message, by number; std::nullopt
/// if the bytes are not a message.
std::optional<Fields> fields_of(std::string_view bytes) {
  enum WireType { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };
  Fields fields;
  while (!bytes.empty()) {
    const auto tag = take_varint(bytes);
    if (!tag || *tag >> 3 == 0) return {};
    const uint64_t type = *tag & 7;
    std::optional<uint64_t> size;
    if (type == varint && take_varint(bytes)) size = 0;
    if (type == fixed32) size = 4;
    if (type == fixed64) size = 8;
    if (type == length_delimited) size = take_varint(bytes);
    if (!size || *size > bytes.size()) return {};
    if (type == length_delimited) fields.emplace(*tag >> 3, bytes.substr(0, *size));
    bytes.remove_prefix(*size);
  }
  return fields;
}

uint32_t read_u32(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Whether every path through a double-array trie (darts-clone layout) stays in bounds. A unit has
/// its label in bits 0 to 7 and 31, the has-leaf flag in bit 8 and the offset of its children in
/// bits 9 to 30; a leaf has the offset of its string.
bool trie_is_sound(std::string_view units, size_t string_bytes) {
  const size_t count = units.size() / 4;
  if (count == 0 || units.size() % 4 != 0) return false;
  const auto unit = [&](size_t i) { return read_u32(units, 4 * i); };
  const auto offset = [](uint32_t u) { return size_t{u >> 10} << ((u & 0x200u) >> 6); };
  std::vector<bool> seen(count);
  std::vector<size_t> open{offset(unit(0))};
  while (!open.empty()) {
    const size_t base = open.back();
    open.pop_back();
    if ((base | 0xff) >= count) return false;
    if (seen[base]) continue;
    seen[base] = true;
    for (size_t letter = 0; letter < 256; ++letter) {  // text may contain null characters
      const size_t at = base ^ letter;
      const uint32_t child = unit(at);
      if ((child & 0x800000ffu) != letter) continue;
      const size_t next = at ^ offset(child);
      if (next >= count) return false;
      if ((child & 0x100u) != 0 && (unit(next) & 0x7fffffffu) >= string_bytes) return false;
      open.push_back(next);
    }
  }
  return true;
}

/// A normalization table: the size of the trie, the trie, and its null-terminated strings.
bool table_is_sound(std::string_view table) {
  constexpr size_t max_bytes = size_t{1} << 24;  // the largest known table has 250 kB
  if (table.empty()) return true;
  if (table.size() < 4 || table.size() > max_bytes || table.back() != '\0') return false;
  const size_t trie_bytes = read_u32(table, 0);
  table.remove_prefix(4);
  if (trie_bytes >= table.size()) return false;
  return trie_is_sound(table.substr(0, trie_bytes), table.size() - trie_bytes);
}

}  // namespace

void check_sentencepiece_bytes(std::string_view bytes, const std::string& name) {
  constexpr uint64_t pieces = 1, trainer = 2, normalizer = 3, denormalizer = 5, table = 2;
  const auto model = fields_of(bytes);
  if (!model || !model->contains(pieces) || !model->contains(trainer) ||
      !model->contains(normalizer)) {
    throw DataError(name + ": not a SentencePiece model, or truncated");
  }
  for (const auto& [number, content] : *model) {
    if (number != normalizer && number != denormalizer) continue;
    const auto fields = fields_of(content);
    const auto is_corrupt = [](const auto& field) {
      return field.first == table && !table_is_sound(field.second);
    };
    if (!fields || std::ranges::any_of(*fields, is_corrupt)) {
      throw DataError(name + ": the normalization table of the SentencePiece model is corrupt");
    }
  }
}

}  // namespace attn
