#include "model/transformer/mixer.h"

#include <stdexcept>

namespace attn {

TokenMixer::TokenMixer(torch::nn::Module& owner, const TransformerConfig& config,
                       const SideMixer& side, int64_t layer)
    : kind_(side.config.kind),
      window_(kind_ == Mixer::restricted_attention ? side.config.window : 0) {
  const auto& [mixer, causal, bidirectional] = side;
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
  // Formula mixer: fast paths packed_search, transformer_step.
  if (!sublayer) return x_ND;
  return sublayer->forward(x_ND, [&](const torch::Tensor& x) { return mix(x, self); });
  // End of formula.
}

torch::Tensor TokenMixer::mix(const torch::Tensor& x_ND, AttentionSpec self) {
  // Formula mixer: fast paths packed_search, transformer_step.
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
                               const StepAncestors& ancestors, const AttentionSpec& self) {
  if (!sublayer) return x_RD;
  return sublayer->forward(
      x_RD, [&](const torch::Tensor& x) { return mix_step(x, state, ancestors, self); });
}

torch::Tensor TokenMixer::mix_step(const torch::Tensor& x_RD, MixerState& state,
                                   const StepAncestors& ancestors, const AttentionSpec& self) {
  switch (kind_) {
    case Mixer::attention:
    case Mixer::restricted_attention: {
      auto& cache = state.kv_cache;
      cache.push_back(self_attention->project(x_RD, self.position.rotation));
      const torch::Tensor out_RD = self_attention->attend(x_RD, cache, ancestors, self);
      // No later position sees the first one.
      if (window_ > 0 && self.keys.longest() == window_) {
        cache[cache.size() - static_cast<size_t>(window_)] = {};
      }
      return out_RD;
    }
    case Mixer::convolution:
      return convolution->step(x_RD, state.inputs, ancestors);
    case Mixer::recurrence:
      if (ancestors.steps() == 1) {
        state.recurrence = recurrence->first(x_RD.size(0), x_RD.options());
      } else {  // the previous position's rows that the present ones continue
        state.recurrence.reorder(ancestors.rows(1, x_RD.device()));
      }
      state.recurrence = recurrence->step(x_RD, state.recurrence);
      return state.recurrence.hidden;
    case Mixer::none:
      break;
  }
  throw std::logic_error("no token mixer");
}

}  // namespace attn
