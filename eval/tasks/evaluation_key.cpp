#include "eval/tasks/evaluation_key.h"

namespace attn {

std::string evaluation_key(const EvaluatorConfig& config, const DataConfig& data,
                           TextHashes& hashes) {
  std::vector<std::filesystem::path> files = text_files(data, config.text(data));
  for (auto& file : std::visit([](const auto& chosen) { return chosen.files(); }, config.options)) {
    files.push_back(std::move(file));
  }
  return key_of(files, hashes);
}

}  // namespace attn
