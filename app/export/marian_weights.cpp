#include "app/export/marian_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace attn {
namespace {

constexpr float kNever = -1e9F;  // the logit of a row without a token

// Even features first, as far as the positions require it.
std::vector<int64_t> feature_order(const TransformerConfig& config) {
  std::vector<int64_t> order(static_cast<size_t>(config.d_model));
  std::iota(order.begin(), order.end(), 0);
  if (config.position == Position::sinusoidal) {
    std::ranges::stable_partition(order, [](int64_t feature) { return feature % 2 == 0; });
  }
  return order;
}

class MarianLayout {
 public:
  MarianLayout(const ExportSource& source, int64_t vocabulary)
      : source_(source),
        config_(source.config),
        vocabulary_(vocabulary),
        order_(feature_order(source.config)),
        width_(config_.d_model / config_.heads) {}

  std::map<std::string, Array> tensors() {
    embeddings();
    for (const std::string side : {"encoder", "decoder"}) {
      for (int64_t i = 0; i < config_.layers; ++i) {
        layer(side, side + ".layers." + std::to_string(i) + ".");
      }
    }
    return std::move(out_);
  }

 private:
  Array embedding(const Array& matrix) const {
    return with_rows(reordered_columns(matrix, order_), vocabulary_);
  }

  void embeddings() {
    const Array target = embedding(source_.target_embedding());
    switch (config_.embedding_sharing) {
      case EmbeddingSharing::all:
        out_["model.shared.weight"] = target;
        break;
      case EmbeddingSharing::decoder:
      case EmbeddingSharing::none:
        out_["model.encoder.embed_tokens.weight"] = embedding(source_.source_embedding());
        out_["model.decoder.embed_tokens.weight"] = target;
        break;
    }
    if (source_.has("projection_weight")) {
      out_["lm_head.weight"] = embedding(source_.at("projection_weight"));
    }
    Array bias = zeros({1, vocabulary_});
    std::fill(bias.values.begin() + source_.tokenizers.target->size(), bias.values.end(), kNever);
    out_["final_logits_bias"] = std::move(bias);
    if (config_.position != Position::sinusoidal) {
      out_["model.encoder.embed_positions.weight"] = source_.source_positions;
      out_["model.decoder.embed_positions.weight"] = source_.target_positions;
    }
  }

  void layer(const std::string& side, const std::string& ours) {
    const std::string theirs = "model." + ours;
    attention(ours + "self_attention", theirs + "self_attn");
    if (side == "decoder") attention(ours + "cross_attention", theirs + "encoder_attn");
    const std::string inner = ours + "feed_forward.inner", outer = ours + "feed_forward.outer";
    out_[theirs + "fc1.weight"] = reordered_columns(source_.at(inner + ".weight"), order_);
    out_[theirs + "fc1.bias"] = source_.at(inner + ".bias");
    out_[theirs + "fc2.weight"] = reordered_rows(source_.at(outer + ".weight"), order_);
    out_[theirs + "fc2.bias"] = reordered_rows(source_.at(outer + ".bias"), order_);
    norm(ours + "feed_forward_sublayer.norm", theirs + "final_layer_norm");
  }

  void attention(const std::string& ours, const std::string& theirs) {
    const double scale = std::sqrt(static_cast<double>(width_) / static_cast<double>(config_.d_k));
    for (const auto& [from, to] :
         {std::pair{"query", ".q_proj"}, {"key", ".k_proj"}, {"value", ".v_proj"}}) {
      const double factor = from == std::string("query") ? scale : 1.0;
      const std::string name = ours + "." + from;
      out_[theirs + to + ".weight"] =
          scaled(reordered_columns(heads(source_.at(name + ".weight")), order_), factor);
      const bool biased = source_.has(name + ".bias");
      out_[theirs + to + ".bias"] =
          biased ? scaled(heads(source_.at(name + ".bias")), factor) : zeros({config_.d_model});
    }
    const Array joined =
        padded_head_columns(source_.at(ours + ".output.weight"), config_.heads, width_);
    out_[theirs + ".out_proj.weight"] = reordered_rows(joined, order_);
    const std::string bias = ours + ".output.bias";
    out_[theirs + ".out_proj.bias"] =
        source_.has(bias) ? reordered_rows(source_.at(bias), order_) : zeros({config_.d_model});
    norm(ours + "_sublayer.norm", theirs + "_layer_norm");
  }

  Array heads(const Array& rows) const { return padded_head_rows(rows, config_.heads, width_); }

  void norm(const std::string& ours, const std::string& theirs) {
    for (const std::string kind : {".weight", ".bias"}) {
      out_[theirs + kind] = reordered_rows(source_.at(ours + kind), order_);
    }
  }

  const ExportSource& source_;
  const TransformerConfig& config_;
  int64_t vocabulary_;
  std::vector<int64_t> order_;
  int64_t width_;
  std::map<std::string, Array> out_;
};

}  // namespace

std::map<std::string, Array> marian_weights(const ExportSource& source, int64_t vocabulary) {
  return MarianLayout(source, vocabulary).tensors();
}

}  // namespace attn
