// A training step, measured: `attn bench step`, `attn train --dry-run`, the dry run of a sweep.
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "app/experiment/initial_model.h"
#include "app/machine/device.h"
#include "app/machine/processes.h"
#include "app/sweep/costs.h"
#include "base/file.h"
#include "base/format.h"
#include "base/random.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "data/mixture.h"
#include "data/parsing/treebank.h"
#include "data/source_features.h"
#include "kernels/cuda/gpu_kernels.h"
#include "kernels/fast_path.h"
#include "kernels/ops/measure.h"
#include "train/trainer.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int64_t kSyntheticPairs = 20'000;
// Log-normal lengths, about those of WMT14 en-de in 37,000 subwords: most sentences are short, a
// few are long. Targets vary around the length of their source.
constexpr double kMedianLength = 22.0, kLengthSpread = 0.6, kTargetSpread = 0.2;
constexpr double kMaxLength = 200.0;  // tokens, without EOS
constexpr int64_t kFirstToken = 4;    // after the special tokens
constexpr int64_t kMostFirst = 500;   // updates before the measurement

struct Material {
  std::unique_ptr<EncodedCorpus> corpus;
  std::optional<Tokenizers> tokenizers;  // of real text
};

bool has_text(const DataConfig& data) {
  return !data.train.empty() &&
         std::ranges::all_of(text_files(data, data.train),
                             [](const fs::path& file) { return fs::exists(file); });
}

double normal(Random& random) {  // Box and Muller
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

int64_t vary(Random& random, double length, double spread) {
  return std::llround(std::clamp(length * std::exp(spread * normal(random)), 1.0, kMaxLength));
}

std::vector<int32_t> synthetic_sentence(Random& random, int64_t vocabulary, int64_t length) {
  const auto words = static_cast<uint64_t>(std::max<int64_t>(vocabulary - kFirstToken, 1));
  std::vector<int32_t> tokens(static_cast<size_t>(length));
  for (int32_t& token : tokens) {
    token = static_cast<int32_t>(kFirstToken + static_cast<int64_t>(random.below(words)));
  }
  return tokens;
}

Material synthetic(int64_t vocabulary, int64_t length) {
  Random random(1);
  std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>> pairs;
  for (int64_t i = 0; i < kSyntheticPairs; ++i) {
    const int64_t source = length > 0 ? length : vary(random, kMedianLength, kLengthSpread);
    const int64_t target =
        length > 0 ? length : vary(random, static_cast<double>(source), kTargetSpread);
    auto tokens = synthetic_sentence(random, vocabulary, source);
    pairs.emplace_back(std::move(tokens), synthetic_sentence(random, vocabulary, target));
  }
  const Vocabularies sizes{.source_size = vocabulary,
                           .target_size = vocabulary,
                           .source_eos = 2,
                           .target_bos = 1,
                           .target_eos = 2};
  return {.corpus = std::make_unique<EncodedCorpus>(pairs, sizes)};
}

Material material(const Experiment& experiment, const StepBenchmarkOptions& options) {
  const DataConfig& data = experiment.data;
  if (options.synthetic_length > 0 || !has_text(data)) {
    return synthetic(options.vocabulary > 0 ? options.vocabulary : data.vocab_size,
                     options.synthetic_length);
  }
  const fs::path cache =
      data.cache.empty() ? user_temporary_directory() / "bench" : fs::path(data.cache);
  const DataConfig text = with_training_text(data, cache, 1);
  std::optional<InitialModel> initial;
  if (!experiment.train.init_from.empty()) initial.emplace(experiment.train.init_from);
  const Tokenizers tokenizers =
      training_tokenizers(experiment, text, initial ? &*initial : nullptr, cache, {});
  return {.corpus = std::make_unique<EncodedCorpus>(
              load_corpus({.source = text_path(text.train, text.source),
                           .target = text_path(text.train, text.target),
                           .tags = tags_file(text),
                           .tokenizers = tokenizers,
                           .max_length = data.max_length,
                           .cache_directory = cache,
                           .threads = torch::get_num_threads()})),
          .tokenizers = tokenizers};
}

// Bytes of a GPU; 0: a CPU, or a LibTorch whose allocators do not say.
double memory_of(torch::Device device) {
  if (!device.is_cuda()) return 0.0;
  const auto total = [](auto* allocator) -> size_t {
    if constexpr (requires { allocator->getMemoryInfo(0); }) {
      return allocator->getMemoryInfo(0).second;
    } else {
      return 0;
    }
  };
  return static_cast<double>(total(c10::getDeviceAllocator(c10::DeviceType::CUDA)));
}

}  // namespace

