#include "eval/heads/measure_heads.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace attn {
namespace {

/// The weights of one head on one sentence.
struct HeadWeights {
  const float* weights = nullptr;  ///< [queries, stride]
  int64_t queries = 0;             ///< rows that count
  int64_t keys = 0;                ///< EOS included
  int64_t stride = 0;
  bool causal = false;  ///< query i has the keys 0 to i
  /// The keys that may be an argmax: all, or all but EOS at the end.
  int64_t named_keys = 0;
  /// Frequency of each named key in the data set; empty for a sentence without rare tokens.
  std::span<const int64_t> frequencies;
};

/// Running sums behind the statistics of one head.
class HeadCounts {
 public:
  void add(const HeadWeights& head) {
    for (int64_t query = 0; query < head.queries; ++query) add_query(head, query);
    if (!head.frequencies.empty()) add_rare(head);
  }

  /// Everything but the importance.
  HeadStatistics statistics() const {
    HeadStatistics out;
    const auto queries = static_cast<double>(std::max<int64_t>(queries_, 1));
    out.entropy = entropy_ / queries;
    out.relative_entropy = relative_ / static_cast<double>(std::max<int64_t>(uncertain_, 1));
    out.confidence = confidence_ / queries;
    out.distance = distance_ / queries;
    out.argmax_distance = argmax_ / queries;
    int64_t max_count = 0;
    for (const auto& [offset, count] : offsets_) {
      if (count > max_count) out.offset = offset;
      max_count = std::max(max_count, count);
    }
    out.positional = static_cast<double>(max_count) / queries;
    out.rare = rare_sentences_ == 0
                   ? std::numeric_limits<double>::quiet_NaN()
                   : static_cast<double>(rare_hits_) / static_cast<double>(rare_sentences_);
    return out;
  }

 private:
  void add_query(const HeadWeights& head, int64_t query) {
    const int64_t keys = head.causal ? std::min(query + 1, head.keys) : head.keys;
    const std::span<const float> row(head.weights + query * head.stride, static_cast<size_t>(keys));
    double entropy = 0.0;
    for (int64_t key = 0; key < keys; ++key) {
      const double weight = row[static_cast<size_t>(key)];
      if (weight > 0.0) entropy -= weight * std::log(weight);
      distance_ += weight * static_cast<double>(std::abs(key - query));
    }
    entropy_ += entropy;
    if (keys > 1) {
      relative_ += entropy / std::log(static_cast<double>(keys));
      ++uncertain_;
    }
    ++queries_;
    TORCH_CHECK(head.named_keys > 0, "named_keys must be positive");
    const auto named = row.first(static_cast<size_t>(std::min(keys, head.named_keys)));
    const auto best = std::max_element(named.begin(), named.end());
    const int64_t offset = (best - named.begin()) - query;
    confidence_ += *best;
    argmax_ += static_cast<double>(std::abs(offset));
    ++offsets_[offset];
  }

  void add_rare(const HeadWeights& head) {
    std::vector<double> sums(static_cast<size_t>(head.named_keys));
    for (int64_t query = 0; query < head.queries; ++query) {
      for (size_t key = 0; key < sums.size(); ++key) {
        sums[key] += head.weights[query * head.stride + static_cast<int64_t>(key)];
      }
    }
    const auto most_weighted = std::max_element(sums.begin(), sums.end()) - sums.begin();
    rare_hits_ += head.frequencies[static_cast<size_t>(most_weighted)] ==
                  *std::min_element(head.frequencies.begin(), head.frequencies.end());
    ++rare_sentences_;
  }

  int64_t queries_ = 0, uncertain_ = 0, rare_sentences_ = 0, rare_hits_ = 0;
  double entropy_ = 0.0, relative_ = 0.0, confidence_ = 0.0, distance_ = 0.0, argmax_ = 0.0;
  std::map<int64_t, int64_t> offsets_;
};

/// How often each token occurs on one side of the text, and from which count on it is common.
struct Frequencies {
  std::unordered_map<int64_t, int64_t> counts;
  int64_t common = 0;

  void limit(int64_t common_tokens) {
    std::vector<int64_t> sorted;
    for (const auto& [token, count] : counts) sorted.push_back(count);
    std::ranges::sort(sorted, std::greater<>());
    const auto place = static_cast<size_t>(common_tokens);
    // Without so many tokens all of them are common.
    common = common_tokens == 0      ? std::numeric_limits<int64_t>::max()
             : place > sorted.size() ? 0
                                     : sorted[place - 1];
  }
};

// The frequencies of the keys of a sentence; empty unless one of them is rare. BOS is in each.
std::vector<int64_t> key_frequencies(const Frequencies& side, std::span<const int32_t> tokens,
                                     bool with_bos, int64_t sentences) {
  std::vector<int64_t> out;
  if (with_bos) out.push_back(sentences);
  for (const int32_t token : tokens) out.push_back(side.counts.at(token));
  const bool rare =
      std::ranges::any_of(out, [&](int64_t frequency) { return frequency < side.common; });
  return rare ? out : std::vector<int64_t>();
}

/// Sizes of consecutive batches of at most `tokens` padded tokens, or of one pair.
std::vector<size_t> batch_sizes(std::span<const ScoredPair> pairs, int64_t tokens) {
  std::vector<size_t> sizes;
  size_t longest = 0;
  for (const ScoredPair& pair : pairs) {
    const size_t length = std::max(pair.source.size(), pair.target.size()) + 1;
    longest = std::max(longest, length);
    if (sizes.empty() || (sizes.back() + 1) * longest > static_cast<size_t>(tokens)) {
      sizes.push_back(0);
      longest = length;
    }
    ++sizes.back();
  }
  return sizes;
}

class Collector {
 public:
  Collector(Seq2SeqModel& model, const Tokenizers& tokenizers, std::span<const ScoredPair> pairs,
            const HeadStatisticsOptions& options)
      : model_(model), tokenizers_(tokenizers), pairs_(pairs), heads_(all_heads(model)) {
    counts_.resize(heads_.size());
    importance_.resize(heads_.size());
    for (const ScoredPair& pair : pairs) {
      for (const int32_t token : pair.source) ++source_.counts[token];
      for (const int32_t token : pair.target) ++target_.counts[token];
    }
    source_.limit(options.common_tokens);
    target_.limit(options.common_tokens);
  }

