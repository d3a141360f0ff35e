#include "app/bench/layers.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "app/bench/median.h"
#include "app/machine/device.h"
#include "base/error.h"
#include "kernels/compute_scope.h"
#include "kernels/ops/linear.h"
#include "model/transformer/transformer.h"
#include "train/loss.h"
#include "train/optimizer.h"
#include "train/precision.h"

namespace attn {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin, torch::Device device) {
  wait_for(device);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Medians over as many repetitions as fit into the time, without the first one.
LayerTime time_part(const std::string& name, int64_t count, double seconds, torch::Device device,
                    const std::function<torch::Tensor()>& forward) {
  std::vector<double> forwards, backwards;
  forward().sum().backward();
  const auto begin = Clock::now();
  while (forwards.size() < 3 || seconds_since(begin, device) < seconds) {
    const auto start = Clock::now();
    const torch::Tensor out = forward();
    forwards.push_back(seconds_since(start, device));
    const torch::Tensor gradient = torch::ones_like(out);
    const auto middle = Clock::now();
    out.backward(gradient);
    backwards.push_back(seconds_since(middle, device));
  }
  return {name, count, median(forwards), median(backwards)};
}

LayerTime time_updates(Optimizer& optimizer, const std::string& name, torch::Device device) {
  constexpr double kLearningRate = 1e-4;
  std::vector<double> updates;
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    optimizer.update(kLearningRate, i + 1);
    updates.push_back(seconds_since(start, device));
  }
  return {name, 1, median(updates), 0.0};
}

}  // namespace

std::vector<LayerTime> benchmark_layers(const Experiment& experiment,
                                        const LayersBenchmarkOptions& options,
                                        torch::Device device) {
  const int64_t classes = options.vocabulary > 0 ? options.vocabulary : experiment.data.vocab_size;
  torch::manual_seed(static_cast<uint64_t>(experiment.seed));
  const auto* config = std::get_if<TransformerConfig>(&experiment.model.options);
  if (config == nullptr) {
    throw ConfigError("model.architecture: bench layers supports the transformer only");
  }
  Transformer model(*config, VocabularySizes{classes, classes});
  model->to(device);
  model->train();
  FlatParameters parameters(*model);
  const auto optimizer =
      make_optimizer(experiment.train.optimizer, parameters, model->hidden_rate());

  const int64_t sentences =
      std::max<int64_t>(1, experiment.data.batch_tokens / std::max<int64_t>(options.length, 1));
  const std::vector<int64_t> lengths(static_cast<size_t>(sentences), options.length);
  const Segments rows(lengths, device);
  const torch::Tensor tokens_N =
      torch::randint(classes, {rows.rows()}, torch::TensorOptions(device).dtype(torch::kInt64));
  const auto states = [&] {
    return torch::randn({rows.rows(), config->d_model}, device).requires_grad_();
  };
  const torch::Tensor x_ND = states(), memory_ND = states();
  const AttentionSpec all{.queries = rows, .keys = rows};
  const AttentionSpec causal{.queries = rows, .keys = rows, .causal = true};
  auto& encoder = *model->encoder->layers[0]->as<EncoderLayer>();
  auto& decoder = *model->decoder->layers[0]->as<DecoderLayer>();
  constexpr int64_t kBos = 1;
  const auto targets = training_targets(experiment.train, classes, kBos);
  const int64_t layers = config->layers;
  const Precision products = effective_precision(experiment.train.precision, device);
  PackedWeights packed_weights(products);
  const auto time = [&](const std::string& name, int64_t count,
                        const std::function<torch::Tensor()>& forward) {
    return time_part(name, count, options.seconds, device, [&] {
      const ComputeScope scope(
          {.precision = products, .device = device, .packed_weights = &packed_weights});
      return forward();
    });
  };
  const auto time_mixer = [&](const std::string& side, const MixerConfig& mixer, TokenMixer& layer,
                              const AttentionSpec& spec) {
    const std::string kind(mixer.kind == Mixer::attention ? "self-attention"
                                                          : enum_name(mixer.kind));
    if (mixer.kind == Mixer::none) return LayerTime{.name = side + " " + kind};
    return time(side + " " + kind, layers, [&] { return layer.mix(x_ND, spec); });
  };
  const int64_t mixers = (config->encoder_mixer.kind != Mixer::none ? 1 : 0) +
                         (config->decoder_mixer.kind != Mixer::none ? 1 : 0);
  std::vector<LayerTime> out = {
      time("embedding", 2,
           [&] {
             return model->target_embedding(model->embeddings.of_target(), tokens_N,
                                            rows.positions(), rows.longest());
           }),
      time_mixer("encoder", config->encoder_mixer, encoder.mixer, all),
      time_mixer("decoder", config->decoder_mixer, decoder.mixer, causal),
      time("cross-attention", layers,
           [&] { return decoder.cross_attention(x_ND, memory_ND, all); }),
      time("feed-forward", 2 * layers, [&] { return encoder.feed_forward(x_ND); }),
      time("residual and norm", (3 + mixers) * layers,
           [&] {
             return encoder.feed_forward_sublayer->forward(
                 x_ND, [&](const torch::Tensor&) { return memory_ND; });
           }),
      time("projection and loss", 1,
           [&] { return output_loss(*model, x_ND, tokens_N, targets).loss; })};
  std::erase_if(out, [](const LayerTime& part) { return part.count == 0; });
  const std::string name(enum_name(experiment.train.optimizer.kind));
  out.push_back(time_updates(*optimizer, name, device));
  return out;
}

}  // namespace attn