StepBenchmark benchmark_step(const Experiment& experiment, const StepBenchmarkOptions& options,
                             const Context& context) {
  const torch::Device device = context.device;
  const auto say = [](const std::string& text) { std::cerr << text << "\n"; };
  const Material data = material(experiment, options);
  if (!data.tokenizers && options.synthetic_length == 0) {
    say("the training text is missing: measuring on synthetic pairs of log-normal lengths (median "
        "22 tokens)");
  }
  const Vocabularies& known = data.corpus->vocabularies();
  // Which tokens are words of the source does not affect the cost.
  const VocabularySizes vocabulary{
      known.source_size, known.target_size, known.source_features, {0}};
  const int64_t wanted = experiment.data.batch_tokens;
  const int64_t measured = std::min(wanted, options.batch_tokens);
  const auto seed = static_cast<uint64_t>(experiment.seed);

  torch::manual_seed(seed);
  use_kernels(experiment.runtime.kernels);
  use_gpu_kernels(experiment.runtime.gpu_kernels);
  const auto model = make_model(experiment.model, vocabulary);
  model->to(device);
  BatchStream stream(*data.corpus, {.batch_tokens = measured, .seed = seed});
  TrainConfig config = experiment.train;
  config.accumulate = 1;
  Trainer trainer(config, seed, *model, stream, {},
                  class_rule(measured, model->max_length().value_or(0)));
  const double idle = static_cast<double>(peak_memory(device));
  if (experiment.runtime.graphs != Use::off) trainer.use_graphs(say);
  trainer.check_memory(largest_batch(*data.corpus, measured));
  // On a GPU, graphs of nearly all classes are captured and compared before the clock starts.
  const int64_t first = device.is_cuda() ? std::min(3 * stream.epoch_batches(), kMostFirst) : 1;
  while (trainer.state.step < first) trainer.step();

  StepBenchmark out{.real_data = data.tokenizers.has_value()};
  int64_t tokens = 0;
  const auto begin = Clock::now();
  std::chrono::duration<double> spent{};
  do {
    tokens += trainer.step().target_tokens;
    spent = Clock::now() - begin;
  } while (spent.count() < options.seconds);
  if (options.trace) say(trace_table([&] { trainer.step(); }, device));

  const BatchStream whole(*data.corpus, {.batch_tokens = wanted, .seed = seed});
  const double batches = static_cast<double>(whole.epoch_batches());
  const double share = static_cast<double>(experiment.train.accumulate) / batches;
  const int64_t epoch_tokens = data.corpus->target_tokens();
  int64_t longest = 0;  // a longer pair than the limit is a batch, too
  for (int64_t i = 0; i < data.corpus->size(); ++i) {
    longest =
        std::max({longest, data.corpus->target_length(i) + 1, data.corpus->source_length(i) + 1});
  }
  const double epoch = epoch_flops(*data.corpus, experiment.model, vocabulary);
  out.parameters = parameter_count(experiment.model, vocabulary);
  out.source_vocabulary = vocabulary.source;
  out.target_vocabulary = vocabulary.target;
  out.source_features = vocabulary.source_features;
  out.flops_per_update = epoch * share;
  out.tokens_per_update = static_cast<double>(epoch_tokens) * share;
  out.tokens_per_pair =
      static_cast<double>(epoch_tokens) / static_cast<double>(data.corpus->size());
  out.tokens_per_second = static_cast<double>(tokens) / spent.count();
  out.flops_per_second = epoch / static_cast<double>(epoch_tokens) * out.tokens_per_second;
  out.seconds_per_update = out.flops_per_update / out.flops_per_second;
  const double peak = static_cast<double>(peak_memory(device));
  out.pairs = data.corpus->size();
  out.updates_per_epoch = 1.0 / share;
  out.longest = longest;
  if (data.tokenizers) {
    const auto unknown = [&](Side side, const Tokenizer& tokenizer) {
      const UnknownTokens count = data.corpus->unknown(side, tokenizer);
      return static_cast<double>(count.unknown) /
             static_cast<double>(std::max<int64_t>(count.all, 1));
    };
    out.unknown_source = unknown(Side::source, *data.tokenizers->source);
    out.unknown_target = unknown(Side::target, *data.tokenizers->target);
  }
  out.device_memory = memory_of(device);
  const auto fixed = static_cast<double>(out.parameters * experiment.train.bytes_per_parameter());
  const double moving = std::max(peak - std::max(idle, fixed), 0.0);
  const auto scaled = static_cast<double>(std::max(wanted, longest)) /
                      static_cast<double>(std::max(measured, longest));
  out.memory = peak + moving * (scaled - 1.0);
  return out;
}

}  // namespace attn
