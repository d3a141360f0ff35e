// kernels/cuda/driver.h and cubins.h on the stub of tests/support/cuda_stub.cpp; and, where NVRTC
// is installed, what it makes of the sources.
#include "kernels/cuda/driver.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/file.h"
#include "kernels/cuda/gpu_kernels.h"
#include "tests/kernels/cuda/emulated.h"
#include "tests/support/skip.h"
#include "tests/support/source_dir.h"
#include "tests/support/temporary_directory.h"

using namespace attn;

extern "C" int cuda_stub_compilations();

namespace {

constexpr int kSources = 4;

std::vector<float> doubled_by(const cuda::Launcher& launcher) {
  testing::DeviceBuffer in(std::vector<float>{1, 2, 3, 4, 5}, false), out(5, false);
  cuda::drop_elements(
      {&launcher, nullptr},
      {.in = in.numbers(), .added = in.numbers(), .out = out.numbers(), .count = 5});
  return out.values();
}

struct Stub {
  cuda::Driver driver{ATTN_CUDA_STUB};
  cuda::Nvrtc nvrtc{ATTN_CUDA_STUB};
};

}  // namespace

TEST_CASE("kernels are compiled once, and again if what was kept of them is damaged") {
  const Stub stub;
  const testing::TemporaryDirectory directory;
  const auto folder = directory.path() / "attn/kernels";
  const auto compilations_of = [&](const std::filesystem::path& from) {
    const int before = cuda_stub_compilations();
    CHECK(doubled_by(cuda::GpuLauncher(stub.driver, stub.nvrtc, 0, from)) ==
          std::vector<float>{2, 4, 6, 8, 10});
    return cuda_stub_compilations() - before;
  };
  CHECK(compilations_of(folder) == kSources);
  CHECK(compilations_of(folder) == 0);
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) files.push_back(file.path());
  REQUIRE(files.size() == kSources);
  std::filesystem::resize_file(files[0], std::filesystem::file_size(files[0]) - 1);
  std::filesystem::resize_file(files[1], 0);
  std::string content = read_file(files[2]);
  content.back() ^= 1;
  write_file_atomically(files[2], content);
  write_file_atomically(files[3], "another file");
  CHECK(compilations_of(folder) == kSources);
  CHECK(compilations_of(folder) == 0);
  CHECK(compilations_of("") == kSources);
  write_file_atomically(directory.path() / "file", "");
  CHECK(compilations_of(directory.path() / "file/kernels") == kSources);
}

TEST_CASE("what a driver or compiler refuses is an error") {
  const Stub stub;
  CHECK_THROWS_AS(cuda::Driver("libattn-missing.so"), cuda::CudaError);
  CHECK_THROWS_AS(cuda::Nvrtc("libattn-missing.so"), cuda::CudaError);
  void (*missing)() = nullptr;
  CHECK_THROWS_AS(cuda::Library(ATTN_CUDA_STUB).find(missing, "cuMissing"), cuda::CudaError);
  const cuda::SourceText broken{"broken.cu", "#error"};
  CHECK_THROWS_WITH(stub.nvrtc.compile(broken, "sm_90"), "broken.cu for sm_90: an error");
  const cuda::GpuLauncher launcher(stub.driver, stub.nvrtc, 0, "");
  CHECK_THROWS_WITH(launcher.launch({"other", 1, 32, nullptr}, nullptr), "no kernel other");
  CHECK_THROWS_WITH(launcher.launch({"dropout_elements", 1, 33, nullptr}, nullptr),
                    "dropout_elements: CUDA_ERROR_OF_THE_STUB");
}

TEST_CASE("a GPU's kernels are off unless they are asked for, and missing without a GPU") {
  CHECK(gpu_kernels(0) == nullptr);
  CHECK(gpu_kernels_missing(0).empty());
}

TEST_CASE("NVRTC compiles every kernel for four architectures, without spills") {
  const char* path = std::getenv("ATTN_NVRTC");
  if (!testing::machine_has(path != nullptr && *path != '\0', "NVRTC (ATTN_NVRTC)")) return;
  const cuda::Nvrtc nvrtc = cuda::Nvrtc::find();
  const auto [major, minor] = nvrtc.version();
  std::ostringstream table;
  table << "NVRTC " << major << "." << minor << "\n";
  std::set<std::string> functions;
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100", "sm_120"}) {
    for (const cuda::SourceText& source : cuda::sources()) {
      if (source.is_header()) continue;
      std::istringstream log(nvrtc.compile(source, architecture).log);
      std::string function;
      for (std::string line; std::getline(log, line);) {
        if (const size_t at = line.find("entry function '"); at != line.npos) {
          const size_t begin = at + std::strlen("entry function '");
          function = line.substr(begin, line.find('\'', begin) - begin);
          functions.insert(function);
        } else if (line.find("bytes stack frame") != line.npos) {
          CAPTURE(function, architecture, line);
          CHECK_THAT(line, testing::contains("0 bytes stack frame, 0 bytes spill stores, 0 bytes"));
        } else if (const size_t used = line.find("Used "); used != line.npos) {
          table << architecture << " " << function << " "
                << std::atoi(line.c_str() + used + std::strlen("Used ")) << "\n";
        }
      }
    }
  }
  std::set<std::string> emulated;
  for (const char* const* name = attn_emulated_functions(); *name != nullptr; ++name) {
    emulated.insert(*name);
  }
  CHECK(functions == emulated);
  // Registers depend on the compiler's version: those of another one are only printed.
  const auto file = std::filesystem::path(testing::kSourceDir) / "tests/kernels/data/registers.txt";
  const std::string expected = read_file(file);
  if (expected.substr(0, expected.find('\n')) == table.str().substr(0, table.str().find('\n'))) {
    CHECK(table.str() == expected);
  } else {
    WARN("another compiler than in " << file.filename().string() << "\n" << table.str());
  }
}
