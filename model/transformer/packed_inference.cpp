// Fast path packed_search: attention 6c161ee7
// Fast path packed_search: masked_softmax e266e7e4
// Fast path packed_search: visible_keys 2a8fd925
// Fast path packed_search: score_bias 74c5423e
// Fast path packed_search: relative_positions 91f57795
// Fast path packed_search: multi_head_attention 21ebf064
// Fast path packed_search: linear aab16616
// Fast path packed_search: projection 060f938c
// Fast path packed_search: norm ea7a23ec
// Fast path packed_search: sublayer fc5c03fb
// Fast path packed_search: relu d1bf1190
// Fast path packed_search: silu_gate 5dc53123
// Fast path packed_search: feed_forward 251c5b29
// Fast path packed_search: rotary a2041e26
// Fast path packed_search: mixer 15d8e02a
// Fast path packed_search: decoder_layer 1ded3b43
// Fast path packed_search: decoder dfbb101e
// Fast path packed_search: transformer 9ef56070
#include "model/transformer/packed_inference.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "kernels/compute_scope.h"
#include "kernels/cpu/table.h"
#include "kernels/ops/attention.h"
#include "kernels/ops/relative_rows.h"

namespace attn {
namespace {

// A buffer of at least `floats`, with arbitrary content.
float* resized(std::vector<float>& buffer, int64_t floats) {
  if (static_cast<int64_t>(buffer.size()) < floats) buffer.resize(static_cast<size_t>(floats));
  return buffer.data();
}

class PackedSession : public DecodeSession {
 public:
  PackedSession(const PackedInference& decoder, const TokenSequences& source)
      : decoder_(decoder),
        model_(decoder.model),
        d_model_(model_->config().d_model),
        heads_(model_->config().heads),
        kv_heads_(model_->config().key_heads()),
        d_k_(model_->config().key_width()),
        d_v_(model_->config().value_width()),
        memory_(source.segments) {
    const torch::NoGradGuard no_grad;
    const ComputeScope scope({.precision = decoder.memory_weights->precision(),
                              .packed_weights = decoder.memory_weights.get()});
    const torch::Tensor encoded_ND = model_->encode(source).rows_MD;
    for (const auto& layer : *model_->decoder->layers) {
      remember(layer->as<DecoderLayer>()->cross_attention->project(encoded_ND));
    }
    words_ = model_->start_words(encoded_ND);
    caches_.resize(decoder.layers.size());
  }

  // Logits [R, V] in a buffer that the next step overwrites.
  torch::Tensor step(const StepRows& step) override {
    const torch::NoGradGuard no_grad;
    const auto rows = static_cast<int64_t>(step.tokens.size());
    ancestors_.advance(step.parents);
    const torch::Tensor embedded_RD =
        model_->embed_step(step, position(), memory_, words_).contiguous();
    float* x = resized(x_, rows * d_model_);
    std::copy_n(embedded_RD.const_data_ptr<float>(), rows * d_model_, x);
    const int64_t keys = heads_ * d_k_, values = heads_ * d_v_, width = block_width();
    float* update = resized(update_, rows * d_model_);
    float* attended = resized(attended_, rows * values);
    const PositionInScores in_scores = model_->target_embedding->position->in_scores(
        torch::full({1}, position(), torch::kInt64), ancestors_.steps());
    torch::Tensor bias_HT;
    if (in_scores.bias_HP.defined()) {
      bias_HT = bias_of_scores(in_scores.bias_HP, 1, visible_steps()).squeeze(1);
    }
    for (size_t i = 0; i < decoder_.layers.size(); ++i) {
      const PackedInference::Layer& layer = decoder_.layers[i];
      sublayer(layer.around_self, x, rows, [&](const float* in) {
        KvCache& cache = caches_[i];
        float* block = cache.blocks.emplace_back(static_cast<size_t>(rows * width)).data();
        cache.keys.push_back(block + keys);
        cache.values.push_back(block + keys + kv_heads_ * d_k_);
        layer.self_project.apply(in, d_model_, rows, block, width);
        if (in_scores.rotation.defined()) rotate_rows(in_scores.rotation, block, rows);
        attend_to_cache(i, bias_HT, rows, attended);
        layer.self_output.apply(attended, values, rows, update, d_model_);
        return update;
      });
      sublayer(layer.around_cross, x, rows, [&](const float* in) {
        float* queries = resized(queries_, rows * keys);
        layer.cross_query.apply(in, d_model_, rows, queries, keys);
        attend_to_memory(i, step.sentences, queries, attended);
        layer.cross_output.apply(attended, values, rows, update, d_model_);
        return update;
      });
      sublayer(layer.around_feed_forward, x, rows, [&](const float* in) {
        const int64_t inner = layer.inner.outputs(), d_ff = layer.outer.inputs();
        float* hidden = resized(hidden_, rows * inner);
        const bool gated = inner > d_ff;
        layer.inner.apply(in, d_model_, rows, hidden, inner, /*relu=*/!gated);
        for (int64_t r = 0; gated && r < rows; ++r) {
          float* gate = hidden + r * inner;
          cpu::kernels().silu_gate(gate, gate + d_ff, gate, d_ff);
        }
        layer.outer.apply(hidden, inner, rows, update, d_model_);
        return update;
      });
    }
    if (decoder_.final_norm) normalize(*decoder_.final_norm, x, nullptr, rows, x);
    const int64_t classes = decoder_.projection.outputs();
    float* logits = resized(logits_, rows * classes);
    decoder_.projection.apply(x, d_model_, rows, logits, classes);
    return torch::from_blob(logits, {rows, classes}, torch::kFloat32);
  }

