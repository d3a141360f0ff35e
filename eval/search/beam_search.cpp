#include "eval/search/beam_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

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
  int64_t group;
  int64_t node;
  double log_prob;
};

/// A continuation of row `row` of the step.
struct Option {
  int64_t row;
  int32_t token;
  double log_prob;
  double rank;  ///< log_prob, less the penalty of diverse search
};

struct Ended {
  int64_t node;
  double log_prob;
  double score;
  bool finished;
};

/// A beam: one for each sentence, or several in diverse search.
struct Group {
  int64_t limit;
  std::vector<Ended> finished;    // sorted best first
  std::vector<Ended> unfinished;  // cut at the limit, best first; set when the search ends
};

bool better(const Option& a, const Option& b) {
  if (a.rank != b.rank) return a.rank > b.rank;
  if (a.row != b.row) return a.row < b.row;
  return a.token < b.token;
}

class Search {
 public:
  Search(StepDecoder& decoder, std::span<const int64_t> source_lengths, const SearchConfig& config,
         int32_t bos, int32_t eos);
  void run();
  std::vector<Hypothesis> hypotheses(int64_t sentence) const;

 private:
  void advance(int64_t length);
  int64_t sentence_of(const Row& row) const { return row.group / groups_per_sentence_; }
  void collect_options(int64_t begin, int64_t end);
  double penalty(int32_t token) const;
  void extend(int64_t begin, int64_t end, int64_t group, int64_t length);
  void add_finished(Group& group, const Ended& ended) const;
  bool nothing_better_can_come(const Group& group, double best_log_prob, int64_t length) const;
  void push_row(const Row& row, int64_t parent, int32_t token);
  void drop_rows_from(size_t count);
  Ended ended(int64_t node, double log_prob, int64_t length, bool finished) const;
  Hypothesis hypothesis(const Ended& ended) const;

  StepDecoder& decoder_;
  const SearchConfig& config_;
  const int32_t bos_, eos_;
  const int64_t groups_per_sentence_;
  const int64_t beam_;     // per group
  const int64_t nbest_;    // per group
  const int64_t per_row_;  // candidates
  const bool first_finished_;
  std::vector<Group> groups_;
  std::vector<Node> nodes_;
  // Rows of this and of the next step.
  std::vector<Row> rows_, next_rows_;
  std::vector<int64_t> parents_, row_sentences_;
  std::vector<int32_t> tokens_;
  std::vector<Option> options_;
  std::vector<int32_t> taken_;  // tokens of the sentence's earlier groups at this step
  Candidates candidates_;
};

Search::Search(StepDecoder& decoder, std::span<const int64_t> source_lengths,
               const SearchConfig& config, int32_t bos, int32_t eos)
    : decoder_(decoder),
      config_(config),
      bos_(bos),
      eos_(eos),
      groups_per_sentence_(config.groups),
      beam_(config.beam / config.groups),
      nbest_(std::min(config.nbest, beam_)),
      // In diverse search penalties can displace as many as there are tokens of other groups. BOS
      // is skipped.
      per_row_(2 * beam_ + (config.beam - beam_) + (bos == eos ? 0 : 1)),
      first_finished_(config.stop == StopRule::first_finished || beam_ == 1) {
  for (const int64_t length : source_lengths) {
    const auto first = static_cast<int64_t>(groups_.size());
    groups_.resize(groups_.size() + static_cast<size_t>(groups_per_sentence_),
                   {output_limit(length, config), {}, {}});
    push_row({first, -1, 0.0}, first / groups_per_sentence_, bos);
  }
  rows_.swap(next_rows_);
}

void Search::run() {
  for (int64_t length = 1; !rows_.empty(); ++length) {
    decoder_.step(parents_, tokens_, row_sentences_, per_row_, candidates_);
    const size_t wanted =
        rows_.size() * static_cast<size_t>(std::max<int64_t>(candidates_.per_row, 0));
    if (wanted == 0 || candidates_.tokens.size() != wanted ||
        candidates_.log_probs.size() != wanted) {
      throw std::invalid_argument("beam_search: the decoder's candidates are not [rows, per_row]");
    }
    advance(length);
  }
}

