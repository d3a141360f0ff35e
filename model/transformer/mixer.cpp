#include "model/transformer/mixer.h"

#include <algorithm>
#include <stdexcept>

namespace attn {
namespace {

// Releases position `position` of a history, if there is one; no later position can see it.
template <class T>
void forget(std::vector<T>& history, int64_t position) {
  if (position >= 0) history[static_cast<size_t>(position)] = T{};
}

}  // namespace

TokenMixer TokenMixer::of_encoder(torch::nn::Module& owner, const TransformerConfig& config,
                                  int64_t layer) {
  return TokenMixer(owner, config, config.encoder_mixer, /*causal=*/false,
                    config.encoder_mixer.bidirectional, layer);
}

TokenMixer TokenMixer::of_decoder(torch::nn::Module& owner, const TransformerConfig& config,
                                  int64_t layer) {
  return TokenMixer(owner, config, config.decoder_mixer, /*causal=*/true, /*bidirectional=*/false,
                    layer);
}

TokenMixer::TokenMixer(torch::nn::Module& owner, const TransformerConfig& config,
                       const MixerConfig& mixer, bool causal, bool bidirectional, int64_t layer)
    : kind_(mixer.kind), window_(mixer.kind == Mixer::restricted_attention ? mixer.window : 0) {
  const int64_t width = config.d_model;
  const char* sublayer_name = nullptr;
  switch (kind_) {
    case Mixer::attention:
    case Mixer::restricted_attention:
      self_attention = owner.register_module(
          "self_attention",
          MultiHeadAttention(config, causal ? AttentionKind::decoder : AttentionKind::encoder));
      sublayer_name = "self_attention_sublayer";
      break;
    case Mixer::convolution:
      convolution = owner.register_module(
          "convolution", Convolution(width,
                                     ConvolutionShape{.kernel = mixer.kernel,
                                                      .dilation = mixer.distance(layer),
                                                      .causal = causal},
                                     mixer.gated));
      sublayer_name = "convolution_sublayer";
      break;
    case Mixer::recurrence:
      recurrence = owner.register_module(
          "recurrence",
          RecurrentLayer(mixer.cell, width, bidirectional ? width / 2 : width, bidirectional));
      sublayer_name = "recurrence_sublayer";
      break;
    case Mixer::none:
      return;
  }
  sublayer = owner.register_module(sublayer_name, Sublayer(config));
}

torch::Tensor TokenMixer::forward(const torch::Tensor& x_ND, const AttentionSpec& self) {
  // Formula mixer: fast paths step and mix_step, packed_inference.cpp.
  if (!sublayer) return x_ND;
  return sublayer->forward(x_ND, [&](const torch::Tensor& x) { return mix(x, self); });
  // End of formula.
}

torch::Tensor TokenMixer::mix(const torch::Tensor& x_ND, AttentionSpec self) {
  // Formula mixer: fast paths step and mix_step, packed_inference.cpp.
  switch (kind_) {
    case Mixer::attention:
    case Mixer::restricted_attention:
      self.window = window_;
      return self_attention(x_ND, x_ND, self);
    case Mixer::convolution:
      return convolution(x_ND, self.queries);
    case Mixer::recurrence: {
      const TimeMajor time(self.queries);
      return time.to_rows(recurrence(time.from_rows(x_ND), time));
    }
    case Mixer::none:
      break;
  }
  throw std::logic_error("no token mixer");
  // End of formula.
}

torch::Tensor TokenMixer::step(const torch::Tensor& x_RD, MixerState& state,
                               std::span<const std::vector<int32_t>> backpointers,
                               const PositionInScores& position) {
  if (!sublayer) return x_RD;
  return sublayer->forward(
      x_RD, [&](const torch::Tensor& x) { return mix_step(x, state, backpointers, position); });
}

torch::Tensor TokenMixer::mix_step(const torch::Tensor& x_RD, MixerState& state,
                                   std::span<const std::vector<int32_t>> backpointers,
                                   const PositionInScores& position) {
  const auto steps = static_cast<int64_t>(backpointers.size());
  switch (kind_) {
    case Mixer::attention:
    case Mixer::restricted_attention:
      return attend(x_RD, state, backpointers, position);
    case Mixer::convolution: {
      state.inputs.push_back(x_RD);
      const torch::Tensor out_RD = convolution->step(state.inputs, backpointers);
      forget(state.inputs, steps - 1 - convolution->past());
      return out_RD;
    }
    case Mixer::recurrence:
      if (steps == 1) {
        state.recurrence = recurrence->first(x_RD.size(0), x_RD.options());
      } else {  // the previous position's rows that the present ones continue
        state.recurrence.reorder(
            int64_tensor(backpointers[backpointers.size() - 2], x_RD.device()));
      }
      state.recurrence = recurrence->step(x_RD, state.recurrence);
      return state.recurrence.hidden;
    case Mixer::none:
      break;
  }
  throw std::logic_error("no token mixer");
}

torch::Tensor TokenMixer::attend(const torch::Tensor& x_RD, MixerState& state,
                                 std::span<const std::vector<int32_t>> backpointers,
                                 const PositionInScores& position) {
  const auto steps = static_cast<int64_t>(backpointers.size());
  state.kv_cache.push_back(self_attention->project(x_RD, position.rotation));
  const int64_t visible = window_ == 0 ? steps : std::min(window_, steps);
  const auto first = static_cast<size_t>(steps - visible);
  const torch::Tensor out_RD = self_attention->attend_to_cache(
      x_RD, std::span(state.kv_cache).subspan(first), backpointers.subspan(first), position);
  if (window_ > 0) forget(state.kv_cache, steps - window_);
  return out_RD;
}

}  // namespace attn