 private:
  // Cross-attention keys, transposed per sentence and head, and values of a layer.
  struct LayerMemory {
    std::vector<float> keys;
    torch::Tensor values_NE;
  };
  // Self-attention keys and values of a layer, one block per position.
  struct KvCache {
    std::vector<std::vector<float>> blocks;  // [R of that step, queries | keys | values]
    std::vector<const float*> keys, values;
  };

  void remember(const KeysValues& projected) {
    const auto& kernels = cpu::kernels();
    const bool first = key_offsets_.empty();
    int64_t size = 0;
    for (int64_t s = 0; s < memory_.count(); ++s) {
      if (first) key_offsets_.push_back(size);
      size += kv_heads_ * kernels.transposed_size(memory_.length(s), d_k_);
    }
    LayerMemory memory{.keys = std::vector<float>(static_cast<size_t>(size)),
                       .values_NE = projected.values.contiguous()};
    const torch::Tensor keys_NE = projected.keys.contiguous();
    for (int64_t s = 0; s < memory_.count(); ++s) {
      float* out = memory.keys.data() + key_offsets_[s];
      for (int64_t h = 0; h < kv_heads_; ++h) {
        kernels.transpose(
            keys_NE.const_data_ptr<float>() + memory_.offset(s) * kv_heads_ * d_k_ + h * d_k_,
            kv_heads_ * d_k_, memory_.length(s), d_k_, out);
        out += kernels.transposed_size(memory_.length(s), d_k_);
      }
    }
    memories_.push_back(std::move(memory));
  }

  // Floats of a row of a block.
  int64_t block_width() const { return heads_ * d_k_ + kv_heads_ * (d_k_ + d_v_); }

  // Rotates the queries and keys of a block.
  void rotate_rows(const Rotation& rotation, float* block, int64_t rows) const {
    const float* line = rotation.table_PK.const_data_ptr<float>() + position() * d_k_;
    for (int64_t r = 0; r < rows; ++r) {
      rotate_heads(block + r * block_width(), line, heads_ + kv_heads_, d_k_);
    }
  }

  int64_t position() const { return ancestors_.steps() - 1; }  // the present one

  // Positions that self-attention of the present one sees.
  int64_t visible_steps() const {
    return model_->decoder->layers[0]->as<DecoderLayer>()->mixer.visible(ancestors_.steps());
  }

  // bias_HT: [H, visible_steps()], contiguous; undefined: none.
  void attend_to_cache(size_t layer, const torch::Tensor& bias_HT, int64_t rows, float* out) {
    const KvCache& cache = caches_[layer];
    const int64_t width = block_width();
    const int64_t steps = visible_steps(), first = ancestors_.steps() - steps;
    const std::vector<const int32_t*> past = ancestors_.last(steps);
    step_attention({.query = cache.blocks.back().data(),
                    .query_stride = width,
                    .count = rows,
                    .keys = cache.keys.data() + first,
                    .values = cache.values.data() + first,
                    .rows = past.data(),
                    .steps = steps,
                    .key_stride = width,
                    .value_stride = width,
                    .heads = heads_,
                    .kv_heads = kv_heads_,
                    .d_k = d_k_,
                    .d_v = d_v_,
                    .bias = bias_HT.defined() ? bias_HT.const_data_ptr<float>() : nullptr,
                    .bias_stride = steps,
                    .relative = relative_rows(decoder_.layers[layer].relative, steps - 1)},
                   out);
  }

