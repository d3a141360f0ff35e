// The safetensors format: 8 bytes with the length of the header (little-endian), a JSON header, and
// the bytes of the tensors without gaps. Compatible with Python's safetensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace attn {

/// A non-owning view of a tensor, row-major and little-endian.
struct TensorView {
  std::string name;
  std::string dtype;           ///< F32 F64 BF16 F16 I64 I32 U8 BOOL
  std::vector<int64_t> shape;  ///< empty: a scalar
  std::span<const std::byte> bytes;
};

/// Key in the metadata of the checksum of a file's tensors.
inline constexpr const char* kChecksum = "xxh64";
/// The checksum: XXH64 of the names and bytes of tensors that are sorted by name.
std::string checksum_of(std::span<const TensorView> sorted);

/// Bytes per element of a dtype; 0 for unsupported dtypes.
int64_t dtype_size(std::string_view dtype);

/// Writes a NewFile. As in Python's safetensors, the header is padded to 8 bytes and the tensors
/// are sorted by element size, then by name, so that each is aligned. Throws DataError if the file
/// cannot be written and std::invalid_argument for inconsistent views.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const std::map<std::string, std::string>& metadata = {});

/// A memory-mapped file. The header is fully validated before use.
class SafetensorsFile {
 public:
  /// Throws DataError for an invalid file.
  explicit SafetensorsFile(const std::filesystem::path& path);

  /// Sorted by name, valid as long as this object; not necessarily aligned.
  const std::vector<TensorView>& tensors() const { return tensors_; }
  /// The tensor of this name; null if there is none.
  const TensorView* find(std::string_view name) const;
  /// The tensor of this name. Throws DataError if there is none.
  const TensorView& at(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Reads all tensors. Throws DataError if they do not have the checksum of the metadata; files of
  /// other programs have none.
  void require_checksum() const;

 private:
  std::filesystem::path path_;
  MappedFile file_;
  std::vector<TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace attn
