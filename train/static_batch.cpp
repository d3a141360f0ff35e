#include "train/static_batch.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "kernels/compute_scope.h"
#include "model/transformer/transformer.h"

namespace attn {
namespace {

int64_t divided_up(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

// The next number with two significant bits: at most a half larger.
int64_t rounded_up(int64_t value) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(value)));
  const int extra = std::max(bits - 2, 0);
  return divided_up(value, int64_t{1} << extra) << extra;
}

void add_sentences(TokenRows& rows, int64_t count, int64_t tokens, int64_t longest, int64_t token) {
  for (; count > 0; --count) {
    const int64_t length = std::min(longest, tokens - (count - 1));
    rows.lengths.push_back(length);
    tokens -= length;
    rows.tokens.insert(rows.tokens.end(), length, token);
  }
}

// Calls visit(tensor) for each in the block, in its order.
template <class Visit>
void each_tensor(StaticBatch& batch, const Visit& visit) {
  visit(batch.factor);
  visit(batch.seed);
  visit(batch.targets_N);
  for (TokenSequences* rows : {&batch.source, &batch.target_in}) {
    visit(rows->tokens_N);
    for (torch::Tensor* indices : rows->segments.index_tensors()) visit(*indices);
  }
}

// Numbers of the block that a tensor takes.
int64_t words_of(const torch::Tensor& tensor) {
  return divided_up(static_cast<int64_t>(tensor.nbytes()), sizeof(int64_t));
}

}  // namespace

ClassRule class_rule(int64_t batch_tokens, int64_t max_length) {
  const int64_t step = std::max(batch_tokens / 16, std::min<int64_t>(1024, batch_tokens / 4));
  return {.row_step = std::max<int64_t>(8 * divided_up(step, 8), 8), .max_length = max_length};
}

BatchClass class_of(const Batch& batch, const ClassRule& rule) {
  constexpr int64_t kShort = 16;
  BatchClass out;
  const int64_t longest = std::max(batch.source.longest(), batch.target_in.longest());
  out.longest = std::max(rounded_up(longest), kShort);
  if (rule.max_length > 0) out.longest = std::max(std::min(out.longest, rule.max_length), longest);
  const auto rows_for = [&](int64_t tokens, int64_t padding) {
    const int64_t least = tokens + out.longest + padding - 1;  // the others have a row or more
    return divided_up(least, rule.row_step) * rule.row_step;
  };
  // More padding may need more sentences, and they more rows.
  for (int64_t padding = 1;;) {
    out.source_rows = rows_for(batch.source_tokens, padding);
    out.target_rows = rows_for(batch.target_tokens, padding);
    const int64_t most =
        std::max(out.source_rows - batch.source_tokens, out.target_rows - batch.target_tokens);
    out.sentences = rounded_up(batch.sentences + divided_up(most, out.longest));
    if (out.sentences - batch.sentences <= padding) return out;
    padding = out.sentences - batch.sentences;
  }
}

Batch padded(const Batch& batch, const BatchClass& to) {
  Batch out = batch;
  const int64_t sentences = to.sentences - batch.sentences;
  const int64_t source = to.source_rows - batch.source_tokens,
                target = to.target_rows - batch.target_tokens;
  add_sentences(out.source, sentences, source, to.longest, 0);
  add_sentences(out.target_in, sentences, target, to.longest, 0);
  add_sentences(out.target_out, sentences, target, to.longest, kNoTarget);
  return out;
}

StaticBatch static_batch(const Batch& batch, const ClassRule& rule) {
  const BatchClass shape = class_of(batch, rule);
  const Batch whole = padded(batch, shape);
  StaticBatch out{.shape = shape,
                  .source = token_sequences(whole.source, torch::kCPU),
                  .target_in = token_sequences(whole.target_in, torch::kCPU),
                  .targets_N = int64_tensor(whole.target_out.tokens, torch::kCPU),
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
