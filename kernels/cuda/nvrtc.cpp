#include "kernels/cuda/nvrtc.h"

#include <dlfcn.h>
#ifdef __linux__
#include <link.h>
#endif

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace attn::cuda {
namespace {

namespace fs = std::filesystem;

// Folders that may hold it: LibTorch's own, and those of the wheels installed beside LibTorch's.
std::vector<fs::path> folders_beside_libtorch() {
  fs::path libtorch;
#ifdef __linux__
  const auto look = [](dl_phdr_info* info, size_t, void* found) {
    const fs::path path(info->dlpi_name);
    if (path.filename() == "libc10.so") *static_cast<fs::path*>(found) = path.parent_path();
    return 0;
  };
  ::dl_iterate_phdr(look, &libtorch);
#endif
  if (libtorch.empty()) return {};
  std::vector<fs::path> folders{libtorch};
  std::error_code missing;
  for (const auto& wheel : fs::directory_iterator(libtorch / "../../nvidia", missing)) {
    folders.push_back(wheel.path() / "lib");
  }
  return folders;
}

// A file of the folder whose name begins so; empty if there is none.
fs::path file_beginning(const fs::path& folder, const std::string& begin) {
  std::error_code missing;
  fs::path last;  // of several versions
  for (const auto& file : fs::directory_iterator(folder, missing)) {
    if (file.path().filename().string().starts_with(begin)) last = std::max(last, file.path());
  }
  return last;
}

// The compiler loads its second library from the loader's path alone, unless it is loaded.
std::string with_builtins(const std::string& path) {
  const fs::path builtins = file_beginning(fs::path(path).parent_path(), "libnvrtc-builtins.so");
  if (!builtins.empty()) ::dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL);
  return path;
}

}  // namespace

Nvrtc Nvrtc::find() {
  const char* chosen = std::getenv("ATTN_NVRTC");
  if (chosen != nullptr && *chosen != '\0') return Nvrtc(chosen);
  for (const fs::path& folder : folders_beside_libtorch()) {
    const fs::path found = file_beginning(folder, "libnvrtc.so");
    if (!found.empty()) return Nvrtc(found.string());
  }
  for (const char* soname : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    if (void* found = ::dlopen(soname, RTLD_NOW | RTLD_LOCAL)) {
      ::dlclose(found);
      return Nvrtc(soname);
    }
  }
  throw CudaError("no libnvrtc beside LibTorch or in the loader's path");
}

Nvrtc::Nvrtc(const std::string& path) : library_(with_builtins(path)) {
  library_.find(get_version_, "nvrtcVersion");
  library_.find(create_, "nvrtcCreateProgram");
  library_.find(destroy_, "nvrtcDestroyProgram");
  library_.find(compile_, "nvrtcCompileProgram");
  library_.find(cubin_size_, "nvrtcGetCUBINSize");
  library_.find(cubin_, "nvrtcGetCUBIN");
  library_.find(log_size_, "nvrtcGetProgramLogSize");
  library_.find(log_, "nvrtcGetProgramLog");
  library_.find(error_string_, "nvrtcGetErrorString");
  check(get_version_(&version_.first, &version_.second), "nvrtcVersion");
}

void Nvrtc::check(int result, const char* what) const {
  if (result != 0) throw CudaError(std::string(what) + ": " + error_string_(result));
}

Compiled Nvrtc::compile(const SourceText& source, const std::string& architecture) const {
  std::vector<const char*> names, texts;
  for (const SourceText& header : sources()) {
    if (!header.is_header()) continue;
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  Program program = nullptr;
  check(create_(&program, source.text, source.name, static_cast<int>(names.size()), texts.data(),
                names.data()),
        "nvrtcCreateProgram");
  const std::string target = "-arch=" + architecture;
  std::vector<const char*> options(kNvrtcOptions.begin(), kNvrtcOptions.end());
  options.push_back(target.c_str());
  const int result = compile_(program, static_cast<int>(options.size()), options.data());
  const auto text_of = [&](auto size_of, auto copy) {
    size_t size = 0;
    std::string text;
    if (size_of(program, &size) == 0) text.resize(size);
    if (!text.empty() && copy(program, text.data()) != 0) text.clear();
    return text;
  };
  Compiled out{.cubin = result == 0 ? text_of(cubin_size_, cubin_) : "",
               .log = text_of(log_size_, log_)};
  destroy_(&program);
  if (result != 0 || out.cubin.empty()) {
    throw CudaError(std::string(source.name) + " for " + architecture + ": " +
                    out.log.substr(0, out.log.find('\n')));
  }
  return out;
}

}  // namespace attn::cuda
