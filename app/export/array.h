// Float32 arrays and the few rearrangements that other programs' layouts need.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attn {

/// Row-major. One dimension: a bias or a norm's parameter, whose elements count as rows of width 1.
struct Array {
  std::vector<int64_t> shape;
  std::vector<float> values;

  int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  int64_t columns() const { return shape.size() < 2 ? 1 : shape[1]; }
  bool operator==(const Array&) const = default;
};

Array zeros(std::vector<int64_t> shape);

/// The rows of all arrays, one below the other. Their columns must be equal.
Array stacked(std::span<const Array> parts);

/// Row i of the result is row order[i]; one dimension: element i is element order[i].
Array reordered_rows(const Array& array, std::span<const int64_t> order);
/// Column j of the result is column order[j].
Array reordered_columns(const Array& array, std::span<const int64_t> order);

/// Zero rows appended up to `rows`.
Array with_rows(const Array& array, int64_t rows);

/// The rows of `heads` heads, each padded with zero rows to `width`. Queries and keys (or values)
/// so padded have the same products.
Array padded_head_rows(const Array& array, int64_t heads, int64_t width);
/// The same for columns: those of the output projection, which the heads' values multiply.
Array padded_head_columns(const Array& array, int64_t heads, int64_t width);

Array scaled(Array array, double factor);

}  // namespace attn
