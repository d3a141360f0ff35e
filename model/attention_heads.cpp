#include "model/attention_heads.h"

#include <map>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "model/transformer/attention.h"

namespace attn {
namespace {

/// An attention layer and its place in the model.
template <class Layer>
struct PlacedLayer {
  AttentionKind kind;
  int64_t layer;
  Layer* attention;
};

template <class Layer>
std::vector<PlacedLayer<Layer>> attention_layers(Seq2SeqModel& model) {
  std::vector<PlacedLayer<Layer>> found;
  std::map<AttentionKind, int64_t> layers;
  for (const auto& module : model.modules(/*include_self=*/false)) {
    auto* attention = dynamic_cast<Layer*>(module.get());
    if (attention == nullptr) continue;
    const AttentionKind kind = attention->kind();
    found.push_back({kind, layers[kind]++, attention});
  }
  return found;
}

std::vector<PlacedLayer<MultiHeadAttentionImpl>> multi_head_layers(Seq2SeqModel& model) {
  auto layers = attention_layers<MultiHeadAttentionImpl>(model);
  if (layers.empty()) {
    throw ConfigError(
        "model.architecture: the model has no multi-head attention; attn heads supports only the "
        "Transformer");
  }
  return layers;
}

// The columns of W^O that read a head's output, as a view.
torch::Tensor columns_of(MultiHeadAttentionImpl& attention, int64_t head) {
  const torch::Tensor weight = attention.output->weight;
  const int64_t width = weight.size(1) / attention.heads();
  return weight.narrow(1, head * width, width);
}

}  // namespace

AttentionRecorder::AttentionRecorder(Seq2SeqModel& model) {
  for (const auto& place : attention_layers<ObservableAttention>(model)) {
    observed_.push_back(place.attention);
    place.attention->observer = [this, kind = place.kind,
                                 layer = place.layer](const ObservedAttention& observed) {
      records_.push_back({kind, layer, observed});
    };
  }
  if (!observed_.empty()) return;
  throw ConfigError(
      "model.architecture: the model has no attention (supported: transformer, recurrent, "
      "convolutional)");
}

AttentionRecorder::~AttentionRecorder() {
  for (ObservableAttention* attention : observed_) attention->observer = nullptr;
}

std::vector<AttentionRecord> AttentionRecorder::take() {
  return std::exchange(records_, {});
}

std::vector<HeadId> all_heads(Seq2SeqModel& model) {
  std::vector<HeadId> heads;
  for (const auto& place : multi_head_layers(model)) {
    for (int64_t head = 0; head < place.attention->heads(); ++head) {
      heads.push_back({place.kind, place.layer, head});
    }
  }
  return heads;
}

HeadMask::HeadMask(Seq2SeqModel& model, std::span<const HeadId> heads) {
  const torch::NoGradGuard no_grad;
  const auto layers = multi_head_layers(model);
  for (const HeadId& id : heads) {
    bool found = false;
    for (const auto& place : layers) {
      if (place.kind != id.kind || place.layer != id.layer) continue;
      if (id.head < 0 || id.head >= place.attention->heads()) break;
      const torch::Tensor columns = columns_of(*place.attention, id.head);
      masked_.push_back({columns, columns.clone()});
      found = true;
    }
    if (!found) throw std::out_of_range("HeadMask: no such head");
  }
  for (const Masked& masked : masked_) torch::Tensor(masked.columns).zero_();
}

HeadMask::~HeadMask() {
  const torch::NoGradGuard no_grad;
  for (const Masked& masked : masked_) torch::Tensor(masked.columns).copy_(masked.before);
}

}  // namespace attn
