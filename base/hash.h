// A fast 64-bit content hash for cache keys and checksums; not cryptographic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace attn {

/// Streaming XXH64 (Collet 2014; xxHash specification 0.1.1), for pieces of any size.
class Hasher {
 public:
  explicit Hasher(uint64_t seed = 0);
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  /// Adds eight bytes, in little-endian order.
  void update(uint64_t value);
  /// Hash of everything added so far; more may follow.
  uint64_t digest() const;

 private:
  std::array<uint64_t, 4> lanes_;
  std::array<std::byte, 32> pending_;  // the first total_ % 32 bytes are in use
  uint64_t total_ = 0;
  uint64_t seed_;
};

/// XXH64 of one piece.
uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t seed = 0);
uint64_t hash_text(std::string_view text, uint64_t seed = 0);

/// XXH64 of a file's content. Throws DataError if it cannot be read.
uint64_t hash_file(const std::filesystem::path& path);

/// Sixteen lower-case hexadecimal digits.
std::string to_hex(uint64_t value);

}  // namespace attn
