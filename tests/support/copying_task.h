// A training task small enough for tests: a tiny Transformer learns to copy sentences.
#pragma once

#include <filesystem>
#include <vector>

#include "base/random.h"
#include "data/batches.h"
#include "model/transformer/transformer.h"
#include "tests/support/models.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace attn::testing {

constexpr int64_t kCopyingClasses = 20;
inline const VocabularySizes kCopyingSizes{kCopyingClasses, kCopyingClasses, 0, {4, 5, 6, 7}};

/// Of as many classes on both sides, with BOS 1 and EOS 2.
inline Vocabularies equal_vocabularies(int64_t classes) {
  return {classes, classes, /*source_eos=*/2, /*target_bos=*/1, /*target_eos=*/2};
}

/// Sentences to be copied, of 2 to 8 tokens.
inline EncodedCorpus copying_corpus(int64_t pairs = 64) {
  Random random(3);
  std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>> list;
  for (int64_t i = 0; i < pairs; ++i) {
    std::vector<int32_t> words(2 + random.below(7));
    for (auto& word : words) word = static_cast<int32_t>(3 + random.below(kCopyingClasses - 3));
    list.emplace_back(words, words);
  }
  return {list, equal_vocabularies(kCopyingClasses)};
}

inline TransformerConfig copying_model() {
  TransformerConfig config = small_model();
  config.layers = 1;
  config.d_ff = 32;
  return config;
}

inline TrainConfig copying_training() {
  TrainConfig config;
  config.schedule = Schedule::constant;
  config.warmup = 5;
  config.learning_rate = 0.003;
  return config;
}

/// A complete training set-up, created from seeds.
struct CopyingTask {
  EncodedCorpus pairs;
  BatchStream stream;
  Transformer model;
  Trainer trainer;

  explicit CopyingTask(const TrainConfig& train = copying_training(), int64_t batch_tokens = 60,
                       const TransformerConfig& shape = copying_model(),
                       torch::Device device = torch::kCPU, const TrainerProcesses& processes = {})
      : pairs(copying_corpus()),
        stream(pairs, {.batch_tokens = batch_tokens, .seed = 5}),
        model(seeded(shape, device)),
        trainer(train, 9, *model, stream, processes, class_rule(batch_tokens, 0)) {}

  static Transformer seeded(const TransformerConfig& shape, torch::Device device = torch::kCPU) {
    torch::manual_seed(1);
    Transformer model(shape, kCopyingSizes);
    model->to(device);
    return model;
  }
  torch::Tensor weights() { return trainer.parameters().values.clone(); }
  void train_to(int64_t step) {
    while (trainer.state.step < step) trainer.step();
  }
  /// Writes a checkpoint, of the averaged weights if there are any.
  void save(const std::filesystem::path& folder) {
    {
      const AveragedWeights averaged(trainer.average());
      save_weights(folder / "model", *model);
    }
    save_training_state(folder / "state", trainer, trainer.collect_state());
  }
  /// Continues from a checkpoint.
  void load(const std::filesystem::path& folder) {
    load_weights(folder / "model", *model);
    load_training_state(folder / "state", trainer, trainer.collect_state());
    stream.restore(trainer.state.stream);
  }
};

}  // namespace attn::testing
