#include "eval/tasks/make_evaluator.h"

#include "data/source_features.h"
#include "data/text_hashes.h"
#include "eval/tasks/evaluator_config.h"

namespace attn {

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
