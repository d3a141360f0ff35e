#include "app/training_cost.h"

#include <sys/resource.h>

#include "model/size.h"

namespace attn {

double epoch_flops(const EncodedCorpus& corpus, const ModelConfig& model,
                   const ModelVocabulary& vocabulary) {
  double sum = 0.0;
  for (int64_t i = 0; i < corpus.size(); ++i) {
    sum += forward_flops(
        model, vocabulary,
        {.source = corpus.source_length(i) + 1, .target = corpus.target_length(i) + 1});
  }
  return 3 * sum;
}

int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss;
#else
  return int64_t{usage.ru_maxrss} * 1024;
#endif
}

}  // namespace attn
