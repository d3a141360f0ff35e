#include "app/experiment/training_cost.h"

#include "model/size.h"

namespace attn {

double epoch_flops(const EncodedCorpus& corpus, const ModelConfig& model,
                   const VocabularySizes& vocabulary) {
  double sum = 0.0;
  for (int64_t i = 0; i < corpus.size(); ++i) {
    sum += forward_flops(
        model, vocabulary,
        {.source = corpus.source_length(i) + 1, .target = corpus.target_length(i) + 1});
  }
  return 3 * sum;
}

}  // namespace attn
