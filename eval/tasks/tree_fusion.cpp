#include "eval/tasks/tree_fusion.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "data/parsing/linearize.h"

namespace attn {
namespace {

constexpr int kMaxIterations = 50;

/// A labelled bracket of some of the trees.
struct Bracket {
  std::string label;
  double probability = 0.0;
  double height = 0.0;  ///< mean number of brackets of the same words below it
};

using Span = std::pair<int64_t, int64_t>;  // words [begin, end)

class Fusion {
 public:
  Fusion(std::span<const Tree> trees, std::span<const double> probabilities) {
    for (size_t i = 0; i < trees.size(); ++i) {
      if (probabilities[i] <= 0) continue;
      Tree tree = strip_root(trees[i]);
      if (is_root_label(tree.label)) tree.label.clear();
      add(tree, probabilities[i]);
      if (likeliest_.second < probabilities[i]) likeliest_ = {std::move(tree), probabilities[i]};
    }
    gather();
  }

  FusedTree best() {
    if (count() > kMaxFusedWords) return likeliest();
    double f1 = 0.0;
    // λ = F1 / 2 at the optimum. F1 never falls from one iteration to the next.
    for (int i = 0; i < kMaxIterations; ++i) {
      search(f1 / 2);
      const double now = expected_f1();
      if (now <= f1) break;
      f1 = now;
    }
    if (bare_ > f1) {  // F1 of two trees without brackets is 1
      search(2.0);     // more than any probability
      f1 = bare_;
    }
    // Brackets of many trees over the same words add up.
    if (depth(0, count()) >= kMaxTreeDepth) return likeliest();
    std::vector<Tree> top;
    build(0, count(), top);
    // Several constituents, or a leaf: an unlabelled outer bracket makes them one tree.
    const bool one = top.size() == 1 && !top.front().is_leaf();
    return {.tree = one ? std::move(top.front()) : tree_node("", std::move(top)),
            .expected_f1 = f1};
  }

 private:
  FusedTree likeliest() const {
    const Tree& tree = likeliest_.first;
    const double all = 1.0;
    const Fusion one(std::span(&tree, 1), std::span(&all, 1));
    double matched = 0.0;
    for (const auto& [key, bracket] : one.brackets_) matched += brackets_.at(key).probability;
    const double sum = static_cast<double>(one.brackets_.size()) + total_;
    return {.tree = tree.is_leaf() ? tree_node("", {tree}) : tree,
            .expected_f1 = sum > 0 ? 2 * matched / sum : 1.0};
  }

  int64_t count() const { return static_cast<int64_t>(words_.size()); }
  size_t cell(int64_t begin, int64_t end) const {
    return static_cast<size_t>(begin * (count() + 1) + end);
  }

  void add(const Tree& tree, double probability) {
    std::map<Span, std::map<std::string, int64_t>> seen;
    std::map<Span, int64_t> heights;
    int64_t word = 0;
    add_node(tree, probability, word, seen, heights);
    if (seen.empty()) bare_ += probability;
  }

  // Children first, so that the heights of brackets over the same words count from below.
  void add_node(const Tree& tree, double probability, int64_t& word,
                std::map<Span, std::map<std::string, int64_t>>& seen,
                std::map<Span, int64_t>& heights) {
    if (tree.is_leaf()) {
      const auto at = static_cast<size_t>(word++);
      if (at == tags_.size()) {
        tags_.emplace_back();
        words_.push_back(tree.word);
      }
      // Forms without tags and truncated words have no vote on the tag.
      if (tree.label != kNoTag) tags_[at][tree.label] += probability;
      return;
    }
    const int64_t begin = word;
    for (const Tree& child : tree.children) add_node(child, probability, word, seen, heights);
    if (tree.label.empty() || word == begin) return;
    const Span span{begin, word};
    // The second NP over the same words is a different bracket from the first one.
    const int64_t repetition = seen[span][tree.label]++;
    Bracket& bracket = brackets_[{begin, word, tree.label, repetition}];
    bracket.label = tree.label;
    bracket.probability += probability;
    bracket.height += probability * static_cast<double>(heights[span]++);
  }

  void gather() {
    const bool spans = count() <= kMaxFusedWords;
    if (spans) by_span_.resize(cell(count(), 0));
    for (auto& [key, bracket] : brackets_) {
      total_ += bracket.probability;
      bracket.height /= bracket.probability;
      if (spans) by_span_[cell(std::get<0>(key), std::get<1>(key))].push_back(&bracket);
    }
    for (auto& span : by_span_) {
      std::ranges::stable_sort(
          span, [](const Bracket* a, const Bracket* b) { return a->height < b->height; });
    }
  }

