#include "data/sentencepiece_check.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"

namespace attn {
namespace {

/// Reads the fields of one Protocol Buffers message.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  struct Field {
    uint64_t number;
    std::string_view bytes;  // content of a string, byte string or message; else empty
  };

  bool done() const { return rest_.empty(); }

  /// The next field; std::nullopt if the bytes are not a valid field.
  std::optional<Field> next() {
    const auto tag = varint();
    if (!tag || *tag >> 3 == 0) return {};
    Field field{*tag >> 3, {}};
    std::optional<uint64_t> size;
    switch (*tag & 7) {
      case 0:
        return varint() ? std::optional(field) : std::nullopt;
      case 1:
        size = 8;
        break;
      case 2:
        size = varint();
        break;
      case 5:
        size = 4;
        break;
      default:
        return {};
    }
    if (!size || *size > rest_.size()) return {};
    if ((*tag & 7) == 2) field.bytes = rest_.substr(0, *size);
    rest_.remove_prefix(*size);
    return field;
  }

 private:
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return {};
  }

  std::string_view rest_;
};

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

/// The table is field 2 of NormalizerSpec.
bool normalizer_is_sound(std::string_view description) {
  for (Message message(description); !message.done();) {
    const auto field = message.next();
    if (!field || (field->number == 2 && !table_is_sound(field->bytes))) return false;
  }
  return true;
}

}  // namespace

void check_sentencepiece_bytes(std::string_view bytes, const std::string& name) {
  // Fields of ModelProto: 1 pieces, 2 trainer_spec, 3 normalizer_spec, 5 denormalizer_spec.
  bool has_pieces = false;
  bool has_training = false;
  bool has_normalizer = false;
  for (Message model(bytes); !model.done();) {
    const auto field = model.next();
    if (!field) throw DataError(name + ": not a SentencePiece model, or truncated");
    has_pieces = has_pieces || field->number == 1;
    has_training = has_training || field->number == 2;
    has_normalizer = has_normalizer || field->number == 3;
    if ((field->number == 3 || field->number == 5) && !normalizer_is_sound(field->bytes)) {
      throw DataError(name + ": the normalization table of the SentencePiece model is corrupt");
    }
  }
  if (!has_pieces || !has_training || !has_normalizer) {
    throw DataError(name + ": not a SentencePiece model, or truncated");
  }
}

}  // namespace attn
