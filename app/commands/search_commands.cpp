// Search over the lines of a text: `attn translate` and `attn parse`.
#include "app/commands/commands.h"

#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <utility>

#include "app/commands/text_io.h"
#include "app/experiment/checkpoint.h"
#include "app/machine/device.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "data/nbest_list.h"
#include "data/parsing/penn_tokenize.h"
#include "data/parsing/tree.h"
#include "data/source_features.h"
#include "data/tokenizer.h"
#include "eval/tasks/parser.h"
#include "eval/tasks/translator.h"

namespace attn {
namespace {

// What the two commands have in common: where they read and write, and common search options.
struct SearchFlags {
  std::vector<std::filesystem::path> runs;  // several: an ensemble
  std::vector<Assignment> settings;         // of --set
  std::optional<int64_t> beam, nbest;
  std::optional<double> alpha;
  std::string tag;                      // tag of the sentences (data.tag); empty: none
  std::filesystem::path input, output;  // empty: standard input and output
  bool scores = false;
  bool nbest_list = false;
  int64_t chunk_size = 1024;

  // The settings, with those of the flags: beam=5, search.nbest=4.
  std::vector<Assignment> assignments() const {
    std::vector<Assignment> all = settings;
    if (beam) all.emplace_back("search.beam=" + std::to_string(*beam));
    if (nbest) all.emplace_back("search.nbest=" + std::to_string(*nbest));
    if (alpha) all.emplace_back("search.alpha=" + format("%.17g", *alpha));
    return all;
  }
};

// Options of `command` that write to `flags`, which must outlive it. `example` is an example of an
// assignment. Returns the flag --nbest-list.
CLI::Option* add_search_flags(CLI::App* command, SearchFlags& flags, const std::string& example) {
  add_runs(command, flags.runs);
  command->add_option("-i,--input", flags.input, "input file (default: standard input)");
  command->add_option("-o,--output", flags.output,
                      "output file, FILE.partial until it is complete (default: standard output)");
  command->add_option("--beam", flags.beam, "beam size, as --set beam=INT");
  command->add_option("--nbest", flags.nbest, "size of the n-best list, as --set nbest=INT");
  command->add_option("--alpha", flags.alpha, "α of the length penalty, as --set alpha=FLOAT");
  add_set(command, flags.settings, "override an option of search or runtime: " + example);
  command->add_option("--tag", flags.tag,
                      "tag of the sentences, one of data.tag and data.sources (default: data.tag)");
  CLI::Option* scores = command->add_flag(
      "--scores", flags.scores, "prefix each output with line number, score and log-probability");
  CLI::Option* list =
      command->add_flag("--nbest-list", flags.nbest_list, kNbestListHelp)->excludes(scores);
  command
      ->add_option("--chunk-size", flags.chunk_size,
                   format("input lines per chunk, batched by length (default: %ld; terminal: 1)",
                          flags.chunk_size))
      ->check(CLI::Range(1, 1 << 24));
  return list;
}

// Loads the models for search, with the sentences' tag. Throws ConfigError for another task's, and
// if the output would replace the input.
LoadedEnsemble load_to_search(const SearchFlags& flags, Task task, const Context& context) {
  require_not_input(flags.output, flags.input);
  LoadedEnsemble loaded = load_ensemble(flags.runs, context.device, flags.assignments());
  if (loaded.experiment().data.task != task) {
    throw ConfigError(flags.runs.front().string() +
                      (task == Task::translation
                           ? ": a parser (data.task=parsing); use attn parse"
                           : ": a translator (data.task=translation); use attn translate"));
  }
  if (!flags.tag.empty()) {
    loaded.tokenizers = with_tag(std::move(loaded.tokenizers), flags.tag, "--tag");
  }
  return loaded;
}

// Prints how many of the input's lines, if any, were longer than a limit ("128 tokens"), the number
// of the first, from 1, and what became of them.
void print_longer(int64_t count, int64_t first, const std::string& limit, const char* effect) {
  if (count == 0) return;
  std::cerr << counted(count, "line") << " longer than " << limit << " (first: line " << first
            << "): " << effect << "\n";
}

// Prints how many outputs, if any, end at the length limit.
void print_unfinished(int64_t unfinished, int64_t all) {
  if (unfinished == 0) return;
  std::cerr << unfinished << " of " << counted(all, "output")
            << " cut at the length limit (search.extra_length, model.max_positions)\n";
}

// An output of search for the sentence of a line (from 1).
struct OutputLine {
  size_t line = 0;
  std::string text;
  double log_prob = 0.0, score = 0.0;  // -inf: padding, since search found fewer than nbest
};

// Prints it: as an entry of an n-best list, without padding; with its scores; or the text alone.
void print_output(const SearchFlags& flags, const OutputLine& output, std::ostream& out) {
  if (flags.nbest_list) {
    if (!std::isfinite(output.score)) return;
    out << nbest_list_line(output.line - 1, output.text, output.log_prob, output.score) << '\n';
    return;
  }
  if (flags.scores) {
    out << format("%zu\t%.6f\t%.6f\t", output.line, output.score, output.log_prob);
  }
  out << output.text << '\n';
}

void report_cuts(const Translator& translator) {
  const TranslatorCounts& counts = translator.counts();
  print_unknown(counts.unknown, "source");
  print_longer(counts.cut, counts.first_cut, counted(translator.limits().max_source, "token"),
               "truncated");
  print_unfinished(counts.unfinished, counts.lines);
}

void translate(const SearchFlags& flags, const std::string& prefix_file, const Context& context) {
  std::vector<std::string> prefixes;
  require_not_input(flags.output, prefix_file);
  if (!prefix_file.empty()) prefixes = read_utf8_lines(prefix_file);
  const auto require_as_many = [&](bool as_many) {
    if (as_many || prefix_file.empty()) return;
    throw DataError("--prefix " + prefix_file + ": has " + counted(std::ssize(prefixes), "line") +
                    ", not one for each line of the input");
  };
  LoadedEnsemble loaded = load_to_search(flags, Task::translation, context);
  std::cerr << "translating with " << loaded.description() << "\n";
  UnknownTokens unknown;
  const Tokenizer& target = *loaded.tokenizers.target;
  for (const std::string& prefix : prefixes) unknown.add(target, target.encode(prefix));
  print_unknown(unknown, "prefix");
  Translator translator(loaded.models, loaded.tokenizers, loaded.experiment().search);
  OutputFile output(flags.output);
  size_t printed = 0;
  for_each_chunk(
      {.file = flags.input, .chunk_size = flags.chunk_size, .what = "translating"}, output,
      [&](std::span<const std::string> lines) {
        const size_t end = printed + lines.size();
        require_as_many(end <= prefixes.size());
        const auto own = prefix_file.empty()
                             ? std::span<const std::string>()
                             : std::span(std::as_const(prefixes)).subspan(printed, lines.size());
        for (const auto& nbest : translator.translate(lines, own)) {
          ++printed;
          for (const Translation& one : nbest) {
            print_output(flags, {printed, one.text, one.log_prob, one.score}, output.stream());
          }
        }
      });
  require_as_many(printed == prefixes.size());
  output.commit();
  report_cuts(translator);
}

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

void report_parses(const Parser& parser) {
  const ParserCounts& counts = parser.counts();
  print_unknown(counts.unknown, "source");
  if (counts.repaired > 0) {
    std::cerr << counts.repaired << " of " << counted(counts.sentences, "output")
              << " repaired: not well-formed trees over the sentence\n";
  }
  print_unfinished(counts.unfinished, counts.sentences);
  print_longer(counts.cut_words, counts.first_cut_words, counted(parser.limits().max_words, "word"),
               "the remaining words are attached to the root, tagged XX");
  print_longer(counts.cut_tokens, counts.first_cut_tokens,
               counted(parser.limits().max_source, "token"),
               "the encoder did not read the remaining tokens");
}

void parse(const ParseOptions& options, const Context& context) {
  const SearchFlags& flags = options.search;
  LoadedEnsemble loaded = load_to_search(flags, Task::parsing, context);
  std::cerr << "parsing with " << loaded.description() << "\n";
  Parser parser(loaded.models, loaded.tokenizers, loaded.experiment().data.tree_form,
                loaded.experiment().search);
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
  report_parses(parser);
}

}  // namespace

void add_translate_command(CLI::App& app, const Context& context) {
  auto flags = std::make_shared<SearchFlags>();
  CLI::App* command =
      app.add_subcommand("translate", "Translate a file or standard input, one sentence per line");
  command->footer(
      "Prints one translation per input line. With nbest > 1 it prints exactly nbest lines per "
      "input\nline; if search finds fewer, the last ones are empty with score -inf. --nbest-list "
      "omits these.\nGiven a run, the averaged checkpoint is used if it exists, else the best, "
      "else the last.\nSeveral runs form an ensemble: search uses the mean of their "
      "probabilities, and the search options\nof the first run.\n"
      "Examples:\n"
      "  attn translate runs/tiny < in.en > out.de\n"
      "  attn translate runs/tiny --input in.en --output out.de --beam 5\n"
      "  attn translate runs/seed-1 runs/seed-2 runs/seed-3 < in.en > out.de\n"
      "  attn translate runs/tiny --nbest 4 --scores < in.en\n"
      "  attn translate runs/tiny --set method=sample samples=20 top_p=0.9 mbr=chrf < in.en");
  add_search_flags(command, *flags, "beam=5");
  auto prefix = std::make_shared<std::string>();
  command->add_option("--prefix", *prefix,
                      "file with the beginning of each line's translation, in whole words");
  command->callback([flags, prefix, &context] { translate(*flags, *prefix, context); });
}

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
