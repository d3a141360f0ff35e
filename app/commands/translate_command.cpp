#include "app/commands/commands.h"

#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/search_flags.h"
#include "app/commands/text_io.h"
#include "app/experiment/checkpoint.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "eval/tasks/translator.h"

namespace attn {
namespace {

void report_cuts(const Translator& translator, bool positions) {
  print_unknown(translator.unknown(), "source");
  const int64_t cut = translator.cut_lines();
  if (cut > 0) {
    std::cerr << longer_lines("line", cut, translator.first_cut_line())
              << translator.limits().max_source << " tokens and " << (cut == 1 ? "was" : "were")
              << " truncated\n";
  }
  print_unfinished(translator.unfinished(), translator.lines(), "translation", positions);
}

void translate(const SearchFlags& flags, const std::string& prefix_file, const Context& context) {
  std::vector<std::string> prefixes;
  if (!prefix_file.empty()) prefixes = read_lines(prefix_file);
  const auto require_as_many = [&](bool as_many) {
    if (as_many || prefix_file.empty()) return;
    throw DataError("--prefix " + prefix_file + ": has " + std::to_string(prefixes.size()) +
                    " lines, not one for each line of the input");
  };
  LoadedEnsemble loaded = load_to_search(flags, Task::translation, context);
  std::cerr << "translating with " << loaded.description() << "\n";
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
  report_cuts(translator, loaded.models.max_length().has_value());
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

}  // namespace attn
