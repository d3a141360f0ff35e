#include "base/check.h"

#include <limits>

#include "base/enum_names.h"
#include "tests/support/catch.h"

using namespace attn;

namespace {

enum class Side { left, right };

}  // namespace

template <>
struct attn::EnumNames<Side> {
  static constexpr auto values =
      std::to_array<EnumName<Side>>({{Side::left, "left"}, {Side::right, "right"}});
};

TEST_CASE("a value outside of its range is an error that names the range") {
  CHECK_NOTHROW(require_between("width", 1, 1, 3));
  CHECK_NOTHROW(require_between("width", 3, 1, 3));
  CHECK_THROWS_WITH(require_between("width", 4, 1, 3), "width: 4: must be from 1 to 3");
  CHECK_THROWS_WITH(require_between("width", int64_t{-1}, 0, 1 << 20),
                    "width: -1: must be from 0 to 1048576");
  CHECK_THROWS_WITH(require_between("rate", 2.5, 0, 1), "rate: 2.5: must be from 0 to 1");
  CHECK_THROWS_AS(require_between("rate", std::numeric_limits<double>::quiet_NaN(), 0, 1),
                  ConfigError);
}

TEST_CASE("a value of an enum is found by its name") {
  CHECK(enum_named<Side>("right") == Side::right);
  CHECK(!enum_named<Side>("Right"));
  CHECK(!enum_named<Side>(""));
}
