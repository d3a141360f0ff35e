#include "app/commands/commands.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/search_flags.h"
#include "app/commands/text_io.h"
#include "base/format.h"
#include "data/parsing/penn_tokenize.h"
#include "data/parsing/tree.h"
#include "eval/tasks/parser.h"

namespace attn {
namespace {

struct ParseOptions {
  SearchFlags search = {.chunk_size = 512};
  bool tokenize = false;
  bool indent = false;
  bool draw = false;
};

std::string text_of(const Tree& tree, const ParseOptions& options) {
  if (options.draw) return draw_tree(tree);
  return options.indent ? format_tree(tree) + "\n" : write_tree(tree);
}

void report(const Parser& parser, bool constrained, bool positions) {
  const ParserCounts& counts = parser.counts();
  print_unknown(counts.unknown, "source");
  if (counts.repaired > 0) {
    std::cerr << counts.repaired << " of " << counted(counts.sentences, "output")
              << (counts.repaired == 1 ? " was not a well-formed tree"
                                       : " were not well-formed trees")
              << " over the sentence and " << (counts.repaired == 1 ? "was" : "were") << " repaired"
              << (constrained ? "\n" : " (constrained search, the default, avoids this)\n");
  }
  print_unfinished(counts.unfinished, counts.sentences, "output", positions);
  if (counts.cut_words > 0) {
    std::cerr << longer_lines("sentence", counts.cut_words, counts.first_cut_words)
              << parser.limits().max_words
              << " words; the remaining words are attached to the root, tagged XX\n";
  }
  if (counts.cut_tokens > 0) {
    std::cerr << longer_lines("sentence", counts.cut_tokens, counts.first_cut_tokens)
              << parser.limits().max_source
              << " tokens; the encoder did not read the remaining tokens\n";
  }
}

void parse(const ParseOptions& options, const Context& context) {
  const SearchFlags& flags = options.search;
  LoadedEnsemble loaded = load_to_search(flags, Task::parsing, context);
  const SearchConfig& config = loaded.experiment().search;
  std::cerr << "parsing with " << loaded.description() << "\n";
  Parser parser(loaded.models, loaded.tokenizers, loaded.experiment().data.tree_form, config);
  OutputFile output(flags.output);
  size_t printed = 0;
  for_each_chunk(
      {.file = flags.input, .chunk_size = flags.chunk_size, .what = "parsing"}, output,
      [&](std::span<const std::string> lines) {
        std::vector<std::vector<std::string>> sentences;
        for (const std::string& line : lines) {
          sentences.push_back(options.tokenize ? penn_tokenize(line) : tokenized_words(line));
        }
        for (const auto& nbest : parser.parse(sentences)) {
          ++printed;
          for (const Parse& one : nbest) {
            print_output(flags, {printed, text_of(one.tree, options), one.log_prob, one.score},
                         output.stream());
          }
        }
      });
  output.commit();
  report(parser, config.constrained, loaded.models.max_length().has_value());
}

}  // namespace

void add_parse_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<ParseOptions>();
  CLI::App* command = app.add_subcommand(
      "parse", "Parse a file or standard input into constituency trees, one sentence per line");
  command->footer(
      "Prints one bracketed tree per input line, \"()\" for an empty line. The input is tokenized, "
      "words\nseparated by white space, unless --tokenize is given; round brackets are escaped. "
      "With nbest > 1\nit prints exactly nbest trees per sentence; if search finds fewer, the last "
      "ones are flat with\nscore -inf. --nbest-list omits these. Several runs form an ensemble.\n"
      "Examples:\n"
      "  attn parse runs/craft < sentences > trees\n"
      "  attn parse runs/craft/seed-1 runs/craft/seed-2 --input sentences --output trees\n"
      "  echo \"It isn't raining.\" | attn parse runs/craft --tokenize --draw");
  CLI::Option* list = add_search_flags(command, options->search, "beam=5, constrained=false");
  command->add_flag("--tokenize", options->tokenize, "tokenize raw text as the Penn Treebank does");
  CLI::Option* indent =
      command->add_flag("--indent", options->indent, "print trees indented, over several lines");
  CLI::Option* draw = command->add_flag("--draw", options->draw, "draw the trees");
  list->excludes(indent)->excludes(draw);
  indent->excludes(draw);
  command->callback([options, &context] { parse(*options, context); });
}

}  // namespace attn
