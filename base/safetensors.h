// The safetensors format: named arrays in one file that Python's safetensors reads and writes. 8
// bytes of header length (little-endian), a JSON header, and the arrays' bytes, one after the other
// without gaps.
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

/// One array, row-major and little-endian; `bytes` belongs to somebody else.
struct TensorView {
  std::string name;
  std::string dtype;           ///< F32 F64 BF16 F16 I64 I32 U8 BOOL
  std::vector<int64_t> shape;  ///< empty: a scalar
  std::span<const std::byte> bytes;
};

/// The bytes of one element of a dtype, 0 for one that is not supported.
int64_t dtype_size(std::string_view dtype);

/// Writes the file straight under its name (inside an AtomicDirectory, which syncs and renames):
/// the header is padded to 8 bytes and the tensors are ordered by element size, then by name, as
/// Python's safetensors orders them, so that each starts at a multiple of its element size. Throws
/// DataError when the file cannot be written (with the system's reason; what was written is
/// removed), std::invalid_argument for views that contradict themselves.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const std::map<std::string, std::string>& metadata = {});

/// A file of tensors, memory-mapped: nothing is read until it is looked at. All claims of the
/// header are checked before any is believed.
class SafetensorsFile {
 public:
  /// Throws DataError naming the file and what is wrong with it.
  explicit SafetensorsFile(const std::filesystem::path& path);

  /// Sorted by name. The views live as long as this object; a foreign file need not align them to
  /// their elements.
  const std::vector<TensorView>& tensors() const { return tensors_; }
  /// Null when there is none of that name.
  const TensorView* find(std::string_view name) const;
  /// Throws DataError when there is none of that name.
  const TensorView& at(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  std::filesystem::path path_;
  MappedFile file_;
  std::vector<TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace attn
