#include "app/experiment/fast_paths.h"

#include <chrono>
#include <set>

#include "base/format.h"
#include "base/json_config.h"
#include "kernels/fast_path.h"

namespace attn {
namespace {

// "attention: attention (model/transformer/attention.cpp:17)" for each path that is off.
std::string edited_text() {
  std::string text;
  for (const FastPath path : paths_run_as_read()) {
    text += text.empty() ? "" : "; ";
    text += std::string(enum_name(path)) + ": ";
    const char* separator = "";
    for (const std::string& formula : edited_formulas(path)) {
      text += separator + formula;
      separator = ", ";
    }
  }
  return text;
}

}  // namespace

void check_and_report(Seq2SeqModel& model, const ModelConfig& config, const FastPathCheck& check,
                      const Log& log) {
  static std::set<std::string> checked;
  if (!checked.insert(write_config(config).dump() + model.device().str()).second) return;
  const auto start = std::chrono::steady_clock::now();
  const FastPathDifference found = check_fast_paths(model, check);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (kernels_in_use() == Kernels::off) {
    return log("runtime.kernels=off: everything is computed as it is read, which is slower");
  }
  if (const std::string edited = edited_text(); !edited.empty()) {
    log("as read, since formulas were edited, and slower (docs/howto/formula.md): " + edited);
  }
  for (const std::string& line : model.options_as_read()) log(line);
  if (check.gradients) {
    log(format("fast paths equal the formulas: differences %s (checked in %.2f s)",
               found.text().c_str(), seconds.count()));
  }
}

std::vector<std::string> paths_as_read() {
  std::vector<std::string> names;
  for (const FastPath path : paths_run_as_read()) names.emplace_back(enum_name(path));
  return names;
}

}  // namespace attn
