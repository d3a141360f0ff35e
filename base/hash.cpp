#include "base/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/file.h"
#include "base/format.h"

namespace attn {
namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87ULL;
constexpr uint64_t prime2 = 0xC2B2AE3D27D4EB4FULL;
constexpr uint64_t prime3 = 0x165667B19E3779F9ULL;
constexpr uint64_t prime4 = 0x85EBCA77C2B2AE63ULL;
constexpr uint64_t prime5 = 0x27D4EB2F165667C5ULL;
constexpr size_t block = 32;

static_assert(std::endian::native == std::endian::little, "the hash is of little-endian numbers");

template <class T>
T read_le(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

uint64_t mix_lane(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * prime2, 31) * prime1;
}

void mix_block(std::array<uint64_t, 4>& lanes, const std::byte* from) {
  for (size_t i = 0; i < 4; ++i) {
    lanes[i] = mix_lane(lanes[i], read_le<uint64_t>(from + 8 * i));
  }
}

uint64_t merge_lane(uint64_t hash, uint64_t lane) {
  return (hash ^ mix_lane(0, lane)) * prime1 + prime4;
}

/// Processes the remaining bytes, less than a block, and the final avalanche.
uint64_t finish(uint64_t hash, std::span<const std::byte> rest) {
  const std::byte* at = rest.data();
  size_t left = rest.size();
  for (; left >= 8; at += 8, left -= 8) {
    hash = std::rotl(hash ^ mix_lane(0, read_le<uint64_t>(at)), 27) * prime1 + prime4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ read_le<uint32_t>(at) * prime1, 23) * prime2 + prime3;
    at += 4;
    left -= 4;
  }
  for (; left > 0; ++at, --left) {
    hash = std::rotl(hash ^ static_cast<uint64_t>(*at) * prime5, 11) * prime1;
  }
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

}  // namespace

Hasher::Hasher(uint64_t seed)
    : lanes_{seed + prime1 + prime2, seed + prime2, seed, seed - prime1}, pending_{}, seed_(seed) {}

void Hasher::update(std::span<const std::byte> bytes) {
  const size_t held = total_ % block;
  total_ += bytes.size();
  if (held > 0) {
    const size_t taken = std::min(block - held, bytes.size());
    std::copy_n(bytes.begin(), taken, pending_.begin() + held);
    bytes = bytes.subspan(taken);
    if (held + taken < block) return;
    mix_block(lanes_, pending_.data());
  }
  for (; bytes.size() >= block; bytes = bytes.subspan(block)) mix_block(lanes_, bytes.data());
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
}

void Hasher::update(uint64_t value) {
  std::array<std::byte, 8> bytes;
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
  update(bytes);
}

uint64_t Hasher::digest() const {
  uint64_t hash = seed_ + prime5;
  if (total_ >= block) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
           std::rotl(lanes_[3], 18);
    for (const uint64_t lane : lanes_) hash = merge_lane(hash, lane);
  }
  return finish(hash + total_, std::span(pending_).first(total_ % block));
}

uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t seed) {
  Hasher hasher(seed);
  hasher.update(bytes);
  return hasher.digest();
}

uint64_t hash_text(std::string_view text, uint64_t seed) {
  return hash_bytes(std::as_bytes(std::span(text)), seed);
}

uint64_t hash_file(const std::filesystem::path& path) {
  require_regular_file(path);
  Hasher hasher;  // in pieces: reading a map of a file that is truncated meanwhile is a signal
  read_pieces(path, std::numeric_limits<int64_t>::max(),
              [&](std::string_view piece) { hasher.update(piece); });
  return hasher.digest();
}

std::string to_hex(uint64_t value) {
  return format("%016llx", static_cast<unsigned long long>(value));
}

}  // namespace attn