  void add(std::span<const ScoredPair> pairs) {
    AttentionRecorder recorder(model_);
    const ForcedBatch batch = forced_batch(pairs, tokenizers_, model_.device());
    const torch::Tensor rows_ND = model_.forward(batch.source, batch.target_in);
    const std::vector<AttentionRecord> records = recorder.take();
    for (const AttentionRecord& record : records) {
      record.observed.contexts_BHLK.retain_grad();
    }
    const torch::Tensor log_probabilities = model_.project(rows_ND).log_softmax(-1);
    (-log_probabilities.gather(1, batch.targets_N.unsqueeze(1)).sum()).backward();
    for (const AttentionRecord& record : records) add_record(record, pairs);
    model_.zero_grad();
  }

  std::vector<HeadStatistics> statistics() const {
    std::vector<HeadStatistics> out;
    for (size_t i = 0; i < heads_.size(); ++i) {
      out.push_back(counts_[i].statistics());
      out.back().id = heads_[i];
      out.back().importance = importance_[i] / static_cast<double>(queries_of(heads_[i].kind));
    }
    for (HeadStatistics& head : out) {
      double squares = 0.0;
      for (const HeadStatistics& other : out) {
        const bool same = other.id.kind == head.id.kind && other.id.layer == head.id.layer;
        if (same) squares += other.importance * other.importance;
      }
      head.normalized_importance = squares > 0.0 ? head.importance / std::sqrt(squares) : 0.0;
    }
    return out;
  }

 private:
  int64_t queries_of(AttentionKind kind) const {
    int64_t sum = 0;
    for (const ScoredPair& pair : pairs_) {
      sum += static_cast<int64_t>(kind == AttentionKind::encoder ? pair.source.size()
                                                                 : pair.target.size() + 1);
    }
    return std::max<int64_t>(sum, 1);
  }

  size_t index_of(const AttentionRecord& record, int64_t head) const {
    return static_cast<size_t>(std::ranges::find(heads_, HeadId{record.kind, record.layer, head}) -
                               heads_.begin());
  }

  void add_record(const AttentionRecord& record, std::span<const ScoredPair> pairs) {
    const torch::Tensor weights =
        record.observed.weights_BHLM.detach().to(torch::kCPU, torch::kFloat32).contiguous();
    const torch::Tensor contexts = record.observed.contexts_BHLK;
    const torch::Tensor terms_BHL =
        (contexts.detach() * contexts.grad()).sum(-1).abs().to(torch::kCPU, torch::kFloat64);
    for (int64_t b = 0; b < weights.size(0); ++b) {
      const ScoredPair& pair = pairs[static_cast<size_t>(b)];
      const int64_t queries = static_cast<int64_t>(
          record.kind == AttentionKind::encoder ? pair.source.size() : pair.target.size() + 1);
      const bool of_source = record.kind != AttentionKind::decoder;
      const std::vector<int64_t> frequencies =
          key_frequencies(of_source ? source_ : target_, of_source ? pair.source : pair.target,
                          !of_source, static_cast<int64_t>(pairs_.size()));
      const int64_t named =
          static_cast<int64_t>(of_source ? pair.source.size() : pair.target.size() + 1);
      for (int64_t h = 0; h < weights.size(1); ++h) {
        const size_t head = index_of(record, h);
        counts_[head].add({.weights = weights[b][h].data_ptr<float>(),
                           .queries = queries,
                           .keys = of_source ? named + 1 : named,
                           .stride = weights.size(3),
                           .causal = record.kind == AttentionKind::decoder,
                           .named_keys = named,
                           .frequencies = frequencies});
        importance_[head] += terms_BHL[b][h].narrow(0, 0, queries).sum().item<double>();
      }
    }
  }

  Seq2SeqModel& model_;
  const Tokenizers& tokenizers_;
  std::span<const ScoredPair> pairs_;
  std::vector<HeadId> heads_;
  std::vector<HeadCounts> counts_;
  std::vector<double> importance_;
  Frequencies source_, target_;
};

}  // namespace

std::vector<HeadStatistics> head_statistics(Seq2SeqModel& model, const Tokenizers& tokenizers,
                                            std::span<const ScoredPair> pairs,
                                            const HeadStatisticsOptions& options) {
  model.eval();
  Collector collector(model, tokenizers, pairs, options);
  size_t begin = 0;
  for (const size_t size : batch_sizes(pairs, options.batch_tokens)) {
    collector.add(pairs.subspan(begin, size));
    begin += size;
  }
  return collector.statistics();
}

std::vector<HeadId> by_importance(std::span<const HeadStatistics> heads) {
  std::vector<HeadStatistics> sorted(heads.begin(), heads.end());
  std::ranges::stable_sort(sorted, {}, &HeadStatistics::normalized_importance);
  std::vector<HeadId> ids;
  for (const HeadStatistics& head : sorted) ids.push_back(head.id);
  return ids;
}

}  // namespace attn
