#include "eval/tasks/forced_batch.h"

#include "data/batch.h"
#include "data/token_counter.h"

namespace attn {

ForcedBatch forced_batch(std::span<const ForcedPair> pairs, const Tokenizers& tokenizers,
                         torch::Device device) {
  std::vector<int64_t> source, target_in, target_out, second, source_lengths, target_lengths;
  TokenRows features;
  for (const ForcedPair& pair : pairs) {
    source.insert(source.end(), pair.source.begin(), pair.source.end());
    source.push_back(tokenizers.source->eos());
    source_lengths.push_back(static_cast<int64_t>(pair.source.size()) + 1);
    if (!pair.features.empty()) append_features(pair.features, features);
    std::vector<int64_t> in = {tokenizers.target->bos()};
    in.insert(in.end(), pair.target.begin(), pair.target.end());
    if (tokenizers.target_counter) tokenizers.target_counter->append(in, second);
    target_in.insert(target_in.end(), in.begin(), in.end());
    target_out.insert(target_out.end(), pair.target.begin(), pair.target.end());
    target_out.push_back(tokenizers.target->eos());
    target_lengths.push_back(static_cast<int64_t>(in.size()));
  }
  ForcedBatch batch{.source = token_sequences(source, source_lengths, device),
                    .target_in = token_sequences(target_in, target_lengths, device, second),
                    .targets_N = int64_tensor(std::span<const int64_t>(target_out), device)};
  if (!features.feature_ends.empty()) {
    batch.source.features = row_features(features.features, features.feature_ends, device);
  }
  return batch;
}

}  // namespace attn
