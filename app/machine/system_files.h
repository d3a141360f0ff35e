// What the system's files say about the machine.
#pragma once

#include <filesystem>
#include <string>

namespace attn {

/// The value of the first line "key: value" of a file such as /proc/cpuinfo; "" if there is none.
std::string first_value(const std::filesystem::path& file, const std::string& key);

/// The different models of the machine's GPUs, such as "NVIDIA H200", from the folder of the NVIDIA
/// driver with a folder per GPU; "" if there is none.
std::string gpu_models(const std::filesystem::path& driver);

}  // namespace attn
