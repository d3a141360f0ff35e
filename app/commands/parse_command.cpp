#include "app/commands/parse_command.h"

#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/input_chunks.h"
#include "app/commands/nbest_list.h"
#include "app/experiment/checkpoint.h"
#include "base/error.h"
#include "base/format.h"
#include "data/parsing/penn_tokenize.h"
#include "data/parsing/tree.h"
#include "data/parsing/tree_drawing.h"
#include "eval/tasks/parser.h"

namespace attn {
namespace {

struct ParseOptions {
  std::filesystem::path run;
  std::vector<std::string> assignments;
  bool tokenize = false;
  bool indent = false;
  bool draw = false;
  bool scores = false;
  bool nbest_list = false;
  int64_t chunk_size = 512;
};

std::vector<std::string> words_of(const std::string& line, bool tokenize) {
  if (tokenize) return penn_tokenize(line);
  // The white space of bracketed trees; all other characters are part of a word.
  constexpr const char* blanks = " \t\r\f\v";
  std::vector<std::string> words;
  for (size_t at = line.find_first_not_of(blanks); at != std::string::npos;) {
    const size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(escape_brackets(std::string_view(line).substr(at, end - at)));
    at = line.find_first_not_of(blanks, end);
  }
  return words;
}

void print(const std::vector<Parse>& nbest, size_t line, const ParseOptions& options) {
  for (const Parse& parse : nbest) {
    if (options.nbest_list) {
      if (!std::isfinite(parse.score)) continue;  // padding: search found fewer
      std::cout << nbest_list_line(line - 1, write_tree(parse.tree), parse.log_prob, parse.score)
                << '\n';
      continue;
    }
    if (options.scores) {
      std::cout << format("%zu\t%.6f\t%.6f\t", line, parse.score, parse.log_prob);
    }
    std::cout << (options.draw     ? draw_tree(parse.tree)
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
  if (counts.cut > 0) {
    std::cerr
        << counts.cut << " sentences were longer than " << parser.limits().max_words << " words or "
        << parser.limits().max_source
        << " tokens and were truncated; the remaining words are attached to the root, tagged XX\n";
  }
}

void parse(const ParseOptions& options, const Context& context) {
  LoadedModel loaded = load_model_to_search(options.run, context.device, options.assignments);
  const DataConfig& data = loaded.experiment.data;
  if (data.task != Task::parsing) {
    throw ConfigError(options.run.string() +
                      ": a translator (data.task translation); use attn translate");
  }
  const SearchConfig& config = loaded.experiment.search;
  std::cerr << "parsing with " << loaded.directory.path().string() << "\n";
  Parser parser(*loaded.model, loaded.tokenizers, data.tree_form, config);
  size_t printed = 0;
  for_each_chunk(options.chunk_size, "parsing", [&](std::span<const std::string> lines) {
    std::vector<std::vector<std::string>> sentences;
    for (const std::string& line : lines) sentences.push_back(words_of(line, options.tokenize));
    for (const auto& nbest : parser.parse(sentences)) print(nbest, ++printed, options);
  });
  report(parser, config.constrained);
}

}  // namespace

void add_parse_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<ParseOptions>();
  CLI::App* command = app.add_subcommand(
      "parse", "Parse standard input into constituency trees, one sentence per line");
  command->footer(
      "Prints one bracketed tree per input line, \"()\" for an empty line. The input is tokenized, "
      "words\nseparated by white space, unless --tokenize is given; round brackets are escaped. "
      "With nbest > 1\nit prints exactly nbest trees per sentence; if search finds fewer, the last "
      "ones are flat with\nscore -inf. --nbest-list omits these.\n"
      "Examples:\n"
      "  attn parse runs/craft < sentences > trees\n"
      "  echo \"It isn't raining.\" | attn parse runs/craft --tokenize --draw");
  command->add_option("run", options->run, kModelArgument)->required();
  command
      ->add_option("--set", options->assignments,
                   "override an option of search or runtime: beam=5, constrained=false")
      ->allow_extra_args(false);
  command->add_flag("--tokenize", options->tokenize, "tokenize raw text as the Penn Treebank does");
  CLI::Option* indent =
      command->add_flag("--indent", options->indent, "print trees indented, over several lines");
  CLI::Option* draw = command->add_flag("--draw", options->draw, "draw the trees");
  CLI::Option* scores = command->add_flag(
      "--scores", options->scores, "prefix each tree with line number, score and log-probability");
  command->add_flag("--nbest-list", options->nbest_list, kNbestListHelp)
      ->excludes(scores)
      ->excludes(indent)
      ->excludes(draw);
  command->add_option("--chunk-size", options->chunk_size,
                      "input lines per chunk, batched by length (default: 512; terminal: 1)");
  command->add_option("--window", options->chunk_size, "former name of --chunk-size")->group("");
  command->callback([options, &context] { parse(*options, context); });
}

}  // namespace attn
