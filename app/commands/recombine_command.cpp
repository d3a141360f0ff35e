// Data recombination (Jia and Liang 2016) of treebanks, as in substructure substitution (Shi et al.
// 2021). What it gains: results/parse/substitution.md.
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "base/format.h"
#include "base/random.h"
#include "data/parsing/treebank.h"

namespace attn {
namespace {

struct RecombineOptions {
  std::string trees;
  int64_t passes = 4;
  double probability = 0.2;
  int64_t max_words = 60;
  int64_t seed = 1;
};

// The constituents below those of whole sentences, by label.
using Constituents = std::map<std::string, std::vector<const Tree*>>;

void collect(const Tree& tree, Constituents& found) {
  for (const Tree& child : tree.children) {
    if (child.is_leaf()) continue;
    found[child.label].push_back(&child);
    collect(child, found);
  }
}

Tree recombined(const Tree& tree, const Constituents& all, double probability, Random& random) {
  Tree out{tree.label, tree.word, {}};
  for (const Tree& child : tree.children) {
    if (!child.is_leaf() && random.uniform() < probability) {
      const std::vector<const Tree*>& same = all.at(child.label);
      out.children.push_back(*same[random.below(same.size())]);
    } else {
      out.children.push_back(recombined(child, all, probability, random));
    }
  }
  return out;
}

void recombine(const RecombineOptions& options) {
  std::vector<Tree> trees;
  std::set<std::string> seen;
  for (Tree& tree : read_trees(options.trees, {.drop_traces = true, .drop_functions = true})) {
    trees.push_back(bare_tree(std::move(tree)));
    seen.insert(write_tree(trees.back()));
  }
  Constituents all;
  for (const Tree& tree : trees) collect(tree, all);
  Random random(static_cast<uint64_t>(options.seed));
  int64_t made = 0;
  for (int64_t pass = 0; pass < options.passes; ++pass) {
    for (const Tree& tree : trees) {
      Tree next = recombined(tree, all, options.probability, random);
      const auto words = static_cast<int64_t>(tree_words(next).size());
      if (words > options.max_words || !seen.insert(write_tree(next)).second) continue;
      std::cout << write_tree(with_root(std::move(next))) << "\n";
      ++made;
    }
  }
  std::cerr << format("%lld trees made of %lld\n", static_cast<long long>(made),
                      static_cast<long long>(trees.size()));
}

}  // namespace

void add_recombine_command(CLI::App& app) {
  auto options = std::make_shared<RecombineOptions>();
  CLI::App* command =
      app.add_subcommand("recombine", "Make new training trees of a treebank's own constituents");
  command->footer(
      "Each pass makes one tree of each: from the top, a constituent is replaced with this "
      "probability by a\nrandom one of the treebank with the same label. Trees of the treebank, "
      "repeated and longer ones are\nleft out, traces and function tags removed. Train on them as "
      "silver trees (data.silver).\n"
      "Example: attn recombine corpora/wsj-sample/train.ptb > corpora/wsj.recombined.ptb");
  command->add_option("trees", options->trees, "treebank, in any layout")->required();
  command->add_option("--passes", options->passes, "passes over the treebank")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--probability", options->probability, "of replacing a constituent")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--max-words", options->max_words, "maximum number of words of a tree")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "random seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->callback([options] { recombine(*options); });
}

}  // namespace attn
