#include "eval/tasks/evaluation_key.h"

namespace attn {

std::string evaluation_key(const EvaluatorConfig& config, const DataConfig& data,
                           TextHashes& hashes) {
  const std::string text = config.text(data);
  std::vector<std::filesystem::path> files = {text};
  if (data.task == Task::translation) {
    files = {text_path(text, data.source), text_path(text, data.target)};
  }
  for (auto& file : std::visit([](const auto& chosen) { return chosen.files(); }, config.options)) {
    files.push_back(std::move(file));
  }
  return key_of(files, hashes);
}

}  // namespace attn
