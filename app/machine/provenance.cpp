#include "app/machine/provenance.h"

#include <ctime>
#include <fstream>
#include <thread>

#include "app/machine/device.h"
#include "app/machine/version.h"
#include "kernels/cpu/instructions.h"
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

Json provenance(const Context& context) {
  Json run;
  run["command"] = context.command_line;
  run["started"] = now();
  run["version"] = version().attn;
  run["commit"] = version().commit;
  run["libtorch"] = version().libtorch;
  run["processor"] = first_value("/proc/cpuinfo", "model name");
  run["instructions"] = cpu::name_of(cpu::chosen_isa().isa);
  run["cores"] = std::thread::hardware_concurrency();
  run["threads"] = torch::get_num_threads();
  run["memory"] = first_value("/proc/meminfo", "MemTotal");
  run["device"] = context.device.str();
  return run;
}

}  // namespace attn
