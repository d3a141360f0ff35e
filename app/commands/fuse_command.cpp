// Several parses of the same sentences: `attn fuse` and `attn agree`.
#include "app/commands/commands.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "data/parsing/parse_list.h"
#include "data/parsing/treebank.h"
#include "eval/metrics/tree_agreement.h"
#include "eval/tasks/tree_fusion.h"

namespace attn {
namespace {

struct FuseOptions {
  std::vector<std::string> files;
  double min_f1 = 0.0;
  bool scores = false;
  bool samples = false;
};

// All lists of a sentence have equal weight.
FusedTree fuse_lists(std::vector<ParseList> lists, bool samples) {
  std::vector<Tree> trees;
  std::vector<double> probabilities;
  require_same_words(lists);
  for (ParseList& list : lists) {
    for (const double probability :
         samples ? sample_probabilities(list.log_probs) : probabilities_of(list.log_probs)) {
      probabilities.push_back(probability / static_cast<double>(lists.size()));
    }
    std::ranges::move(list.trees, std::back_inserter(trees));
  }
  return fuse_trees(trees, probabilities);
}

void fuse(const FuseOptions& options) {
  constexpr double kRounding = 1e-9;  // rounding of equal weights, which do not sum to 1 exactly
  int64_t kept = 0;
  const auto print = [&](int64_t sentence, std::vector<ParseList> lists) {
    const bool empty = lists.empty();
    FusedTree fused = empty ? FusedTree{} : fuse_lists(std::move(lists), options.samples);
    const double f1 = 100 * fused.expected_f1;
    if (options.min_f1 > 0 && f1 + kRounding < options.min_f1) return;
    ++kept;
    if (options.scores) {
      std::cout << format("%ld\t%.6f\t", sentence + 1, f1);
    }
    std::cout << (empty ? "()" : write_tree(with_root(std::move(fused.tree)))) << '\n';
  };
  const int64_t sentences = for_each_sentence(options.files, print);
  if (options.min_f1 > 0) std::cerr << kept_text(kept, sentences) << "\n";
}

struct AgreeOptions {
  std::vector<std::string> files;
  double min_f1 = -1.0;
  AgreementOptions agreement;
};

void agree(AgreeOptions options) {
  if (options.files.size() < 2) {
    throw ConfigError("agree: give two or more files with parses of the same sentences");
  }
  if (options.min_f1 >= 0) options.agreement.min_f1 = options.min_f1;
  int64_t kept = 0, without = 0;
  const auto print = [&](int64_t, std::vector<ParseList> lists) {
    if (lists.size() < options.files.size()) {
      ++without;
      return;
    }
    require_same_words(lists);
    std::vector<Tree> parses;  // the best one of an n-best list; outer brackets do not count
    for (const ParseList& list : lists) parses.push_back(bare_tree(list.trees.front()));
    if (!parses_agree(parses, options.agreement)) return;
    ++kept;
    std::cout << write_tree(lists.front().trees.front()) << '\n';
  };
  const int64_t sentences = for_each_sentence(options.files, print);
  std::cerr << kept_text(kept, sentences);
  if (without > 0) std::cerr << "; " << without << " without a tree";
  std::cerr << "\n";
}

}  // namespace

void add_fuse_command(CLI::App& app) {
  auto options = std::make_shared<FuseOptions>();
  CLI::App* command = app.add_subcommand(
      "fuse", "Fuse parses of the same sentences by several parsers into one tree each");
  command->footer(
      "The files have one tree per line and are aligned, or are n-best lists (attn parse "
      "--nbest-list).\nPrints one tree per sentence: the one whose labelled brackets have the "
      "highest expected F1. Files\nare weighted equally, trees of an n-best list by their "
      "probability within the list. The parsers may\ndiffer in vocabulary, tree form and kind. "
      "Without any tree of a sentence \"()\" is printed, or nothing\nwith --min-f1.\n"
      "Examples:\n"
      "  attn parse runs/one --beam 21 --nbest 21 --nbest-list < sentences > one.nbest\n"
      "  attn parse runs/two --beam 21 --nbest 21 --nbest-list < sentences > two.nbest\n"
      "  attn fuse one.nbest two.nbest > trees");
  command->add_option("files", options->files, "one or more files of parses")->required();
  add_number(command, "--min-f1", options->min_f1,
             "print only the trees with at least this expected F1, in percent", 0.0, 100.0);
  command->add_flag("--samples", options->samples,
                    "n-best lists are samples (search.method=sample): trees of a list have equal "
                    "weight");
  command->add_flag("--scores", options->scores,
                    "print line number and expected F1 before every tree, tab-separated");
  command->callback([options] { fuse(*options); });
}

void add_agree_command(CLI::App& app) {
  auto options = std::make_shared<AgreeOptions>();
  CLI::App* command = app.add_subcommand(
      "agree", "Print the trees on which several parses of the same sentences agree");
  command->footer(
      "The files have one tree per line and are aligned, or are n-best lists, of which the first "
      "trees are\nused. Prints the first file's tree for every sentence on which all files agree; "
      "the number of trees\nkept goes to stderr.\n"
      "Example: attn agree one.ptb two.ptb --min-words 4 > silver.ptb");
  command->add_option("files", options->files, "two or more files of trees")->required();
  command
      ->add_option(
          "--min-f1", options->min_f1,
          "minimum F1 in percent of the labelled brackets, without the outer one, against each of "
          "the other files; tags are ignored, punctuation counts (default: the trees, with their "
          "tags, must be equal except for the outer bracket)")
      ->check(CLI::Range(0.0, 100.0));
  add_number(command, "--min-words", options->agreement.min_words, "minimum number of words", 0,
             1 << 16);
  add_number(command, "--max-words", options->agreement.max_words, "maximum number of words", 0,
             1 << 16);
  command->callback([options] { agree(*options); });
}

}  // namespace attn
