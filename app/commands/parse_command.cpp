#include "app/commands/parse_command.h"

#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/input_chunks.h"
#include "app/commands/search_flags.h"
#include "app/experiment/loaded_ensemble.h"
#include "base/error.h"
#include "base/format.h"
#include "data/nbest_list.h"
#include "data/parsing/penn_tokenize.h"
#include "data/parsing/tree.h"
#include "data/parsing/tree_drawing.h"
#include "data/source_features.h"
#include "eval/tasks/parser.h"

namespace attn {
namespace {

struct ParseOptions {
  SearchFlags search = {.chunk_size = 512};
  bool tokenize = false;
  bool indent = false;
  bool draw = false;
};

void print(const std::vector<Parse>& nbest, size_t line, const ParseOptions& options,
           std::ostream& out) {
  for (const Parse& parse : nbest) {
    if (options.search.nbest_list) {
      if (!std::isfinite(parse.score)) continue;  // padding: search found fewer
      out << nbest_list_line(line - 1, write_tree(parse.tree), parse.log_prob, parse.score) << '\n';
      continue;
    }
    if (options.search.scores) {
      out << format("%zu\t%.6f\t%.6f\t", line, parse.score, parse.log_prob);
    }
    out << (options.draw     ? draw_tree(parse.tree)
            : options.indent ? format_tree(parse.tree) + "\n"
                             : write_tree(parse.tree))
        << '\n';
  }
}

void report(const Parser& parser, bool constrained) {
  const ParserCounts& counts = parser.counts();
  if (counts.repaired > 0) {
    std::cerr << counts.repaired << " of " << counts.sentences
              << " outputs were not well-formed trees over the sentence and were repaired"
              << (constrained ? "\n" : " (constrained search, the default, avoids this)\n");
  }
  if (counts.cut_words > 0) {
    std::cerr << counts.cut_words << " sentences were longer than " << parser.limits().max_words
              << " words; the remaining words are attached to the root, tagged XX\n";
  }
  if (counts.cut_tokens > 0) {
    std::cerr << counts.cut_tokens << " sentences were longer than " << parser.limits().max_source
              << " tokens; the encoder did not read the remaining tokens\n";
  }
}

void parse(const ParseOptions& options, const Context& context) {
  const SearchFlags& flags = options.search;
  LoadedEnsemble loaded = load_ensemble_to_search(flags.runs, context.device, flags.assignments());
  const DataConfig& data = loaded.experiment().data;
  if (data.task != Task::parsing) {
    throw ConfigError(flags.runs.front().string() +
                      ": a translator (data.task translation); use attn translate");
  }
  if (!flags.tag.empty()) {
    loaded.tokenizers = with_tag(std::move(loaded.tokenizers), flags.tag, "--tag");
  }
  const SearchConfig& config = loaded.experiment().search;
  std::cerr << "parsing with " << loaded.description() << "\n";
  Parser parser(loaded.models, loaded.tokenizers, data.tree_form, config);
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
          print(nbest, ++printed, options, output.stream());
        }
      });
  output.commit();
  report(parser, config.constrained);
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
