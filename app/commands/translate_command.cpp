#include "app/commands/commands.h"

#include <iostream>
#include <memory>
#include <string>

#include "app/commands/input_chunks.h"
#include "app/commands/search_flags.h"
#include "app/experiment/checkpoint.h"
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

void translate(const SearchFlags& flags, const Context& context) {
  require_no_input({"--output", flags.output}, {{"--input", flags.input}});
  LoadedEnsemble loaded = load_to_search(flags, Task::translation, context);
  std::cerr << "translating with " << loaded.description() << "\n";
  Translator translator(loaded.models, loaded.tokenizers, loaded.experiment().search);
  OutputFile output(flags.output);
  size_t printed = 0;
  for_each_chunk(
      {.file = flags.input, .chunk_size = flags.chunk_size, .what = "translating"}, output,
      [&](std::span<const std::string> lines) {
        for (const auto& nbest : translator.translate(lines)) {
          ++printed;
          for (const Translation& one : nbest) {
            print_output(flags, {printed, one.text, one.log_prob, one.score}, output.stream());
          }
        }
      });
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
  command->callback([flags, &context] { translate(*flags, context); });
}

}  // namespace attn
