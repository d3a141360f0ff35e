#include "report/page.h"

#include <string>

#include "report/comparison.h"
#include "tests/report/sweeps.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::contains;
using testing::row;
using testing::run;
using testing::sweep;

TEST_CASE("the page is self-contained and shows all tables and plots") {
  auto results =
      sweep({row("base", 5, 25, {run(1, 5, 25)}), row("A1", 5.3, 24, {run(1, 5.2, 24.5)})});
  const auto compared = compare(results);
  const std::string page = html_report(results, compared);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
  for (const char* part : {"Learning curves", "ours vs. the paper", "vs. parameters",
                           "vs. training FLOPs", "Training cost", "Reproduce"}) {
    CHECK_THAT(page, contains(part));
  }
  CHECK_THAT(markdown_report(results, compared), contains("| base") && contains("| A1"));
}
