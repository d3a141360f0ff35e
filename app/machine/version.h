// What a run records of its origin: the program's version, and facts of the machine.
#pragma once

#include <filesystem>
#include <string>

namespace attn {

/// The program's version, its commit ("+changes": with uncommitted ones) and LibTorch's version.
struct Version {
  const char* attn;
  const char* commit;
  const char* libtorch;
};
const Version& version();

/// "attn 0.1.0 (commit), LibTorch 2.13.0".
std::string version_line();

inline constexpr int kMaxThreads = 4096;  ///< limit of --threads

/// The value of the first line "key: value" of a file such as /proc/cpuinfo; "" if there is none.
std::string first_value(const std::filesystem::path& file, const std::string& key);

/// The different models of the machine's GPUs, such as "NVIDIA H200", from the folder of the NVIDIA
/// driver with a folder per GPU; "" if there is none.
std::string gpu_models(const std::filesystem::path& driver);

}  // namespace attn
