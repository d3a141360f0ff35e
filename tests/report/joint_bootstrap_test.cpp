#include "report/joint_bootstrap.h"

#include "base/error.h"
#include "tests/report/sentences.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::sentences;

namespace {

JointDifference joint(const SystemStatistics& base, const SystemStatistics& system,
                      const BootstrapOptions& options = {}) {
  const std::vector<SystemStatistics> systems(1, system);
  return joint_bootstrap(base, systems, {}, options).front();
}

}  // namespace

TEST_CASE("identical outputs do not differ, and clearly better ones do") {
  const SystemStatistics base = {sentences(200), sentences(204)};
  CHECK(joint({sentences(200)}, {sentences(200)}).p_value == 1.0);
  CHECK(joint(base, base).p_value > 0.5);
  const JointDifference better = joint(base, {sentences(300), sentences(296)});
  CHECK(better.p_value < 0.01);
  CHECK(better.interval.low > 0);
  const JointDifference worse = joint({sentences(300), sentences(296)}, base);
  CHECK(worse.p_value < 0.01);
  CHECK(worse.interval.high < 0);
}

TEST_CASE("seeds that vary as much as the difference take its significance back") {
  const SystemStatistics row = {sentences(250), sentences(250)};
  CHECK(joint({sentences(200)}, row).p_value < 0.05);
  const SystemStatistics spread = {sentences(120), sentences(280)};
  CHECK(joint(spread, row).p_value > 0.05);
  const auto width = [](const Interval& interval) { return interval.high - interval.low; };
  CHECK(width(joint(spread, row).interval) > 2 * width(joint({sentences(200)}, row).interval));
}

TEST_CASE("a single lucky sentence is not significant") {
  const JointDifference lucky = joint({sentences(0)}, {sentences(1)});
  CHECK(lucky.p_value > 0.3);
  CHECK(lucky.interval.low == 0.0);
}

TEST_CASE("the joint bootstrap is reproducible and refuses other texts") {
  const SystemStatistics base = {sentences(200)}, row = {sentences(220)};
  CHECK(joint(base, row).p_value == joint(base, row).p_value);
  CHECK(joint_bootstrap(base, {}).empty());
  CHECK_THROWS_AS(joint(base, {sentences(50, 100)}), DataError);
  CHECK_THROWS_AS(joint(base, SystemStatistics{}), DataError);
}
