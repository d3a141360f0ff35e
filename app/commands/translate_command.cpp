#include "app/commands/translate_command.h"

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
#include "eval/tasks/translator.h"

namespace attn {
namespace {

struct TranslateOptions {
  std::filesystem::path run;
  std::vector<std::string> assignments;
  bool scores = false;
  bool nbest_list = false;
  int64_t chunk_size = 1024;
};

void print(const std::vector<Translation>& nbest, size_t line, const TranslateOptions& options) {
  for (const Translation& translation : nbest) {
    if (options.nbest_list) {
      if (!std::isfinite(translation.score)) continue;  // padding: search found fewer
      std::cout << nbest_list_line(line - 1, translation.text, translation.log_prob,
                                   translation.score)
                << '\n';
      continue;
    }
    if (options.scores) {
      std::cout << format("%zu\t%.6f\t%.6f\t", line, translation.score, translation.log_prob);
    }
    std::cout << translation.text << '\n';
  }
}

void translate(const TranslateOptions& options, const Context& context) {
  LoadedModel loaded = load_model_to_search(options.run, context.device, options.assignments);
  if (loaded.experiment.data.task != Task::translation) {
    throw ConfigError(options.run.string() + ": a parser (data.task parsing); use attn parse");
  }
  std::cerr << "translating with " << loaded.directory.path().string() << "\n";
  Translator translator(*loaded.model, loaded.tokenizers, loaded.experiment.search);
  size_t printed = 0;
  for_each_chunk(options.chunk_size, "translating", [&](std::span<const std::string> lines) {
    for (const auto& nbest : translator.translate(lines)) print(nbest, ++printed, options);
  });
  if (translator.cut_lines() > 0) {
    std::cerr << translator.cut_lines() << " lines were longer than "
              << translator.limits().max_source << " tokens and were truncated\n";
  }
}

}  // namespace

void add_translate_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<TranslateOptions>();
  CLI::App* command =
      app.add_subcommand("translate", "Translate standard input, one sentence per line");
  command->footer(
      "Prints one translation per input line. With nbest > 1 it prints exactly nbest lines per "
      "input\nline; if search finds fewer, the last ones are empty with score -inf.\n--nbest-list "
      "omits these. Given a run, the averaged checkpoint is used if it\nexists, else the best, "
      "else the newest.\n"
      "Examples:\n"
      "  attn translate runs/tiny < in.en > out.de\n"
      "  attn translate runs/tiny --set nbest=4 --scores < in.en");
  command->add_option("run", options->run, kModelArgument)->required();
  command
      ->add_option("--set", options->assignments, "override an option of search or runtime: beam=5")
      ->allow_extra_args(false);
  CLI::Option* scores =
      command->add_flag("--scores", options->scores,
                        "prefix each translation with line number, score and log-probability");
  command->add_flag("--nbest-list", options->nbest_list, kNbestListHelp)->excludes(scores);
  command->add_option("--chunk-size", options->chunk_size,
                      "input lines per chunk, batched by length (default: 1024; terminal: 1)");
  command->add_option("--window", options->chunk_size, "former name of --chunk-size")->group("");
  command->callback([options, &context] { translate(*options, context); });
}

}  // namespace attn
