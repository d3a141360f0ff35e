#include "eval/tasks/forced_batch.h"

#include "data/batch.h"
#include "data/tokenizer.h"

namespace attn {

ForcedBatch forced_batch(std::span<const ForcedPair> pairs, const Tokenizers& tokenizers,
                         torch::Device device) {
  TokenRows source, target_in;
  std::vector<int64_t> target_out;
  for (const ForcedPair& pair : pairs) {
    append_source(pair.source, tokenizers.source->eos(), pair.features, source);
    std::vector<int64_t> in = {tokenizers.target->bos()};
    in.insert(in.end(), pair.target.begin(), pair.target.end());
    if (tokenizers.target_counter) tokenizers.target_counter->append(in, target_in.second);
    target_in.tokens.insert(target_in.tokens.end(), in.begin(), in.end());
    target_out.insert(target_out.end(), pair.target.begin(), pair.target.end());
    target_out.push_back(tokenizers.target->eos());
    target_in.lengths.push_back(static_cast<int64_t>(in.size()));
  }
  return {.source = token_sequences(source, device),
          .target_in = token_sequences(target_in, device),
          .targets_N = int64_tensor(std::span<const int64_t>(target_out), device)};
}

}  // namespace attn
