#include "app/sweep/runner.h"

#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("jobs share the GPUs that the sweep was given, by number or by name") {
  CHECK(gpu_of_slot(0, 4, nullptr) == "0");
  CHECK(gpu_of_slot(5, 4, nullptr) == "1");
  CHECK(gpu_of_slot(0, 2, "3,5") == "3");
  CHECK(gpu_of_slot(1, 2, "3,5") == "5");
  CHECK(gpu_of_slot(2, 2, "3,5") == "3");
  CHECK(gpu_of_slot(1, 2, "GPU-0a1b, GPU-2c3d") == "GPU-2c3d");
  CHECK(gpu_of_slot(1, 2, "3,5,-1,7") == "5");  // what follows an unknown name isn't visible
  CHECK(gpu_of_slot(1, 2, "").empty());         // no GPU was given, so none is taken
}