/// Extends the hypotheses by the step's candidates, to `length` tokens.
void Search::advance(int64_t length) {
  next_rows_.clear();
  parents_.clear();
  tokens_.clear();
  row_sentences_.clear();
  const auto count = static_cast<int64_t>(rows_.size());
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    const int64_t group = rows_[begin].group;
    while (end < count && rows_[end].group == group) ++end;
    if (begin == 0 || sentence_of(rows_[begin - 1]) != sentence_of(rows_[begin])) taken_.clear();
    // All groups of a sentence start from its first row.
    const int64_t last = length == 1 ? group + groups_per_sentence_ - 1 : group;
    for (int64_t g = group; g <= last; ++g) {
      collect_options(begin, end);
      extend(begin, end, g, length);
    }
  }
  rows_.swap(next_rows_);
}

/// Hamming diversity: the number of times that earlier groups have chosen the token at this step.
double Search::penalty(int32_t token) const {
  if (taken_.empty()) return 0.0;
  return config_.diversity * static_cast<double>(std::count(taken_.begin(), taken_.end(), token));
}

/// The 2 × beam best continuations of a group but BOS, best first, pruned. The comparison also
/// drops NaN, which would break sorting; -inf is a forbidden token.
void Search::collect_options(int64_t begin, int64_t end) {
  options_.clear();
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t k = row * candidates_.per_row; k < (row + 1) * candidates_.per_row; ++k) {
      const int32_t token = candidates_.tokens[k];
      if (token == bos_ && bos_ != eos_) continue;
      const double log_prob = rows_[row].log_prob + candidates_.log_probs[k];
      if (log_prob > -std::numeric_limits<double>::infinity()) {
        options_.push_back({row, token, log_prob, log_prob - penalty(token)});
      }
    }
  }
  const auto kept = std::min(options_.size(), static_cast<size_t>(2 * beam_));
  std::partial_sort(options_.begin(), options_.begin() + static_cast<int64_t>(kept), options_.end(),
                    better);
  options_.resize(kept);
  if (config_.prune == 0 || options_.empty()) return;
  const double threshold = options_.front().rank - config_.prune;
  while (options_.back().rank < threshold) options_.pop_back();
}

/// Finishes or extends the rows begin .. end - 1 of one group by `options_`.
void Search::extend(int64_t begin, int64_t end, int64_t index, int64_t length) {
  Group& group = groups_[index];
  const size_t before = next_rows_.size();
  int64_t rank = 0, taken = 0;
  for (const Option& option : options_) {
    const Row& row = rows_[option.row];
    const bool among_best = rank++ < beam_;
    if (option.token == eos_) {
      if (among_best || !first_finished_) {
        add_finished(group, ended(row.node, option.log_prob, length, true));
      }
    } else if (taken < beam_) {
      ++taken;
      const auto node = static_cast<int64_t>(nodes_.size());
      nodes_.push_back({row.node, option.token});
      if (groups_per_sentence_ > 1) taken_.push_back(option.token);
      if (length < group.limit) {
        push_row({index, node, option.log_prob}, option.row, option.token);
      } else {
        group.unfinished.push_back(ended(node, option.log_prob, length, false));
      }
    }
  }
  if (options_.empty() && group.finished.empty()) {  // no allowed continuation, or NaN everywhere
    for (int64_t row = begin; row < end; ++row) {
      group.unfinished.push_back(ended(rows_[row].node, rows_[row].log_prob, length - 1, false));
    }
  }
  if (next_rows_.size() == before) return;
  // The first row is the best but in diverse search.
  double best = next_rows_[before].log_prob;
  for (size_t i = before; i < next_rows_.size(); ++i) best = std::max(best, next_rows_[i].log_prob);
  if (nothing_better_can_come(group, best, length)) drop_rows_from(before);
}

