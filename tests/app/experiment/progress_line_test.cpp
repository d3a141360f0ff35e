#include "app/experiment/progress_line.h"

#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("progress has a rate, and the time left if the total is known") {
  CHECK(progress_text("translating", "sentences", 100, {.count = 400}, 50) ==
        "translating  100/400 sentences  2.0/s  2 min 30 s left");
  CHECK(progress_text("translating", "sentences", 100, {.count = 400, .estimated = true}, 50) ==
        "translating  100/~400 sentences  2.0/s  2 min 30 s left");
  CHECK(progress_text("translating", "sentences", 1000, {}, 5) ==
        "translating  1000 sentences  200/s");
  CHECK(progress_text("translating", "sentences", 100, {.count = 99}, 50) ==
        "translating  100 sentences  2.0/s");
  CHECK(progress_text("averaging", "", 0, {}, 12) == "averaging  12 s");
}
