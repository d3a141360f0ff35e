#include "kernels/fast_path.h"

#include <cstdlib>
#include <set>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/kernels.h"

using namespace attn;

TEST_CASE("every fast path computes its formulas as they are read: see tools/formulas") {
  std::set<FastPath> known;
  for (const Formula& formula : formulas()) {
    CAPTURE(enum_name(formula.path), formula.name, formula.place);
    CHECK(formula.followed);
    known.insert(formula.path);
  }
  CHECK(known.size() == EnumNames<FastPath>::values.size());
  for (const FastPath path : known) CHECK(follows_formulas(path));
  CHECK(paths_run_as_read().empty());
}

TEST_CASE("the environment decides on fast paths where the config does not") {
  const char* before = std::getenv("ATTN_KERNELS");
  const std::string kept = before != nullptr ? before : "";
  setenv("ATTN_KERNELS", "strict", 1);
  {
    const testing::KernelUse automatic(Kernels::automatic);
    CHECK(kernels_in_use() == Kernels::strict);
    const testing::KernelUse off(Kernels::off);
    CHECK(kernels_in_use() == Kernels::off);
  }
  setenv("ATTN_KERNELS", "fast", 1);
  CHECK_THROWS_WITH(use_kernels(Kernels::automatic),
                    "ATTN_KERNELS: fast: expected auto, strict or off");
  setenv("ATTN_KERNELS", kept.c_str(), 1);
  use_kernels(Kernels::automatic);
}
