#include "app/machine/provenance.h"

#include <torch/version.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "app/commit.h"  // generated at every build
#include "kernels/libtorch.h"

namespace attn {
namespace {

std::string first_value(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return buffer;
}

}  // namespace

std::string version_line() {
  return std::string("attn ") + ATTN_VERSION + " (" + ATTN_COMMIT + "), LibTorch " + TORCH_VERSION;
}

Json provenance(const Context& context) {
  Json run;
  run["command"] = context.command_line;
  run["started"] = now();
  run["version"] = ATTN_VERSION;
  run["commit"] = ATTN_COMMIT;
  run["libtorch"] = TORCH_VERSION;
  run["processor"] = first_value("/proc/cpuinfo", "model name");
  run["cores"] = std::thread::hardware_concurrency();
  run["threads"] = torch::get_num_threads();
  run["memory"] = first_value("/proc/meminfo", "MemTotal");
  run["device"] = context.device.str();
  return run;
}

}  // namespace attn
