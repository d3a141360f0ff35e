#include "eval/tasks/evaluator.h"

#include "base/error.h"
#include "base/file.h"
#include "data/text_hashes.h"
#include "eval/tasks/evaluation_key.h"

namespace attn {

std::unique_ptr<Evaluator> make_evaluator(const EvaluatorConfig& config, const DataConfig& data,
                                          const Tokenizers& tokenizers,
                                          const std::filesystem::path& cache) {
  const std::string text = config.data.empty() ? data.valid : config.data;
  if (text.empty()) {
    throw ConfigError("eval: " + config.name + ": neither its data nor data.valid is set");
  }
  TextHashes hashes;
  const EvaluatorInput input{.config = config,
                             .text = text,
                             .text_key = evaluation_key(config, data, hashes),
                             .data = data,
                             .tokenizers = tokenizers,
                             .cache = cache};
  return std::visit([&](const auto& chosen) { return chosen.make(input); }, config.options);
}

void write_evaluation_output(const std::filesystem::path& output, const std::string& text) {
  if (output.empty()) return;
  std::filesystem::create_directories(output.parent_path());
  write_file_atomically(output, text);
}

std::string cut_text(int64_t cut) {
  return cut == 0 ? "" : "  (" + std::to_string(cut) + " sentences too long for the model, cut)";
}

}  // namespace attn
