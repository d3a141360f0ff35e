#include "app/commands/commands.h"

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/parsing/parse_list.h"
#include "data/parsing/treebank.h"
#include "eval/metrics/tree_agreement.h"

namespace attn {
namespace {

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
  command->add_option("--min-words", options->agreement.min_words, "minimum number of words")
      ->capture_default_str();
  command->add_option("--max-words", options->agreement.max_words, "maximum number of words")
      ->capture_default_str();
  command->callback([options] { agree(*options); });
}

}  // namespace attn
