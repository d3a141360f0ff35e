#include "app/experiment/progress_line.h"

#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("progress has a rate, and the time left if the total is known") {
  const auto text = [](int64_t total, int64_t done, double seconds) {
    return progress_text({.what = "translating", .unit = "sentences", .total = total}, done,
                         seconds);
  };
  CHECK(text(400, 100, 50) == "translating  100/400 sentences  2.0/s  2 min 30 s left");
  CHECK(text(0, 1000, 5) == "translating  1000 sentences  200/s");
  CHECK(text(99, 100, 50) == "translating  100 sentences  2.0/s");
  CHECK(text(0, 0, 12) == "translating  12 s");
}
