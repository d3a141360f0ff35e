#include "app/translate.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/checkpoint_directory.h"
#include "base/error.h"
#include "base/utf8.h"
#include "eval/translator.h"

namespace attn {
namespace {

struct TranslateOptions {
  std::filesystem::path run;
  std::vector<std::string> assignments;
  bool scores = false;
  int64_t window = 1024;
};

void print(const std::vector<Translation>& nbest, size_t line, const TranslateOptions& options) {
  for (const Translation& translation : nbest) {
    if (options.scores) {
      char numbers[96];
      std::snprintf(numbers, sizeof numbers, "%zu\t%.6f\t%.6f\t", line, translation.score,
                    translation.log_prob);
      std::cout << numbers;
    }
    std::cout << translation.text << '\n';
  }
}

// A line that is no UTF-8 is translated with U+FFFD in place of the bad bytes, so that the order of
// lines is kept.
void repair(std::string& line, size_t number, int64_t& repaired) {
  if (!find_invalid_utf8(line)) return;
  if (repaired++ == 0) {
    std::cerr << "standard input:" << number
              << ": invalid UTF-8; its bad bytes are read as U+FFFD, here and in later lines\n";
  }
  std::string clean;
  for (const char32_t c : decode_utf8(line)) append_utf8(clean, c);
  line = clean;
}

void translate(const TranslateOptions& options) {
  LoadedModel loaded = load_model(options.run);
  Json search = write_config(loaded.experiment.search);
  for (const std::string& assignment : options.assignments) set_path(search, assignment);
  SearchConfig config;
  read_config(config, search, "search");
  std::cerr << "translating with " << loaded.directory.string() << "\n";
  Translator translator(loaded.model, loaded.tokenizers, config);
  std::vector<std::string> window;
  size_t printed = 0;
  int64_t repaired = 0;
  const auto flush = [&] {
    for (const auto& nbest : translator.translate(window)) print(nbest, ++printed, options);
    std::cout.flush();
    if (!std::cout) throw DataError("standard output: cannot be written");
    window.clear();
  };
  // Windows let lines of like length share a batch; a person at a terminal gets every line at once.
  const int64_t asked = isatty(STDIN_FILENO) != 0 ? 1 : options.window;
  const auto size = static_cast<size_t>(std::max<int64_t>(asked, 1));
  for (std::string line; std::getline(std::cin, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    repair(line, printed + window.size() + 1, repaired);
    window.push_back(line);
    if (window.size() >= size) flush();
  }
  if (!window.empty()) flush();
  if (translator.cut_lines() > 0) {
    std::cerr << translator.cut_lines() << " lines were longer than "
              << TranslatorLimits{}.max_source << " tokens and were cut\n";
  }
}

}  // namespace

void add_translate_command(CLI::App& app) {
  auto options = std::make_shared<TranslateOptions>();
  CLI::App* command = app.add_subcommand(
      "translate", "Translate standard input, a line a sentence (nbest lines with nbest > 1)");
  command->footer(
      "Example: attn translate runs/tiny < in.en > out.de\n"
      "         attn translate runs/tiny --set nbest=4 --scores < in.en");
  command->add_option("run", options->run, "a run or a checkpoint")->required();
  command->add_option("--set", options->assignments, "a knob of search: beam=5")
      ->allow_extra_args(false);
  command->add_flag("--scores", options->scores,
                    "line number, score and log-probability before each translation");
  command->add_option("--window", options->window,
                      "lines read before translating them together; 1: answer each line at once");
  command->callback([options] { translate(*options); });
}

}  // namespace attn
