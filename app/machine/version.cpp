#include "app/machine/version.h"

#include <fstream>
#include <set>

#include "app/commit.h"  // generated
#include "base/format.h"

namespace attn {

const Version& version() {
  static constexpr Version version{
      .attn = ATTN_VERSION, .commit = ATTN_COMMIT, .libtorch = ATTN_TORCH_VERSION};
  return version;
}

std::string version_line() {
  const auto& [attn, commit, libtorch] = version();
  return std::string("attn ") + attn + " (" + commit + "), LibTorch " + libtorch;
}
namespace fs = std::filesystem;

std::string first_value(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::string gpu_models(const fs::path& driver) {
  std::set<std::string> models;
  std::error_code error;
  for (fs::directory_iterator it(driver, error), end; !error && it != end; it.increment(error)) {
    const std::string model = first_value(it->path() / "information", "Model");
    if (!model.empty()) models.insert(model);
  }
  return joined(models, ", ");
}

}  // namespace attn