  void attend_to_memory(size_t layer, std::span<const int64_t> sentences, const float* queries,
                        float* out) {
    struct Group {
      int64_t sentence, first, rows;
    };
    std::vector<Group> groups;
    for (size_t r = 0; r < sentences.size(); ++r) {
      if (groups.empty() || groups.back().sentence != sentences[r]) {
        groups.push_back({sentences[r], static_cast<int64_t>(r), 0});
      }
      ++groups.back().rows;
    }
    const auto& kernels = cpu::kernels();
    const LayerMemory& memory = memories_[layer];
    const int64_t scratch_size = kernels.attention_scratch(memory_.longest(), d_k_, d_v_);
    const auto count = static_cast<int64_t>(groups.size());
    at::parallel_for(0, count, 2, [&](int64_t begin, int64_t end) {
      std::vector<float> scratch(static_cast<size_t>(scratch_size));
      for (int64_t g = begin; g < end; ++g) {
        const Group& group = groups[g];
        const int64_t keys = memory_.length(group.sentence);
        for (int64_t h = 0; h < heads_; ++h) {
          cpu::AttentionHead head{};
          head.query = queries + group.first * heads_ * d_k_ + h * d_k_;
          const int64_t kv = h / (heads_ / kv_heads_);
          head.value = memory.values_NE.const_data_ptr<float>() +
                       memory_.offset(group.sentence) * kv_heads_ * d_v_ + kv * d_v_;
          head.query_stride = heads_ * d_k_;
          head.value_stride = kv_heads_ * d_v_;
          head.queries = group.rows;
          head.keys = keys;
          head.d_k = d_k_;
          head.d_v = d_v_;
          kernels.attention_transposed(head,
                                       memory.keys.data() + key_offsets_[group.sentence] +
                                           kv * kernels.transposed_size(keys, d_k_),
                                       out + group.first * heads_ * d_v_ + h * d_v_, heads_ * d_v_,
                                       scratch.data());
        }
      }
    });
  }

  // out = norm of x + update; update may be null, out may be x.
  void normalize(const NormParameters& norm, const float* x, const float* update, int64_t rows,
                 float* out) {
    cpu::NormRows whole = norm_rows(norm);
    whole.x = x;
    whole.update = update;
    float *sums = resized(sums_, rows * d_model_), *means = resized(means_, rows),
          *rstds = resized(rstds_, rows);
    at::parallel_for(0, rows, 32, [&](int64_t begin, int64_t end) {
      cpu::NormRows part = whole;
      part.begin = begin;
      part.end = end;
      cpu::kernels().norm_forward(part, out, sums, means, rstds);
    });
  }

  // Sub-layer with residual connection and norm (pre or post); `compute` maps [R, D] to [R, D].
  template <class F>
  void sublayer(const PackedInference::Around& around, float* x, int64_t rows, F&& compute) {
    switch (model_->config().norm) {
      case attn::Norm::post:
      case attn::Norm::deep: {
        const float* update = compute(x);
        if (const auto scale = static_cast<float>(around.residual_scale); scale != 1.0f) {
          for (int64_t i = 0; i < rows * d_model_; ++i) x[i] *= scale;
        }
        normalize(around.norm, x, update, rows, x);
        return;
      }
      case attn::Norm::pre: {
        float* normal = resized(normal_, rows * d_model_);
        normalize(around.norm, x, nullptr, rows, normal);
        const float* update = compute(normal);
        for (int64_t i = 0; i < rows * d_model_; ++i) x[i] += update[i];
        return;
      }
    }
  }

  const PackedInference& decoder_;
  std::shared_ptr<TransformerImpl> model_;
  int64_t d_model_, heads_, kv_heads_, d_k_, d_v_;
  Segments memory_;
  std::vector<LayerMemory> memories_;
  WordState words_;
  std::vector<int64_t> key_offsets_;  // place of each sentence's first head in LayerMemory::keys
  std::vector<KvCache> caches_;
  StepAncestors ancestors_;
  std::vector<float> x_, normal_, update_, sums_, means_, rstds_, attended_, queries_, hidden_,
      logits_;
};

}  // namespace

std::unique_ptr<DecodeSession> PackedInference::start(const TokenSequences& source) const {
  return std::make_unique<PackedSession>(*this, source);
}

}  // namespace attn
