#include "eval/tasks/evaluator.h"

#include "base/file.h"
#include "base/format.h"
#include "data/source_features.h"
#include "data/text_hashes.h"
#include "eval/tasks/evaluator_config.h"

namespace attn {

void write_evaluation_output(const std::filesystem::path& output, const std::string& text) {
  if (output.empty()) return;
  std::filesystem::create_directories(output.parent_path());
  write_file_atomically(output, text);
}

std::string truncation_note(int64_t cut) {
  return cut == 0 ? "" : "  (" + counted(cut, "sentence") + " too long for the model, truncated)";
}

std::string unfinished_note(int64_t unfinished, const std::string& noun) {
  return unfinished == 0
             ? ""
             : "  (" + counted(unfinished, noun) + " cut at the length limit, search.extra_length)";
}

std::unique_ptr<Evaluator> make_evaluator(const EvaluatorConfig& config, const DataConfig& data,
                                          const Tokenizers& tokenizers,
                                          const std::filesystem::path& cache) {
  config.require_text(data);
  const std::string text = config.text(data);
  const Tokenizers tagged = with_tag(tokenizers, config.tag.empty() ? data.tag : config.tag,
                                     "eval: " + config.name + ".tag");
  TextHashes hashes;
  const EvaluatorInput input{.name = config.name,
                             .text = text,
                             .text_key = evaluation_key(config, data, hashes),
                             .data = data,
                             .tokenizers = tagged,
                             .cache = cache};
  return std::visit([&](const auto& chosen) { return chosen.make(input); }, config.options);
}

}  // namespace attn