  // The best brackets of every span where one costs `lambda`.
  void search(double lambda) {
    lambda_ = lambda;
    gain_.assign(by_span_.size(), 0.0);
    split_.assign(by_span_.size(), 0);
    for (int64_t length = 1; length <= count(); ++length) {
      for (int64_t begin = 0; begin + length <= count(); ++begin) {
        const int64_t end = begin + length;
        double within = length == 1 ? 0.0 : -1.0;
        for (int64_t middle = begin + 1; middle < end; ++middle) {
          const double both = gain_[cell(begin, middle)] + gain_[cell(middle, end)];
          if (both <= within) continue;
          within = both;
          split_[cell(begin, end)] = middle;
        }
        for (const Bracket* bracket : by_span_[cell(begin, end)]) {
          within += std::max(0.0, bracket->probability - lambda);
        }
        gain_[cell(begin, end)] = within;
      }
    }
  }

  bool is_taken(const Bracket& bracket) const { return bracket.probability > lambda_; }

  double expected_f1() const {
    double matched = 0.0;
    int64_t taken = 0;
    std::vector<Span> spans = {{0, count()}};
    while (!spans.empty()) {
      const auto [begin, end] = spans.back();
      spans.pop_back();
      for (const Bracket* bracket : by_span_[cell(begin, end)]) {
        if (!is_taken(*bracket)) continue;
        matched += bracket->probability;
        ++taken;
      }
      if (end - begin == 1) continue;
      const int64_t middle = split_[cell(begin, end)];
      spans.emplace_back(begin, middle);
      spans.emplace_back(middle, end);
    }
    const double all = static_cast<double>(taken) + total_;
    return all > 0 ? 2 * matched / all : 1.0;
  }

  // Levels of the taken brackets within the span.
  int64_t depth(int64_t begin, int64_t end) const {
    int64_t inner = 0;
    if (end - begin > 1) {
      const int64_t middle = split_[cell(begin, end)];
      inner = std::max(depth(begin, middle), depth(middle, end));
    }
    const auto& brackets = by_span_[cell(begin, end)];
    return inner +
           std::ranges::count_if(brackets, [this](const Bracket* one) { return is_taken(*one); });
  }

  // Appends the constituents, or the leaf, of the span to the children of its parent.
  void build(int64_t begin, int64_t end, std::vector<Tree>& siblings) const {
    std::vector<Tree> nodes;
    if (end - begin == 1) {
      const auto& tags = tags_[static_cast<size_t>(begin)];
      const auto likeliest =
          std::ranges::max_element(tags, {}, [](const auto& tag) { return tag.second; });
      const std::string tag(likeliest == tags.end() ? kNoTag : likeliest->first);
      nodes.push_back(tree_leaf(tag, words_[static_cast<size_t>(begin)]));
    } else {
      const int64_t middle = split_[cell(begin, end)];
      build(begin, middle, nodes);
      build(middle, end, nodes);
    }
    for (const Bracket* bracket : by_span_[cell(begin, end)]) {
      if (!is_taken(*bracket)) continue;
      std::vector<Tree> constituent;
      constituent.push_back(tree_node(bracket->label, std::move(nodes)));
      nodes = std::move(constituent);
    }
    std::ranges::move(nodes, std::back_inserter(siblings));
  }

  std::map<std::tuple<int64_t, int64_t, std::string, int64_t>, Bracket> brackets_;
  std::vector<std::vector<const Bracket*>> by_span_;  // innermost first
  std::vector<std::map<std::string, double>> tags_;
  std::vector<std::string> words_;
  std::pair<Tree, double> likeliest_;               // and its probability
  double total_ = 0.0, lambda_ = 0.0, bare_ = 0.0;  // bare_: of trees without brackets
  std::vector<double> gain_;
  std::vector<int64_t> split_;
};

}  // namespace

std::vector<double> probabilities_of(std::span<const double> log_probs) {
  std::vector<double> probabilities(log_probs.size(), 1.0 / static_cast<double>(log_probs.size()));
  const auto highest = std::ranges::max_element(log_probs);
  if (highest == log_probs.end() || !std::isfinite(*highest)) return probabilities;
  double sum = 0.0;
  for (size_t i = 0; i < log_probs.size(); ++i) {
    probabilities[i] = std::exp(log_probs[i] - *highest);
    sum += probabilities[i];
  }
  for (double& probability : probabilities) probability /= sum;
  return probabilities;
}

std::vector<double> sample_probabilities(std::span<const double> log_probs) {
  std::vector<double> equal(log_probs.begin(), log_probs.end());
  for (double& log_prob : equal) {
    if (std::isfinite(log_prob)) log_prob = 0.0;
  }
  return probabilities_of(equal);
}

FusedTree fuse_trees(std::span<const Tree> trees, std::span<const double> probabilities) {
  return Fusion(trees, probabilities).best();
}

}  // namespace attn
