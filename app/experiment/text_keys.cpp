#include "app/experiment/text_keys.h"

#include <map>

#include "app/experiment/run_result.h"
#include "eval/tasks/evaluation_key.h"

namespace attn {

std::vector<std::string> changed_texts(const RunDirectory& run, const Experiment& now,
                                       TextHashes& hashes) {
  std::vector<std::string> changed;
  if (!run.has_trained()) return changed;
  const auto facts = read_run_file(run);
  if (facts && facts->contains("texts") && facts->at("texts").is_object()) {
    const Json& before = facts->at("texts");
    const std::map<std::string, std::string> names = {{"train", now.data.train},
                                                      {"source_model", now.data.source_model},
                                                      {"target_model", now.data.target_model}};
    for (const auto& [what, key] : training_keys(now.data, hashes)) {
      if (!before.contains(what) || before.at(what) == Json(key)) continue;
      changed.push_back(std::string("data.").append(what).append(" (") + names.at(what) + ")");
    }
  }
  const auto result = finished_result(run, now.train);
  if (!result) return changed;
  for (const EvaluatorConfig& config : now.eval) {
    const auto found = result->results.find(config.name);
    if (found == result->results.end() || found->second.text.empty()) continue;
    const std::string key = evaluation_key(config, now.data, hashes);
    if (key.empty() || key == found->second.text) continue;
    const std::string text = config.text(now.data);
    changed.push_back("evaluator " + config.name + " (" + text + ")");
  }
  return changed;
}

}  // namespace attn
