#include "eval/search/beam_search.h"

#include <algorithm>
#include <limits>

namespace attn {
namespace {

/// All prefixes as one tree of back-pointers: a hypothesis is the index of its last token. -1 is
/// the empty prefix.
struct Node {
  int64_t parent;
  int32_t token;
};

/// An active hypothesis.
struct Row {
  int64_t sentence;
  int64_t node;
  double log_prob;
};

/// A continuation of row `row` of the step.
struct Option {
  int64_t row;
  int32_t token;
  double log_prob;
};

struct Ended {
  int64_t node;
  double log_prob;
  double score;
  bool finished;
};

/// The beam of a sentence.
struct Beam {
  int64_t limit;
  std::vector<Ended> finished;    // sorted best first
  std::vector<Ended> unfinished;  // cut at the limit, best first; set when the search ends
};

bool better(const Option& a, const Option& b) {
  if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
  if (a.row != b.row) return a.row < b.row;
  return a.token < b.token;
}

class Search {
 public:
  Search(StepDecoder& decoder, std::span<const int64_t> source_lengths, const SearchConfig& config,
         int32_t bos, int32_t eos)
      : decoder_(decoder),
        config_(config),
        bos_(bos),
        eos_(eos),
        per_row_(2 * config.beam + (bos == eos ? 0 : 1)),  // BOS is skipped
        first_finished_(config.stop == StopRule::first_finished || config.beam == 1) {
    for (const int64_t length : source_lengths) {
      const int64_t sentence = std::ssize(beams_);
      beams_.push_back({output_limit(length, config), {}, {}});
      push_row({sentence, -1, 0.0}, sentence, bos);
    }
    rows_.swap(next_rows_);
  }

  void run() {
    for (int64_t length = 1; !rows_.empty(); ++length) {
      decoder_.step({parents_, tokens_, row_sentences_}, per_row_, candidates_);
      advance(length);
    }
  }

  /// Hypotheses that the limit has cut compete with finished ones by score: otherwise the empty
  /// one, which is finished at the first step, would be better than the right output without its
  /// end.
  std::vector<Hypothesis> hypotheses(int64_t sentence) const {
    const Beam& beam = beams_[sentence];
    std::vector<Ended> all = beam.finished;
    all.insert(all.end(), beam.unfinished.begin(), beam.unfinished.end());
    std::ranges::stable_sort(all, std::ranges::greater(), &Ended::score);
    all.resize(std::min(all.size(), static_cast<size_t>(config_.nbest)));
    std::vector<Hypothesis> result;
    for (const Ended& ended : all) result.push_back(hypothesis(ended));
    return result;
  }

 private:
  /// Extends the hypotheses by the step's candidates, to `length` tokens.
  void advance(int64_t length) {
    next_rows_.clear();
    parents_.clear();
    tokens_.clear();
    row_sentences_.clear();
    const auto count = static_cast<int64_t>(rows_.size());
    for (int64_t begin = 0, end = 0; begin < count; begin = end) {
      while (end < count && rows_[end].sentence == rows_[begin].sentence) ++end;
      collect_options(begin, end);
      extend(begin, end, length);
    }
    rows_.swap(next_rows_);
  }

  /// The 2 × beam best continuations of a sentence but BOS, best first, pruned. The comparison also
  /// drops NaN, which would break sorting; -inf is a forbidden token.
  void collect_options(int64_t begin, int64_t end) {
    options_.clear();
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t k = row * candidates_.per_row; k < (row + 1) * candidates_.per_row; ++k) {
        const int32_t token = candidates_.tokens[k];
        if (token == bos_ && bos_ != eos_) continue;
        const double log_prob = rows_[row].log_prob + candidates_.log_probs[k];
        if (log_prob > -std::numeric_limits<double>::infinity()) {
          options_.push_back({row, token, log_prob});
        }
      }
    }
    const auto kept = std::min(options_.size(), static_cast<size_t>(2 * config_.beam));
    std::partial_sort(options_.begin(), options_.begin() + static_cast<int64_t>(kept),
                      options_.end(), better);
    options_.resize(kept);
    if (config_.prune == 0 || options_.empty()) return;
    const double threshold = options_.front().log_prob - config_.prune;
    while (options_.back().log_prob < threshold) options_.pop_back();
  }

