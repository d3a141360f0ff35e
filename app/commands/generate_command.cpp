#include "app/commands/commands.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <tuple>

#include "data/synthetic/corpus.h"

namespace attn {
namespace {

struct GenerateOptions {
  std::filesystem::path directory;
  GeneratedSizes sizes;
  int64_t seed = 1;
};

void print_samples(const std::vector<GeneratedPair>& pairs) {
  constexpr size_t kSamples = 3;
  for (size_t i = 0; i < std::min(kSamples, pairs.size()); ++i) {
    std::cout << pairs[i].english << "\n"
              << pairs[i].german << "\n"
              << write_tree(pairs[i].tree) << "\n\n";
  }
}

}  // namespace

void add_generate_command(CLI::App& app) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand(
      "generate", "Generate a synthetic corpus: English, German and constituency trees");
  command->footer(
      "Writes DIRECTORY/{train,valid,test}.{en,de,ptb}, one sentence or tree per line, and prints "
      "three\nsamples.\n"
      "Example: attn generate toy --train 20000 --seed 1");
  command
      ->add_option(
          "directory", options->directory,
          "output directory, created if missing; files with other content are not replaced")
      ->required();
  for (const auto& [name, value, about] :
       {std::tuple("--train", &options->sizes.train, "training pairs"),
        {"--valid", &options->sizes.valid, "validation pairs"},
        {"--test", &options->sizes.test, "test pairs"},
        {"--seed", &options->seed, "random seed"}}) {
    command->add_option(name, *value, about)->check(CLI::NonNegativeNumber)->capture_default_str();
  }
  command->callback([options] {
    const auto log = [](const std::string& line) { std::cerr << line << "\n"; };
    const GeneratedCorpus corpus = write_generated_corpus(
        options->directory, options->sizes, static_cast<uint64_t>(options->seed), log);
    print_samples(corpus.train);
  });
}

}  // namespace attn
