#include "eval/heads/head_pruning.h"

#include "eval/metrics/text_score.h"
#include "eval/tasks/translator.h"

namespace attn {

HeadPruning::HeadPruning(Seq2SeqModel& model, Tokenizers tokenizers, const SearchConfig& search,
                         std::vector<std::string> sources, std::vector<std::string> references,
                         const BleuOptions& bleu)
    : model_(model),
      tokenizers_(std::move(tokenizers)),
      search_(search),
      sources_(std::move(sources)),
      references_{std::move(references)},
      bleu_(bleu) {}

std::vector<BleuStatistics> HeadPruning::without(std::span<const HeadId> heads,
                                                 const std::string& what) {
  if (log) log(what);
  const HeadMask mask(model_, heads);
  // Created here: it may hold copies of the weights.
  Translator translator(model_, tokenizers_, search_);
  std::vector<std::string> hypotheses;
  for (const auto& nbest : translator.translate(sources_)) hypotheses.push_back(nbest[0].text);
  return corpus_statistics(hypotheses, references_, bleu_);
}

std::vector<PrunedScore> HeadPruning::curve(std::span<const HeadId> order) {
  std::vector<PrunedScore> scores;
  for (size_t tenth = 0; tenth <= 10; ++tenth) {
    const size_t masked = (order.size() * tenth + 5) / 10;
    if (!scores.empty() && scores.back().masked == static_cast<int64_t>(masked)) continue;
    const auto statistics = without(order.first(masked), std::to_string(masked) + " heads masked");
    scores.push_back({.masked = static_cast<int64_t>(masked),
                      .bleu = score_of(sum_of(statistics), bleu_, 1).score});
  }
  return scores;
}

std::vector<AblatedScore> HeadPruning::ablation(std::span<const HeadId> heads) {
  const auto resampled = [&](std::span<const HeadId> masked, const std::string& what) {
    return resampled_text(without(masked, what), bleu_);
  };
  const ResampledSystem whole = resampled({}, "whole model");
  std::vector<ResampledSystem> ablated;
  for (const HeadId& head : heads) {
    ablated.push_back(resampled(std::span(&head, 1), std::string(enum_name(head.kind)) + " layer " +
                                                         std::to_string(head.layer + 1) + " head " +
                                                         std::to_string(head.head + 1) +
                                                         " masked"));
  }
  const auto systems = resample_systems(whole, ablated).systems;
  std::vector<AblatedScore> scores;
  for (size_t i = 0; i < heads.size(); ++i) {
    scores.push_back({heads[i], systems[i].difference, systems[i].p_value});
  }
  return scores;
}

}  // namespace attn
