#include "base/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <fstream>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/json_patch.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr uint64_t header_limit = 100'000'000;  // as in the reference implementation
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

void write_parts(const fs::path& path, const std::string& header,
                 const std::vector<const TensorView*>& order) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  const bool created = file.is_open();
  file << header;
  for (const TensorView* view : order) {
    file.write(reinterpret_cast<const char*>(view->bytes.data()), std::ssize(view->bytes));
  }
  file.close();
  if (file) return;
  const int why = errno;
  std::error_code ignored;
  if (created) fs::remove(path, ignored);
  throw_file_error("write", path, why);
}

// ---- reading

/// Why the file is invalid, without its name.
struct Broken {
  std::string reason;
};

/// An untrusted name, escaped for a one-line message.
std::string shown(const std::string& name) {
  return Json(name.substr(0, 80)).dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json parse_header(std::string_view text) {
  // Finding a key takes time by their number; each tensor has four.
  constexpr int64_t kMostKeys = 40'000;
  if (std::ranges::count(text, ':') > kMostKeys) {
    throw Broken{"its header has more than 40000 keys: it is damaged or not a safetensors file"};
  }
  try {
    return parse_json(text, "its header");
  } catch (const ConfigError& error) {
    throw Broken{std::string(error.what()) + ": it is damaged or not a safetensors file"};
  }
}

std::string_view header_text(std::span<const std::byte> file) {
  const std::string size = std::to_string(file.size());
  uint64_t length = 0;
  if (file.size() < sizeof length) {
    throw Broken{"it has only " + size + " bytes: it is truncated or not a safetensors file"};
  }
  std::copy_n(file.begin(), sizeof length, reinterpret_cast<std::byte*>(&length));
  if (length > header_limit) {
    throw Broken{"it claims a header of " + std::to_string(length) +
                 " bytes: it is damaged or not a safetensors file"};
  }
  if (length > file.size() - sizeof length) {
    throw Broken{"it claims a header of " + std::to_string(length) + " bytes but has " + size +
                 " in all: it is truncated or not a safetensors file"};
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + sizeof length, length);
  if (!text.starts_with('{')) throw Broken{"its header does not begin with '{'"};
  return text;
}

std::map<std::string, std::string> read_metadata(const Json& json) {
  if (!json.is_object()) throw Broken{"its __metadata__ is not an object"};
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) throw Broken{"its __metadata__ " + shown(key) + " is not a string"};
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

std::vector<int64_t> read_sizes(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) {
    throw Broken{std::string("its ") + key + " is missing or not an array"};
  }
  std::vector<int64_t> sizes;
  for (const auto& item : *found) {
    constexpr auto max = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (!item.is_number_unsigned() || item.get<uint64_t>() > max) {
      throw Broken{std::string("its ") + key + " is not made of sizes"};
    }
    sizes.push_back(item.get<int64_t>());
  }
  return sizes;
}

TensorView read_entry(const std::string& name, const Json& entry, std::span<const std::byte> data) {
  if (!entry.is_object()) throw Broken{"its description is not an object"};
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) throw Broken{"its dtype is missing"};
  TensorView view{name, dtype->get<std::string>(), read_sizes(entry, "shape"), {}};
  if (dtype_size(view.dtype) == 0) {
    throw Broken{"its dtype " + shown(view.dtype) +
                 " is not one of F32, F64, BF16, F16, I64, I32, U8, BOOL"};
  }
  const auto offsets = read_sizes(entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw Broken{"its data_offsets are not a begin and an end"};
  }
  if (offsets[1] > static_cast<int64_t>(data.size())) {
    throw Broken{"its data ends at byte " + std::to_string(offsets[1]) + " of " +
                 std::to_string(data.size()) + ": the file is truncated"};
  }
  int64_t bytes = 0;
  if (!count_bytes(view.shape, dtype_size(view.dtype), bytes) || bytes != offsets[1] - offsets[0]) {
    throw Broken{"its shape does not fit its " + std::to_string(offsets[1] - offsets[0]) +
                 " bytes"};
  }
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
  const std::byte* next = data.data();
  for (const auto& piece : pieces) {
    if (piece.data() < next) throw Broken{"its tensors overlap"};
    if (piece.data() > next) throw Broken{"there is a gap between its tensors"};
    next = piece.data() + piece.size();
  }
  const auto rest = data.data() + data.size() - next;
  if (rest != 0) throw Broken{"it has " + std::to_string(rest) + " bytes after its last tensor"};
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
  write_parts(path, make_header(order, metadata), order);
}

SafetensorsFile::SafetensorsFile(const fs::path& path) : path_(path), file_(path) {
  std::string place;
  try {
    const std::string_view text = header_text(file_.bytes());
    const auto data = file_.bytes().subspan(sizeof(uint64_t) + text.size());
    const Json header = parse_header(text);
    for (const auto& [name, entry] : header.items()) {
      if (name == metadata_key) {
        metadata_ = read_metadata(entry);
      } else {
        place = "tensor " + shown(name) + ": ";
        tensors_.push_back(read_entry(name, entry, data));
        place.clear();
      }
    }
    check_coverage(tensors_, data);
  } catch (const Broken& broken) {
    throw DataError("cannot use '" + path.string() + "': " + place + broken.reason);
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
