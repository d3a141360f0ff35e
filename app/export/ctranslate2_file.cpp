#include "app/export/ctranslate2_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

#include "base/error.h"

namespace attn {
namespace {

static_assert(std::endian::native == std::endian::little, "model.bin is little-endian");

constexpr uint32_t kBinaryVersion = 6;
constexpr uint32_t kTransformerRevision = 7;

template <class T>
void put_number(std::ostream& out, T value) {
  out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_string(std::ostream& out, const std::string& text) {
  put_number(out, static_cast<uint16_t>(text.size() + 1));
  out.write(text.c_str(), static_cast<std::streamsize>(text.size() + 1));
}

}  // namespace

template <class T>
void Ctranslate2File::add_bytes(const std::string& name, std::vector<int64_t> shape, Type type,
                                const std::vector<T>& values) {
  if (values.size() > std::numeric_limits<uint32_t>::max() / sizeof(T)) {
    throw DataError(name + ": has 4 GiB or more, which CTranslate2's format cannot hold");
  }
  variables_[name] = {
      std::move(shape), type,
      std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}

void Ctranslate2File::add(const std::string& name, const Array& array) {
  add_bytes(name, array.shape, Type::float32, array.values);
}

void Ctranslate2File::add_int8(const std::string& name, const Array& matrix) {
  std::vector<int8_t> rounded(matrix.values.size());
  std::vector<float> scales(static_cast<size_t>(matrix.rows()));
  for (size_t row = 0; row < scales.size(); ++row) {
    const size_t columns = static_cast<size_t>(matrix.columns());
    const float* values = matrix.values.data() + row * columns;
    float largest = 0.0F;
    for (size_t i = 0; i < columns; ++i) largest = std::max(largest, std::abs(values[i]));
    scales[row] = largest > 0.0F ? 127.0F / largest : 1.0F;
    for (size_t i = 0; i < columns; ++i) {
      rounded[row * columns + i] = static_cast<int8_t>(std::nearbyint(values[i] * scales[row]));
    }
  }
  add_bytes(name, matrix.shape, Type::int8, rounded);
  add_bytes(name + "_scale", {matrix.rows()}, Type::float32, scales);
}

void Ctranslate2File::add_scalar(const std::string& name, int8_t value) {
  add_bytes(name, {}, Type::int8, std::vector{value});
}

void Ctranslate2File::add_scalar(const std::string& name, int16_t value) {
  add_bytes(name, {}, Type::int16, std::vector{value});
}

void Ctranslate2File::add_scalar(const std::string& name, int32_t value) {
  add_bytes(name, {}, Type::int32, std::vector{value});
}

void Ctranslate2File::add_scalar(const std::string& name, float value) {
  add_bytes(name, {}, Type::float32, std::vector{value});
}

void Ctranslate2File::add_alias(const std::string& name, const std::string& variable) {
  aliases_[name] = variable;
  if (variables_.contains(variable + "_scale")) aliases_[name + "_scale"] = variable + "_scale";
}

void Ctranslate2File::write(const std::filesystem::path& path) const {
  std::ofstream out(path, std::ios::binary);
  put_number(out, kBinaryVersion);
  put_string(out, "TransformerSpec");
  put_number(out, kTransformerRevision);
  put_number(out, static_cast<uint32_t>(variables_.size()));
  for (const auto& [name, variable] : variables_) {
    put_string(out, name);
    put_number(out, static_cast<uint8_t>(variable.shape.size()));
    for (const int64_t size : variable.shape) put_number(out, static_cast<uint32_t>(size));
    put_number(out, variable.type);
    put_number(out, static_cast<uint32_t>(variable.bytes.size()));
    out.write(variable.bytes.data(), static_cast<std::streamsize>(variable.bytes.size()));
  }
  put_number(out, static_cast<uint32_t>(aliases_.size()));
  for (const auto& [name, variable] : aliases_) {
    put_string(out, name);
    put_string(out, variable);
  }
  errno = 0;
  out.close();
  if (!out) throw_file_error("write", path, errno);
}

}  // namespace attn
