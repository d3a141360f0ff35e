#include "app/export/array.h"

#include <algorithm>
#include <stdexcept>

namespace attn {
namespace {

void require_shape(bool ok) {
  if (!ok) throw std::invalid_argument("export: arrays of different shapes");
}

int64_t elements_of(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (const int64_t size : shape) product *= size;
  return product;
}

}  // namespace

Array zeros(std::vector<int64_t> shape) {
  Array out{std::move(shape), {}};
  out.values.resize(static_cast<size_t>(elements_of(out.shape)));
  return out;
}

Array stacked(std::span<const Array> parts) {
  Array out{parts.front().shape, {}};
  out.shape[0] = 0;
  for (const Array& part : parts) {
    require_shape(part.columns() == out.columns() && part.shape.size() == out.shape.size());
    out.shape[0] += part.rows();
    out.values.insert(out.values.end(), part.values.begin(), part.values.end());
  }
  return out;
}

Array reordered_rows(const Array& array, std::span<const int64_t> order) {
  Array out{array.shape, {}};
  out.shape[0] = static_cast<int64_t>(order.size());
  out.values.reserve(order.size() * static_cast<size_t>(array.columns()));
  for (const int64_t row : order) {
    require_shape(row < array.rows());
    const auto start = array.values.begin() + row * array.columns();
    out.values.insert(out.values.end(), start, start + array.columns());
  }
  return out;
}

Array reordered_columns(const Array& array, std::span<const int64_t> order) {
  Array out = zeros({array.rows(), static_cast<int64_t>(order.size())});
  float* next = out.values.data();
  for (int64_t row = 0; row < array.rows(); ++row) {
    for (const int64_t column : order) {
      require_shape(column < array.columns());
      *next++ = array.values[static_cast<size_t>(row * array.columns() + column)];
    }
  }
  return out;
}

Array with_rows(const Array& array, int64_t rows) {
  require_shape(rows >= array.rows());
  Array out = array;
  out.shape[0] = rows;
  out.values.resize(static_cast<size_t>(elements_of(out.shape)));
  return out;
}

Array padded_head_rows(const Array& array, int64_t heads, int64_t width) {
  const int64_t narrow = array.rows() / heads, columns = array.columns();
  require_shape(narrow * heads == array.rows() && narrow <= width);
  std::vector<int64_t> shape = array.shape;
  shape[0] = heads * width;
  Array out = zeros(std::move(shape));
  for (int64_t head = 0; head < heads; ++head) {
    std::copy_n(array.values.begin() + head * narrow * columns, narrow * columns,
                out.values.begin() + head * width * columns);
  }
  return out;
}

Array padded_head_columns(const Array& array, int64_t heads, int64_t width) {
  const int64_t narrow = array.columns() / heads;
  require_shape(narrow * heads == array.columns() && narrow <= width);
  Array out = zeros({array.rows(), heads * width});
  for (int64_t part = 0; part < array.rows() * heads; ++part) {
    std::copy_n(array.values.begin() + part * narrow, narrow, out.values.begin() + part * width);
  }
  return out;
}

Array scaled(Array array, double factor) {
  for (float& value : array.values) value = static_cast<float>(value * factor);
  return array;
}

}  // namespace attn
