#include "base/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <stdexcept>

#include "base/check.h"
#include "base/hash.h"
#include "base/json_config.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr uint64_t header_limit = 1 << 24;  // 10,000 tensors have a tenth
constexpr std::string_view metadata_key = "__metadata__";

struct Dtype {
  std::string_view name;
  int64_t size;
};
/// In the order used for sorting by the reference implementation, whose files start with the last.
constexpr auto dtypes = std::to_array<Dtype>({{"BOOL", 1},
                                              {"U8", 1},
                                              {"F16", 2},
                                              {"BF16", 2},
                                              {"I32", 4},
                                              {"F32", 4},
                                              {"F64", 8},
                                              {"I64", 8}});

auto find_dtype(std::string_view name) {
  return std::find_if(dtypes.begin(), dtypes.end(), [&](const Dtype& d) { return d.name == name; });
}

/// Sets the number of bytes; returns false if it does not fit into 64 bits.
bool count_bytes(const std::vector<int64_t>& shape, int64_t element_size, int64_t& bytes) {
  bytes = element_size;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return false;
  }
  return true;
}

// ---- writing

void check_view(const TensorView& view) {
  int64_t bytes = 0;
  const bool sound = find_dtype(view.dtype) != dtypes.end() && view.name != metadata_key &&
                     count_bytes(view.shape, dtype_size(view.dtype), bytes) &&
                     bytes == static_cast<int64_t>(view.bytes.size());
  if (!sound) throw std::invalid_argument("write_safetensors: view '" + view.name + "' is broken");
}

std::vector<const TensorView*> in_file_order(std::span<const TensorView> tensors) {
  std::vector<const TensorView*> order;
  std::set<std::string_view> names;
  for (const TensorView& view : tensors) {
    check_view(view);
    if (!names.insert(view.name).second) {
      throw std::invalid_argument("write_safetensors: two tensors named '" + view.name + "'");
    }
    order.push_back(&view);
  }
  std::sort(order.begin(), order.end(), [](const TensorView* a, const TensorView* b) {
    const auto rank_a = find_dtype(a->dtype), rank_b = find_dtype(b->dtype);
    return rank_a != rank_b ? rank_a > rank_b : a->name < b->name;
  });
  return order;
}

