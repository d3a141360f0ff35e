#include "eval/heads/token_pairs.h"

#include <algorithm>

#include "data/token_counter.h"

namespace attn {

ForcedBatch forced_batch(std::span<const TokenPair> pairs, const Tokenizers& tokenizers,
                         torch::Device device) {
  std::vector<int64_t> source, target_in, target_out, second, source_lengths, target_lengths;
  for (const TokenPair& pair : pairs) {
    source.insert(source.end(), pair.source.begin(), pair.source.end());
    source.push_back(tokenizers.source->eos());
    source_lengths.push_back(static_cast<int64_t>(pair.source.size()) + 1);
    std::vector<int64_t> in = {tokenizers.target->bos()};
    in.insert(in.end(), pair.target.begin(), pair.target.end());
    if (tokenizers.target_counter) tokenizers.target_counter->append(in, second);
    target_in.insert(target_in.end(), in.begin(), in.end());
    target_out.insert(target_out.end(), pair.target.begin(), pair.target.end());
    target_out.push_back(tokenizers.target->eos());
    target_lengths.push_back(static_cast<int64_t>(in.size()));
  }
  return {.source = token_sequences(source, source_lengths, device),
          .target_in = token_sequences(target_in, target_lengths, device, second),
          .targets_N = int64_tensor(std::span<const int64_t>(target_out), device)};
}

std::vector<size_t> batch_sizes(std::span<const TokenPair> pairs, int64_t tokens) {
  std::vector<size_t> sizes;
  size_t longest = 0;
  for (const TokenPair& pair : pairs) {
    const size_t length = std::max(pair.source.size(), pair.target.size()) + 1;
    longest = std::max(longest, length);
    const bool fits = !sizes.empty() && (sizes.back() + 1) * longest <= static_cast<size_t>(tokens);
    if (fits) {
      ++sizes.back();
    } else {
      sizes.push_back(1);
      longest = length;
    }
  }
  return sizes;
}

}  // namespace attn
