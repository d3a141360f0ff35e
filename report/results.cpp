#include "report/results.h"

namespace attn {

std::optional<double> RunResult::score(const std::string& evaluator, const std::string& key) const {
  const auto found = results.find(evaluator);
  if (found == results.end()) return {};
  const auto value = found->second.values.find(key);
  return value == found->second.values.end() ? std::nullopt : std::optional(value->second);
}

std::string ProgramChange::label() const {
  return kind.empty() ? "" : kind + " " + file + " (" + hash.substr(0, 8) + ")";
}

}  // namespace attn
