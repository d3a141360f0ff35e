#include "app/commands/agree_command.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "data/lines.h"
#include "eval/metrics/tree_agreement.h"

namespace attn {
namespace {

struct AgreeOptions {
  std::vector<std::string> files;
  double least_f1 = -1.0;
  AgreementOptions agreement;
};

/// The parses of the next line of every file; empty where a file has no tree. Returns false at the
/// end of all files.
bool next_parses(std::vector<LineReader>& readers, std::vector<Tree>& parses) {
  parses.clear();
  size_t ended = 0;
  for (LineReader& reader : readers) {
    std::string line;
    if (!reader.next(line)) {
      ++ended;
      continue;
    }
    const std::string name = reader.path().string(),
                      place = name + ":" + std::to_string(reader.number());
    if (reader.cut()) throw DataError(place + ": a line of more than 1 MiB; expected a tree");
    std::vector<Tree> trees = parse_trees(line, name, {}, reader.number());
    if (trees.size() > 1) throw DataError(place + ": several trees; expected one tree per line");
    if (trees.size() == 1 && !tree_words(trees[0]).empty()) parses.push_back(std::move(trees[0]));
  }
  if (ended == 0 || ended == readers.size()) return ended == 0;
  std::string lines;
  for (LineReader& reader : readers) {
    for (std::string line; reader.next(line);) continue;
    lines += (lines.empty() ? "" : ", ") + reader.path().string() + " " +
             std::to_string(reader.number());
  }
  throw DataError("the files have different numbers of lines (" + lines +
                  "); give parses of the same sentences");
}

void agree(AgreeOptions options) {
  if (options.files.size() < 2) {
    throw ConfigError("agree: give two or more files with parses of the same sentences");
  }
  if (options.least_f1 >= 0) options.agreement.least_f1 = options.least_f1;
  std::vector<LineReader> readers;
  for (const std::string& file : options.files) readers.emplace_back(file);
  int64_t sentences = 0, kept = 0, without = 0;
  for (std::vector<Tree> parses; next_parses(readers, parses);) {
    ++sentences;
    if (parses.size() < readers.size()) {
      ++without;
      continue;
    }
    bool agreed = false;
    try {
      agreed = parses_agree(parses, options.agreement);
    } catch (const DataError& error) {
      throw DataError(options.files[0] + ":" + std::to_string(sentences) + ": " + error.what() +
                      "; give parses of the same sentences");
    }
    if (!agreed) continue;
    ++kept;
    std::cout << write_tree(parses.front()) << '\n';
  }
  std::cerr << "kept " << kept << " of " << sentences << " sentences"
            << format(" (%.1f %%)", sentences > 0 ? 100.0 * static_cast<double>(kept) /
                                                        static_cast<double>(sentences)
                                                  : 0.0);
  if (without > 0) std::cerr << "; " << without << " without a tree";
  std::cerr << "\n";
}

}  // namespace

void add_agree_command(CLI::App& app) {
  auto options = std::make_shared<AgreeOptions>();
  CLI::App* command = app.add_subcommand(
      "agree", "Print the trees on which several parses of the same sentences agree");
  command->footer(
      "Files have one tree per line, aligned. Prints the first file's tree of every sentence on "
      "which\nall files agree, and the number kept on stderr.\n"
      "Example: attn agree one.ptb two.ptb --min-words 4 > silver.ptb");
  command->add_option("files", options->files, "two or more files of trees")->required();
  command
      ->add_option(
          "--min-f1", options->least_f1,
          "minimum F1 in percent of the labelled brackets against each of the other files; tags "
          "are ignored (default: the trees, with their tags, must be equal)")
      ->check(CLI::Range(0.0, 100.0));
  command->add_option("--min-words", options->agreement.least_words, "minimum number of words")
      ->capture_default_str();
  command->add_option("--max-words", options->agreement.most_words, "maximum number of words")
      ->capture_default_str();
  command->callback([options] { agree(*options); });
}

}  // namespace attn
