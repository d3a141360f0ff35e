#include "kernels/cuda/cubins.h"

#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

namespace attn::cuda {
namespace {

namespace fs = std::filesystem;

std::string first_line(std::string_view cubin) {
  return "attn cubin " + std::to_string(cubin.size()) + " " + to_hex(hash_text(cubin)) + "\n";
}

std::optional<std::string> kept(const fs::path& path) {
  std::error_code missing;
  if (!fs::is_regular_file(path, missing)) return {};
  try {
    const std::string content = read_file(path);
    const size_t line = content.find('\n') + 1;
    const std::string cubin = content.substr(line);
    if (content.substr(0, line) == first_line(cubin)) return cubin;
  } catch (const DataError&) {
  }
  return {};
}

std::string key_of(const Nvrtc& nvrtc, const SourceText& source, const std::string& architecture) {
  const auto [major, minor] = nvrtc.version();
  std::string all = architecture + " " + std::to_string(major) + "." + std::to_string(minor) + "\n";
  for (const char* option : kNvrtcOptions) all += std::string(option) + "\n";
  for (const SourceText& header : sources()) {
    if (header.is_header()) all += header.text;
  }
  all += source.text;
  return to_hex(hash_text(all)) + to_hex(hash_text(all, /*seed=*/1));
}

}  // namespace

fs::path cubin_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  if (const fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) {
    return cache / "attn/kernels";
  }
  const fs::path home = variable("HOME");
  return home.is_absolute() ? home / ".cache/attn/kernels" : fs::path();
}

std::string cubin_of(const Nvrtc& nvrtc, const SourceText& source, const std::string& architecture,
                     const fs::path& folder) {
  const fs::path path = folder / (key_of(nvrtc, source, architecture) + ".cubin");
  if (!folder.empty()) {
    if (const auto cubin = kept(path)) return *cubin;
  }
  const std::string cubin = nvrtc.compile(source, architecture).cubin;
  if (folder.empty()) return cubin;
  try {
    make_directories(folder);
    write_file_atomically(path, first_line(cubin) + cubin);
  } catch (const DataError&) {  // compiled again by the next start
  }
  return cubin;
}

}  // namespace attn::cuda
