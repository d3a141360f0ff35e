#include "app/machine/version.h"

#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;

TEST_CASE("the models of GPUs are named once each, as the driver names them") {
  const testing::TemporaryDirectory driver;
  const auto add = [&](const char* gpu, const std::string& text) {
    std::filesystem::create_directory(driver.path() / gpu);
    write_file_atomically(driver.path() / gpu / "information", text);
  };
  CHECK(gpu_models(driver.path()).empty());
  add("0000:00:06.0", "Model: \t\t NVIDIA H200\nIRQ:   \t\t 0\n");
  add("0000:00:07.0", "Model: \t\t NVIDIA H200\n");
  CHECK(gpu_models(driver.path()) == "NVIDIA H200");
  add("0000:00:08.0", "Model: \t\t NVIDIA A100\n");
  add("0000:00:09.0", "");
  CHECK(gpu_models(driver.path()) == "NVIDIA A100, NVIDIA H200");
  CHECK(gpu_models(driver.path() / "none").empty());
}
