#include "app/inspect/attention_report.h"

#include <algorithm>

#include "app/inspect/token_labels.h"
#include "base/error.h"
#include "model/attention_heads.h"

namespace attn {
namespace {

constexpr size_t kMaxWeights = size_t{1} << 26;

AttentionSentence described(const Tokenizers& tokenizers, const ScoredPair& pair,
                            const PairTexts& texts) {
  const Tokenizer &source = *tokenizers.source, &target = *tokenizers.target;
  AttentionSentence sentence;
  sentence.source = token_labels(source, pair.source, texts.source);
  sentence.source.push_back({source.piece(source.eos())});
  sentence.target = token_labels(target, pair.target, texts.target);
  sentence.target.insert(sentence.target.begin(), {target.piece(target.bos())});
  return sentence;
}

AttentionMap to_map(const AttentionRecord& record, const AttentionSentence& sentence) {
  const torch::Tensor weights =
      record.observed.weights_BHLM.to(torch::kCPU, torch::kFloat32).contiguous();
  const bool of_source = record.kind == AttentionKind::encoder;
  const bool over_target = record.kind == AttentionKind::decoder;
  const auto queries = static_cast<int64_t>((of_source ? sentence.source : sentence.target).size());
  const auto keys = static_cast<int64_t>((over_target ? sentence.target : sentence.source).size());
  TORCH_CHECK(weights.size(0) == 1 && weights.size(2) == queries && weights.size(3) == keys,
              "attention: a layer has weights ", weights.sizes(), ", not of ", queries,
              " queries and ", keys, " keys");
  const auto* data = weights.data_ptr<float>();
  return {.kind = std::string(enum_name(record.kind)),
          .layer = record.layer,
          .heads = weights.size(1),
          .weights = {data, data + weights.numel()}};
}

}  // namespace

std::vector<AttentionSentence> attention_of(LoadedModel& loaded, const SelectedPairs& selected) {
  const torch::NoGradGuard no_grad;
  Seq2SeqModel& model = *loaded.model;
  model.eval();
  AttentionRecorder recorder(model);
  std::vector<AttentionSentence> sentences;
  size_t weights = 0;
  for (size_t i = 0; i < selected.pairs.size(); ++i) {
    const ScoredPair& pair = selected.pairs[i];
    const ForcedBatch batch = forced_batch(std::span(&pair, 1), loaded.tokenizers, model.device());
    model.forward(batch.source, batch.target_in);
    sentences.push_back(described(loaded.tokenizers, pair, selected.texts[i]));
    sentences.back().line = static_cast<int64_t>(selected.lines[i]) + 1;
    for (const AttentionRecord& record : recorder.take()) {
      sentences.back().maps.push_back(to_map(record, sentences.back()));
      weights += sentences.back().maps.back().weights.size();
    }
    std::ranges::stable_sort(sentences.back().maps, {}, [](const AttentionMap& map) {
      return map.kind == "encoder" ? 0 : map.kind == "decoder" ? 1 : 2;
    });
    if (weights <= kMaxWeights) continue;
    throw ConfigError("attention: more than 2^26 weights in " + std::to_string(sentences.size()) +
                      " sentences; reduce --lines or --max-tokens");
  }
  return sentences;
}

}  // namespace attn
