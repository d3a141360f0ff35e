#include "eval/tasks/evaluator_config.h"

#include "base/check.h"

namespace attn {

void EvaluatorConfig::validate() const {
  require(!name.empty() && name.find_first_of("/ \t\n") == std::string::npos, "name",
          "\"" + name + "\"", "must be a word without '/', since files are named after it");
  require(every >= 0, "every", every, "must be 0 or more");
  search.validate();
}

BleuOptions bleu_options(const EvaluatorConfig& config) {
  return {.tokenizer = config.tokenize, .lowercase = config.lowercase};
}

}  // namespace attn
