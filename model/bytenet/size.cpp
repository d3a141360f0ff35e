#include "model/size.h"

#include "model/layers/norm_kind.h"

namespace attn {
namespace {

// Weights of a residual block, without biases.
int64_t block_weights(const ByteNetConfig& c) {
  return c.hidden * (2 * c.d_model + c.kernel * c.hidden);
}

int64_t block_parameters(const ByteNetConfig& c) {
  const auto norm = [](int64_t width) { return norm_parameters(NormKind::layer, width); };
  return block_weights(c) + 2 * c.hidden + c.d_model + norm(c.d_model) + 2 * norm(c.hidden);
}

int64_t blocks_of_side(const ByteNetConfig& c) {
  return c.repeats * static_cast<int64_t>(c.dilations.size());
}

// The convolution over encoder output and target embeddings, side by side.
int64_t join_weights(const ByteNetConfig& c) {
  return c.kernel * 2 * c.d_model * c.d_model;
}

}  // namespace

int64_t parameter_count(const ByteNetConfig& c, const VocabularySizes& sizes) {
  return embedding_rows(c.embedding_sharing, sizes) * c.d_model +
         2 * blocks_of_side(c) * block_parameters(c) + join_weights(c) + c.d_model +
         2 * norm_parameters(NormKind::layer, c.d_model);
}

double forward_flops(const ByteNetConfig& c, const VocabularySizes& sizes,
                     const PairLengths& lengths) {
  const auto source = static_cast<double>(c.unfolded_length(lengths.source));
  const auto target = static_cast<double>(lengths.target);
  const auto blocks = static_cast<double>(blocks_of_side(c) * block_weights(c));
  const int64_t ends = join_weights(c) + c.d_model * sizes.target;
  return 2 * (source * blocks + target * (blocks + static_cast<double>(ends)));
}

}  // namespace attn