  /// Finishes or extends the rows begin .. end - 1 of one sentence by `options_`.
  void extend(int64_t begin, int64_t end, int64_t length) {
    const int64_t sentence = rows_[begin].sentence;
    Beam& beam = beams_[sentence];
    const size_t before = next_rows_.size();
    int64_t rank = 0, taken = 0;
    for (const Option& option : options_) {
      const Row& row = rows_[option.row];
      const bool among_best = rank++ < config_.beam;
      if (option.token == eos_) {
        if (among_best || !first_finished_) {
          add_finished(beam, ended(row.node, option.log_prob, length, true));
        }
      } else if (taken < config_.beam) {
        ++taken;
        const auto node = static_cast<int64_t>(nodes_.size());
        nodes_.push_back({row.node, option.token});
        if (length < beam.limit) {
          push_row({sentence, node, option.log_prob}, option.row, option.token);
        } else {
          beam.unfinished.push_back(ended(node, option.log_prob, length, false));
        }
      }
    }
    if (options_.empty() && beam.finished.empty()) {  // no allowed continuation, or NaN everywhere
      for (int64_t row = begin; row < end; ++row) {
        beam.unfinished.push_back(ended(rows_[row].node, rows_[row].log_prob, length - 1, false));
      }
    }
    if (next_rows_.size() == before) return;
    const double best = next_rows_[before].log_prob;  // the first row is the best
    if (nothing_better_can_come(beam, best, length)) drop_rows_from(before);
  }

  void add_finished(Beam& beam, const Ended& ended) const {
    auto& finished = beam.finished;
    const bool full = static_cast<int64_t>(finished.size()) == config_.beam;
    if (full && first_finished_) return;
    const auto place =
        std::ranges::upper_bound(finished, ended.score, std::ranges::greater(), &Ended::score);
    finished.insert(place, ended);
    if (full) finished.pop_back();
  }

  /// log p can only decrease, so the best score an active hypothesis can reach is log_prob /
  /// penalty at the most favourable length. The penalty is monotonic: that is the next length or
  /// the limit, depending on the sign of α.
  bool nothing_better_can_come(const Beam& beam, double best_log_prob, int64_t length) const {
    const auto count = static_cast<int64_t>(beam.finished.size());
    if (first_finished_) return count == config_.beam;
    if (count < config_.nbest) return false;
    const double bound = std::max(best_log_prob / length_penalty(config_, length + 1),
                                  best_log_prob / length_penalty(config_, beam.limit));
    return beam.finished[config_.nbest - 1].score >= bound;
  }

  void push_row(const Row& row, int64_t parent, int32_t token) {
    next_rows_.push_back(row);
    parents_.push_back(parent);
    tokens_.push_back(token);
    row_sentences_.push_back(row.sentence);
  }

  void drop_rows_from(size_t count) {
    next_rows_.erase(next_rows_.begin() + static_cast<int64_t>(count), next_rows_.end());
    parents_.resize(count);
    tokens_.resize(count);
    row_sentences_.resize(count);
  }

  Ended ended(int64_t node, double log_prob, int64_t length, bool finished) const {
    return {node, log_prob, log_prob / length_penalty(config_, std::max<int64_t>(1, length)),
            finished};
  }

  Hypothesis hypothesis(const Ended& ended) const {
    Hypothesis result{{}, ended.log_prob, ended.score, ended.finished};
    for (int64_t node = ended.node; node >= 0; node = nodes_[node].parent) {
      result.tokens.push_back(nodes_[node].token);
    }
    std::reverse(result.tokens.begin(), result.tokens.end());
    return result;
  }

  StepDecoder& decoder_;
  const SearchConfig& config_;
  const int32_t bos_, eos_;
  const int64_t per_row_;  // candidates
  const bool first_finished_;
  std::vector<Beam> beams_;
  std::vector<Node> nodes_;
  // Rows of this and of the next step.
  std::vector<Row> rows_, next_rows_;
  std::vector<int64_t> parents_, row_sentences_;
  std::vector<int32_t> tokens_;
  std::vector<Option> options_;
  Candidates candidates_;
};

}  // namespace

int64_t output_limit(int64_t source_length, const SearchConfig& config) {
  return std::max<int64_t>(1, source_length + config.extra_length);
}

std::vector<std::vector<Hypothesis>> beam_search(StepDecoder& decoder,
                                                 std::span<const int64_t> source_lengths,
                                                 const SearchConfig& config, int32_t bos,
                                                 int32_t eos) {
  config.validate();
  Search search(decoder, source_lengths, config, bos, eos);
  search.run();
  std::vector<std::vector<Hypothesis>> results;
  for (size_t i = 0; i < source_lengths.size(); ++i) {
    results.push_back(search.hypotheses(static_cast<int64_t>(i)));
  }
  return results;
}

}  // namespace attn
