// The safetensors format against files written by Python's safetensors
// (tools/goldens/safetensors_golden.py), and with corrupt files.
#include "base/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/random.h"
#include "tests/support/catch.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/source_dir.h"
#include "tests/support/temporary_directory.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using testing::contains;
using testing::FileSizeLimit;
using testing::TemporaryDirectory;

const fs::path golden = fs::path(testing::kSourceDir) / "tests/base/data/every_dtype.safetensors";

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <class T>
std::vector<T> values_of(const TensorView& view) {
  std::vector<T> values(view.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), view.bytes.data(), view.bytes.size());
  return values;
}

std::string with_length(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

/// What reading a file of this content complains of; empty when it is accepted.
std::string complaint(const TemporaryDirectory& folder, std::string_view content) {
  folder.write("f", std::string(content));
  try {
    const SafetensorsFile file(folder / "f");
    size_t sum = 0;
    for (const auto& view : file.tensors()) {
      for (const std::byte byte : view.bytes) sum += static_cast<size_t>(byte);
    }
    return sum == std::numeric_limits<size_t>::max() ? "never" : "";
  } catch (const DataError& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.find((folder / "f").string()) != std::string::npos);
    return message;
  }
}

/// The golden file's tensors, made here.
struct GoldenTensors {
  std::vector<float> weight = {-1.0F, -0.75F, -0.5F, -0.25F, 0.0F, 0.25F}, a = {-1.5F, 2.0F};
  std::vector<float> scalar = {42.0F};
  std::vector<double> f64 = {0.1, -1e300};
  std::vector<uint16_t> bf16 = {0x3f80, 0xc020, 0x4040}, f16 = {0x3c00, 0xc100, 0x7bff};
  std::vector<int64_t> i64 = {std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max()};
  std::vector<int32_t> i32 = {-1, 7};
  std::vector<uint8_t> u8 = {0, 255, 3}, one = {1}, boolean = {1, 0, 1};

  std::vector<TensorView> views() const {
    return {{"u8", "U8", {3}, bytes_of(u8)},
            {"encoder.layers.0.weight", "F32", {2, 3}, bytes_of(weight)},
            {"scalar", "F32", {}, bytes_of(scalar)},
            {"nothing", "F32", {0, 5}, {}},
            {"a", "F32", {2}, bytes_of(a)},
            {"f64", "F64", {2}, bytes_of(f64)},
            {"bf16", "BF16", {3}, bytes_of(bf16)},
            {"f16", "F16", {3}, bytes_of(f16)},
            {"i64", "I64", {2}, bytes_of(i64)},
            {"i32", "I32", {2}, bytes_of(i32)},
            {"bool", "BOOL", {3}, bytes_of(boolean)},
            {"\xc3\xbcmlaut \"quoted\"", "U8", {1}, bytes_of(one)}};
  }
};

}  // namespace

TEST_CASE("files of Python's safetensors are read, aligned and sorted by name") {
  const SafetensorsFile file(golden);
  CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}});
  const GoldenTensors expected;
  REQUIRE(file.tensors().size() == expected.views().size());
  SafetensorsFile first(golden);
  const SafetensorsFile moved(std::move(first));  // keeps its views
  for (const TensorView& view : expected.views()) {
    const TensorView& found = moved.at(view.name);
    CHECK(found.dtype == view.dtype);
    CHECK(found.shape == view.shape);
    CHECK(values_of<uint8_t>(found) == values_of<uint8_t>(view));
    const auto address = reinterpret_cast<uintptr_t>(found.bytes.data());
    CHECK(address % static_cast<uintptr_t>(dtype_size(found.dtype)) == 0);
  }
  CHECK(std::ranges::is_sorted(file.tensors(), {}, &TensorView::name));
  CHECK(file.find("b") == nullptr);
  CHECK_THROWS_WITH(file.at("b"), contains("has no tensor 'b'"));
  CHECK(SafetensorsFile(golden.parent_path() / "empty.safetensors").tensors().empty());
}

TEST_CASE("our files equal Python's byte for byte") {
  const TemporaryDirectory folder;
  write_safetensors(folder / "f", GoldenTensors().views(), {{"format", "pt"}});
  CHECK(read_file(folder / "f") == read_file(golden));
  const std::map<std::string, std::string> metadata = {{"step", "500"}, {"a \"q\"", "\n\xc3\xa4"}};
  write_safetensors(folder / "f", GoldenTensors().views(), metadata);
  CHECK(SafetensorsFile(folder / "f").metadata() == metadata);
  write_safetensors(folder / "empty", {});
  CHECK(read_file(folder / "empty") == read_file(golden.parent_path() / "empty.safetensors"));
}

TEST_CASE("every truncation of a file is noticed") {
  const TemporaryDirectory folder;
  const std::string whole = read_file(golden);
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string message = complaint(folder, std::string_view(whole).substr(0, size));
    REQUIRE(message.find("truncated") != std::string::npos);
  }
  CHECK_THAT(complaint(folder, whole + "x"), contains("must cover all bytes"));
}

TEST_CASE("damage to any bit of the header and random bytes in it are survived") {
  const TemporaryDirectory folder;
  const std::string whole = read_file(golden);
  const size_t header = whole.size() - 95;
  int refused = 0;
  for (size_t bit = 0; bit < 8 * header; bit += 3) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    refused += !complaint(folder, damaged).empty();
  }
  CHECK(refused > 1000);  // a flip in a name or in the metadata makes another valid file
  const std::string words = "{}[]\",:0123456789-e. \\u0000tf";
  Random random(17);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole;
    for (uint64_t n = random.below(6); n-- > 0;) {
      damaged[8 + random.below(whole.size() - 103)] = words[random.below(words.size())];
    }
    if (damaged != whole) complaint(folder, damaged);
  }
}

