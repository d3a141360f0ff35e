#include "app/commands/generate_command.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "data/synthetic/grammar.h"

namespace attn {
namespace {

struct GenerateOptions {
  std::filesystem::path directory;
  GeneratedSizes sizes;
  uint64_t seed = 1;
};

void write_part(const std::filesystem::path& stem, const std::vector<GeneratedPair>& pairs) {
  std::string english, german, trees;
  for (const GeneratedPair& pair : pairs) {
    english += pair.english + '\n';
    german += pair.german + '\n';
    trees += write_tree(pair.tree) + '\n';
  }
  const auto write = [&stem](const char* suffix, const std::string& content) {
    const std::filesystem::path path = stem.string() + suffix;
    write_file_atomically(path, content);
    std::cerr << "wrote " << path.string() << "\n";
  };
  write(".en", english);
  write(".de", german);
  write(".ptb", trees);
}

void print_samples(const std::vector<GeneratedPair>& pairs) {
  constexpr size_t kSamples = 3;
  for (size_t i = 0; i < std::min(kSamples, pairs.size()); ++i) {
    std::cout << pairs[i].english << "\n"
              << pairs[i].german << "\n"
              << write_tree(pairs[i].tree) << "\n\n";
  }
}

}  // namespace

GeneratedCorpus write_generated_corpus(const std::filesystem::path& directory,
                                       const GeneratedSizes& sizes, uint64_t seed) {
  // Made before the work, so that a directory that cannot be made is known at once.
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    throw DataError(directory.string() + ": cannot make this directory (" + error.message() +
                    "); name another");
  }
  GeneratedCorpus corpus = generate_corpus(seed, sizes);
  write_part(directory / "train", corpus.train);
  write_part(directory / "valid", corpus.valid);
  write_part(directory / "test", corpus.test);
  std::cerr << corpus.train.size() << " training, " << corpus.valid.size() << " validation and "
            << corpus.test.size() << " test pairs, no sentence twice; seed " << seed << "\n";
  return corpus;
}

void add_generate_command(CLI::App& app) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand(
      "generate", "Write the built-in corpus: English, German and trees, as much as asked for");
  command->footer(
      "Example: attn generate toy --train 20000 --seed 1\n"
      "         writes toy/{train,valid,test}.{en,de,ptb}, one sentence or tree a line");
  command->add_option("directory", options->directory, "where to write; made if need be")
      ->required();
  command->add_option("--train", options->sizes.train, "pairs to train on")->capture_default_str();
  command->add_option("--valid", options->sizes.valid, "pairs to validate with")
      ->capture_default_str();
  command->add_option("--test", options->sizes.test, "pairs to test with")->capture_default_str();
  command->add_option("--seed", options->seed, "another seed, other sentences")
      ->capture_default_str();
  command->callback([options] {
    print_samples(write_generated_corpus(options->directory, options->sizes, options->seed).train);
  });
}

}  // namespace attn
