// Plans of small sweeps for tests.
#pragma once

#include <filesystem>
#include <string>

#include "app/sweep/plan.h"
#include "tests/support/temporary_directory.h"

namespace attn::testing {

/// Sweeps over one base config, in a temporary directory.
class Sweeps {
 public:
  Sweeps() {
    write("base.json", R"({"seed": 5, "eval": [{"name": "v"}, {"name": "b", "kind": "bleu"}]})");
  }

  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }
  SweepPlan plan(const std::string& text, SweepRequest request = {}) const {
    write("s.json", text);
    request.file = folder_ / "s.json";
    if (request.directory.empty()) request.directory = folder_ / "run";
    return plan_sweep(request);
  }
  std::string rows(const std::string& rows) const {
    return R"({"base": "base.json", "rows": [{"name": "base"}, )" + rows + "]}";
  }
  std::filesystem::path folder() const { return folder_ / "run"; }

 private:
  TemporaryDirectory folder_;
};

}  // namespace attn::testing