TEST_CASE("a file that is no safetensors file is rejected with the reason") {
  const TemporaryDirectory folder;
  const auto says = [&](const std::string& content, const std::string& reason) {
    INFO(reason);
    const std::string message = complaint(folder, content);
    CHECK_THAT(message, contains(reason));
  };
  says("", "header: 0: is not the length of a header in 0 bytes");
  says("PK\3\4 this is another archive", "not a safetensors file");
  says(std::string(8, '\xff') + "{}", "header: 18446744073709551615: is not the length");
  says(with_length(""), "header: 0: is not the length");
  says(with_length("[]"), "header: \"[]\": must be an object");
  says(with_length(" {}"), "header: \" {}\": must be an object");
  says(with_length("{" + std::string(40'001, ':')), "header: 40001: must have at most 40000 keys");
  says(with_length("{\"a\":"), "not JSON");
  says(with_length("{} {}"), "not JSON");
  says(with_length("{\"\xff\":1}"), "not JSON");
  says(with_length("{\"a\":" + std::string(1000000, '[')), "nested deeper");
  says(with_length("{\"__metadata__\":3}"), "__metadata__: expected an object");
  says(with_length("{\"__metadata__\":{\"x\":3}}"), "__metadata__.x: expected a string");
  says(with_length("{\"__metadata__\":{\"x\":\"1\",\"x\":\"2\"}}"), "duplicate key \"x\"");
}

TEST_CASE("a tensor that contradicts the file is rejected with its name") {
  const TemporaryDirectory folder;
  const auto entry = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  const auto says = [&](const std::string& tensor, const std::string& reason) {
    INFO(tensor);
    const std::string message =
        complaint(folder, with_length("{\"w\\n\":" + tensor + "}", "12345678"));
    CHECK_THAT(message, contains("tensor \"w\\n\"") && contains(reason));
  };
  CHECK(complaint(folder, with_length("{\"w\":" + entry("F32", "[2]", "[0,8]") + "}", "12345678"))
            .empty());
  CHECK(complaint(folder,
                  with_length(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})",
                              "12345678"))
            .empty());
  says("3", ": shape: is missing");
  says(R"({"dtype":"F32","data_offsets":[0,4]})", ": shape: is missing");
  says(R"({"dtype":"F32","shape":[2]})", ": data_offsets: is missing");
  says(R"({"shape":[2],"data_offsets":[0,8]})", ": dtype: is missing");
  says(entry("F8", "[8]", "[0,8]"), ".dtype: \"F8\": is not one of");
  says(entry("F32", "2", "[0,8]"), ".shape: expected an array");
  says(entry("F32", "[\"2\"]", "[0,8]"), ".shape[0]: expected an integer");
  says(entry("F32", "[2.0]", "[0,8]"), ".shape: [2.0]: must be integers");
  says(entry("F32", "[9223372036854775808]", "[0,8]"), ".shape[0]: expected an integer");
  for (const char* shape : {"[3]", "[-2]", "[4294967296,4294967296]", "[4611686018427387906]"}) {
    says(entry("F32", shape, "[0,8]"), std::string(".shape: ") + shape + ": does not fit");
  }
  for (const char* offsets :
       {"[0,8,8]", "[8,0]", "[-8,0]", "[0,12]", "[9223372036854775799,9223372036854775807]"}) {
    says(entry("F32", "[2]", offsets), std::string(".data_offsets: ") + offsets + ": must be");
  }
}

TEST_CASE("tensors cover the data without gaps and overlaps") {
  const TemporaryDirectory folder;
  // Of one byte each.
  const auto of = [&](int64_t first, int64_t end, const char* second = "b") {
    const auto entry = [](const std::string& name, int64_t begin, int64_t last) {
      return "\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(last - begin) +
             "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(last) + "]}";
    };
    return complaint(
        folder,
        with_length("{" + entry(second, first, end) + "," + entry("a", 0, 4) + "}", "12345678"));
  };
  CHECK(of(4, 8).empty());
  for (const auto& [begin, end] : {std::pair(3, 7), {5, 8}, {4, 7}, {0, 3}}) {
    CHECK_THAT(of(begin, end), contains("must cover all bytes"));
  }
  CHECK_THAT(of(4, 8, "a"), contains("duplicate key \"a\""));
}

TEST_CASE("a file that cannot be written is an error and leaves nothing behind") {
  const TemporaryDirectory folder;
  const std::vector<float> large(100000);
  const std::vector<TensorView> views = {{"w", "F32", {100000}, bytes_of(large)}};
  {
    const FileSizeLimit full(5000);
    CHECK_THROWS_WITH(write_safetensors(folder / "f", views), contains("f': File too large"));
  }
  CHECK(fs::is_empty(folder.path()));
  CHECK_THROWS_WITH(write_safetensors(folder / "none/f", views), contains("No such file"));
  CHECK_THROWS_WITH(SafetensorsFile(folder / "f"), contains("No such file or directory"));
}

TEST_CASE("views that contradict themselves are not written") {
  const TemporaryDirectory folder;
  const std::vector<float> values(4);
  const auto refuse = [&](const std::vector<TensorView>& views) {
    CHECK_THROWS_AS(write_safetensors(folder / "f", views), std::invalid_argument);
    CHECK_FALSE(fs::exists(folder / "f"));
  };
  refuse({{"w", "F32", {5}, bytes_of(values)}});
  refuse({{"w", "F31", {4}, bytes_of(values)}});
  refuse({{"w", "F32", {-2, -2}, bytes_of(values)}});
  refuse({{"__metadata__", "F32", {4}, bytes_of(values)}});
  refuse({{"w", "F32", {4}, bytes_of(values)}, {"w", "F32", {2, 2}, bytes_of(values)}});
}

}  // namespace attn
