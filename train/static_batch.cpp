#include "train/static_batch.h"

#include <cstring>
#include <utility>

#include "kernels/compute_scope.h"
#include "model/transformer/transformer.h"

namespace attn {
namespace {

// Calls visit(tensor) for each in the block, in its order.
template <class Visit>
void each_tensor(StaticBatch& batch, const Visit& visit) {
  visit(batch.factor);
  visit(batch.seed);
  visit(batch.targets_N);
  for (TokenSequences* rows : {&batch.source, &batch.target_in}) {
    visit(rows->tokens_N);
    if (rows->second_N.defined()) visit(rows->second_N);
    for (torch::Tensor* indices : rows->segments.index_tensors()) visit(*indices);
  }
}

// Numbers of the block that a tensor takes.
int64_t words_of(const torch::Tensor& tensor) {
  constexpr int64_t kWord = sizeof(int64_t);
  return (static_cast<int64_t>(tensor.nbytes()) + kWord - 1) / kWord;
}

}  // namespace

StaticBatch static_batch(const Batch& batch, const ClassRule& rule) {
  const BatchClass shape = class_of(batch, rule);
  const Batch whole = padded(batch, shape);
  StaticBatch out{.shape = shape,
                  .source = token_sequences(whole.source, torch::kCPU),
                  .target_in = token_sequences(whole.target_in, torch::kCPU),
                  .targets_N = int64_tensor(std::span(whole.target_out.tokens), torch::kCPU),
                  .factor = torch::ones({}, torch::kFloat64),
                  .seed = torch::zeros({}, torch::kInt64),
                  .block = {}};
  int64_t words = 0;
  each_tensor(out, [&](const torch::Tensor& tensor) { words += words_of(tensor); });
  const torch::Tensor block = torch::zeros({words}, torch::kInt64);
  auto* to = block.data_ptr<int64_t>();
  each_tensor(out, [&](const torch::Tensor& tensor) {
    std::memcpy(to, tensor.const_data_ptr(), tensor.nbytes());
    to += words_of(tensor);
  });
  return placed(std::move(out), block);
}

StaticBatch placed(StaticBatch batch, const torch::Tensor& block) {
  int64_t begin = 0;
  each_tensor(batch, [&](torch::Tensor& tensor) {
    const int64_t words = words_of(tensor);
    tensor = block.narrow(0, begin, words)
                 .view(tensor.scalar_type())
                 .narrow(0, 0, tensor.numel())
                 .view(tensor.sizes());
    begin += words;
  });
  batch.block = block;
  return batch;
}

std::string varies_within_class(const Seq2SeqModel& model) {
  const auto* transformer = dynamic_cast<const TransformerImpl*>(&model);
  if (transformer == nullptr) return "the architecture";
  const TransformerConfig& config = transformer->config();
  if (config.encoder_mixer.kind == Mixer::recurrence) return "model.encoder_mixer: recurrence";
  if (config.decoder_mixer.kind == Mixer::recurrence) return "model.decoder_mixer: recurrence";
  if (config.deterministic_attention) return "model.deterministic_attention";
  if (model.sizes().source_features > 0) return "source features";
  if (!ComputeScope::takes(FastPath::loss)) return "the loss as it is read";
  return "";
}

}  // namespace attn
