#include "app/inspect/attention_report.h"

#include <algorithm>

#include "base/error.h"
#include "model/attention_heads.h"

namespace attn {
namespace {

constexpr size_t kMostWeights = size_t{1} << 26;

std::vector<std::string> pieces(const Tokenizer& tokenizer, std::span<const int32_t> tokens) {
  std::vector<std::string> out;
  for (const int32_t token : tokens) out.push_back(tokenizer.piece(token));
  return out;
}

AttentionSentence described(const Tokenizers& tokenizers, const ForcedPair& pair) {
  AttentionSentence sentence;
  sentence.source = pieces(*tokenizers.source, pair.source);
  sentence.source.push_back(tokenizers.source->piece(tokenizers.source->eos()));
  sentence.target = pieces(*tokenizers.target, pair.target);
  sentence.target.insert(sentence.target.begin(),
                         tokenizers.target->piece(tokenizers.target->bos()));
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

std::vector<AttentionSentence> attention_of(LoadedModel& loaded,
                                            std::span<const ForcedPair> pairs) {
  const torch::NoGradGuard no_grad;
  Seq2SeqModel& model = *loaded.model;
  model.eval();
  AttentionRecorder recorder(model);
  std::vector<AttentionSentence> sentences;
  size_t weights = 0;
  for (const ForcedPair& pair : pairs) {
    const ForcedBatch batch = forced_batch(std::span(&pair, 1), loaded.tokenizers, model.device());
    model.forward(batch.source, batch.target_in);
    sentences.push_back(described(loaded.tokenizers, pair));
    for (const AttentionRecord& record : recorder.take()) {
      sentences.back().maps.push_back(to_map(record, sentences.back()));
      weights += sentences.back().maps.back().weights.size();
    }
    std::ranges::stable_sort(sentences.back().maps, {}, [](const AttentionMap& map) {
      return map.kind == "encoder" ? 0 : map.kind == "decoder" ? 1 : 2;
    });
    if (weights <= kMostWeights) continue;
    throw ConfigError("attention: more than 2^26 weights in " + std::to_string(sentences.size()) +
                      " sentences; reduce --lines or --max-tokens");
  }
  return sentences;
}

}  // namespace attn