/// The length of the header and the header, padded with spaces to a multiple of 8 bytes.
std::string make_header(const std::vector<const TensorView*>& order,
                        const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[std::string(metadata_key)] = metadata;
  int64_t offset = 0;
  for (const TensorView* view : order) {
    const int64_t end = offset + static_cast<int64_t>(view->bytes.size());
    header[view->name] = {
        {"dtype", view->dtype}, {"shape", view->shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

// ---- reading

/// An untrusted name, escaped for a one-line message.
std::string shown(const std::string& name) {
  return Json(name.substr(0, 80)).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string_view header_text(std::span<const std::byte> file) {
  uint64_t length = 0;
  if (file.size() >= sizeof length) {
    std::copy_n(file.begin(), sizeof length, reinterpret_cast<std::byte*>(&length));
  }
  require(length > 0 && length <= header_limit && length <= file.size() - sizeof length, "header",
          length, "is not the length of a header in " + std::to_string(file.size()) + " bytes");
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + sizeof length, length);
  require(text.starts_with('{'), "header", shown(std::string(text.substr(0, 80))),
          "must be an object");
  // Finding a key takes time by their number; each tensor has four.
  const auto keys = std::ranges::count(text, ':');
  require(keys <= 40'000, "header", keys, "must have at most 40000 keys");
  return text;
}

/// As `require`; prints the beginning of the value, and only if the check fails.
void require_of(bool ok, const std::string& place, const Json& value, std::string_view rule) {
  if (!ok) require(false, place, value.dump().substr(0, 60), rule);
}

const Json& field_of(const Json& entry, const char* key, const std::string& place) {
  const auto found = entry.find(key);
  require(found != entry.end(), place, key, "is missing");
  return *found;
}

std::vector<int64_t> read_sizes(const Json& json, const std::string& place) {
  std::vector<int64_t> sizes;
  read_config(sizes, json, place);
  const bool integers = std::all_of(json.begin(), json.end(),
                                    [](const Json& size) { return size.is_number_integer(); });
  require_of(integers, place, json, "must be integers");
  return sizes;
}

TensorView read_entry(const std::string& name, const Json& json, std::span<const std::byte> data) {
  const std::string place = "tensor " + shown(name);
  const Json& shape = field_of(json, "shape", place);
  const Json& data_offsets = field_of(json, "data_offsets", place);
  TensorView view{name, {}, read_sizes(shape, place + ".shape"), {}};
  read_config(view.dtype, field_of(json, "dtype", place), place + ".dtype");
  const int64_t size = dtype_size(view.dtype);
  require(size > 0, place + ".dtype", shown(view.dtype),
          "is not one of F32, F64, BF16, F16, I64, I32, U8, BOOL");
  const auto offsets = read_sizes(data_offsets, place + ".data_offsets");
  require_of(offsets.size() == 2 && offsets[0] >= 0 && offsets[0] <= offsets[1] &&
                 offsets[1] <= std::ssize(data),
             place + ".data_offsets", data_offsets,
             "must be a begin and an end in " + std::to_string(data.size()) + " bytes");
  int64_t bytes = 0;
  require_of(count_bytes(view.shape, size, bytes) && bytes == offsets[1] - offsets[0],
             place + ".shape", shape, "does not fit its bytes");
  view.bytes = data.subspan(static_cast<size_t>(offsets[0]), static_cast<size_t>(bytes));
  return view;
}

/// The data must be covered from its first byte to its last, without gaps or overlaps.
void check_coverage(const std::vector<TensorView>& tensors, std::span<const std::byte> data) {
  std::vector<std::span<const std::byte>> pieces;
  for (const TensorView& view : tensors) pieces.push_back(view.bytes);
  std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
    return a.data() != b.data() ? a.data() < b.data() : a.size() < b.size();
  });
  pieces.push_back(data.last(0));
  const std::byte* next = data.data();
  for (const auto& piece : pieces) {
    require(piece.data() == next, "tensors", tensors.size(),
            "must cover all bytes, without gaps and overlaps");
    next = piece.data() + piece.size();
  }
}

}  // namespace

int64_t dtype_size(std::string_view dtype) {
  const auto found = find_dtype(dtype);
  return found == dtypes.end() ? 0 : found->size;
}

std::string checksum_of(std::span<const TensorView> sorted) {
  Hasher hasher;
  for (const TensorView& view : sorted) {
    hasher.update(view.name);
    hasher.update(view.bytes);
  }
  return to_hex(hasher.digest());
}

void write_safetensors(const fs::path& path, std::span<const TensorView> tensors,
                       const std::map<std::string, std::string>& metadata) {
  const auto order = in_file_order(tensors);
  NewFile file(path);
  file.stream() << make_header(order, metadata);
  for (const TensorView* view : order) {
    file.stream().write(reinterpret_cast<const char*>(view->bytes.data()), std::ssize(view->bytes));
  }
  file.commit();
}

SafetensorsFile::SafetensorsFile(const fs::path& path) : path_(path), file_(path) {
  try {
    const std::string_view text = header_text(file_.bytes());
    const auto data = file_.bytes().subspan(sizeof(uint64_t) + text.size());
    const Json header = parse_json(text, "header");
    for (const auto& [name, entry] : header.items()) {
      if (name == metadata_key) {
        read_config(metadata_, entry, name);
      } else {
        tensors_.push_back(read_entry(name, entry, data));
      }
    }
    check_coverage(tensors_, data);
  } catch (const ConfigError& error) {
    throw DataError("cannot use '" + path.string() + "': " + error.what() +
                    "; it is truncated, damaged or not a safetensors file");
  }
  std::sort(tensors_.begin(), tensors_.end(),
            [](const TensorView& a, const TensorView& b) { return a.name < b.name; });
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const TensorView& view, std::string_view n) { return view.name < n; });
  return found == tensors_.end() || found->name != name ? nullptr : &*found;
}

void SafetensorsFile::require_checksum() const {
  const auto stored = metadata_.find(kChecksum);
  if (stored == metadata_.end() || stored->second == checksum_of(tensors_)) return;
  throw DataError(path_.string() + ": its tensors do not have the checksum " + kChecksum +
                  " of its metadata; the file is damaged: use another checkpoint (RUN@STEP); "
                  "attn train --resume goes back to the one before");
}

const TensorView& SafetensorsFile::at(std::string_view name) const {
  if (const TensorView* found = find(name)) return *found;
  throw DataError("'" + path_.string() + "' has no tensor '" + std::string(name) + "'");
}

}  // namespace attn
