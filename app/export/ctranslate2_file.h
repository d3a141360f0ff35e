// The file model.bin of CTranslate2, binary version 6.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/export/array.h"

namespace attn {

/// Variables and aliases by name. Names have at most 65,534 bytes and variables less than 4 GiB.
class Ctranslate2File {
 public:
  void add(const std::string& name, const Array& array);
  /// A matrix as 8-bit integers with a scale for each row, round(127 w / max|w|), as CTranslate2
  /// quantizes it: `name` and `name`_scale.
  void add_int8(const std::string& name, const Array& matrix);
  // Scalars, of the types that the options of CTranslate2 have.
  void add_scalar(const std::string& name, int8_t value);
  void add_scalar(const std::string& name, int16_t value);
  void add_scalar(const std::string& name, int32_t value);
  void add_scalar(const std::string& name, float value);
  /// `name` is another name of `variable`, and so is its scale, if it has one.
  void add_alias(const std::string& name, const std::string& variable);

  /// Throws DataError if the file cannot be written.
  void write(const std::filesystem::path& path) const;

 private:
  // In the order of CTranslate2's codes.
  enum class Type : uint8_t { float32, int8, int16, int32 };
  struct Variable {
    std::vector<int64_t> shape;
    Type type;
    std::string bytes;
  };
  template <class T>
  void add_bytes(const std::string& name, std::vector<int64_t> shape, Type type,
                 const std::vector<T>& values);

  std::map<std::string, Variable> variables_;
  std::map<std::string, std::string> aliases_;
};

}  // namespace attn