void Search::add_finished(Group& group, const Ended& ended) const {
  auto& finished = group.finished;
  const bool full = static_cast<int64_t>(finished.size()) == beam_;
  if (full && first_finished_) return;
  const auto place =
      std::upper_bound(finished.begin(), finished.end(), ended,
                       [](const Ended& a, const Ended& b) { return a.score > b.score; });
  finished.insert(place, ended);
  if (full) finished.pop_back();
}

/// log p can only decrease, so the best score an active hypothesis can reach is log_prob / penalty
/// at the most favourable length. The penalty is monotonic: that is the next length or the limit,
/// depending on the sign of α.
bool Search::nothing_better_can_come(const Group& group, double best_log_prob,
                                     int64_t length) const {
  const auto count = static_cast<int64_t>(group.finished.size());
  if (first_finished_) return count == beam_;
  if (count < nbest_) return false;
  const double bound = std::max(best_log_prob / length_penalty(config_, length + 1),
                                best_log_prob / length_penalty(config_, group.limit));
  return group.finished[nbest_ - 1].score >= bound;
}

void Search::push_row(const Row& row, int64_t parent, int32_t token) {
  next_rows_.push_back(row);
  parents_.push_back(parent);
  tokens_.push_back(token);
  row_sentences_.push_back(sentence_of(row));
}

void Search::drop_rows_from(size_t count) {
  next_rows_.erase(next_rows_.begin() + static_cast<int64_t>(count), next_rows_.end());
  parents_.resize(count);
  tokens_.resize(count);
  row_sentences_.resize(count);
}

Ended Search::ended(int64_t node, double log_prob, int64_t length, bool finished) const {
  return {node, log_prob, log_prob / length_penalty(config_, std::max<int64_t>(1, length)),
          finished};
}

Hypothesis Search::hypothesis(const Ended& ended) const {
  Hypothesis result{{}, ended.log_prob, ended.score, ended.finished};
  for (int64_t node = ended.node; node >= 0; node = nodes_[node].parent) {
    result.tokens.push_back(nodes_[node].token);
  }
  std::reverse(result.tokens.begin(), result.tokens.end());
  return result;
}

/// Hypotheses that the limit has cut compete with finished ones by score: otherwise the empty one,
/// which is finished at the first step, would be better than the right output without its end.
std::vector<Ended> by_score(const Group& group) {
  std::vector<Ended> all = group.finished;
  all.insert(all.end(), group.unfinished.begin(), group.unfinished.end());
  std::ranges::stable_sort(all, std::ranges::greater(), &Ended::score);
  return all;
}

/// The best of each group, then the second of each, and so on, until there are nbest or all groups
/// had their turn; then the best nbest by score. Groups may have found the same hypothesis.
std::vector<Hypothesis> Search::hypotheses(int64_t sentence) const {
  const std::span groups(groups_.data() + sentence * groups_per_sentence_,
                         static_cast<size_t>(groups_per_sentence_));
  std::vector<std::vector<Ended>> all;
  for (const Group& group : groups) all.push_back(by_score(group));
  const auto nbest = static_cast<size_t>(config_.nbest);
  std::vector<Hypothesis> result;
  bool more = true;
  for (size_t rank = 0; more && result.size() < nbest; ++rank) {
    more = false;
    for (const std::vector<Ended>& of_group : all) {
      if (rank >= of_group.size() || (rank > 0 && result.size() >= nbest)) continue;
      more = true;
      Hypothesis next = hypothesis(of_group[rank]);
      const bool known =
          groups.size() > 1 &&
          std::ranges::find(result, next.tokens, &Hypothesis::tokens) != result.end();
      if (!known) result.push_back(std::move(next));
    }
  }
  std::ranges::stable_sort(result, std::ranges::greater(), &Hypothesis::score);
  result.resize(std::min(result.size(), nbest));
  return result;
}

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
