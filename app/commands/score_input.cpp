#include "app/commands/score_input.h"

#include <iostream>

#include "app/commands/stdin_lines.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/unicode.h"
#include "data/lines.h"

namespace attn {

void add_scored_files(CLI::App* command, ScoredFiles& files) {
  command->add_option("HYP", files.hypotheses, "Hypotheses, one per line; - is stdin")->required();
  command->add_option("REF", files.references, "References, line by line; several files allowed")
      ->required();
}

TextFile read_text(const std::string& path, bool may_be_stdin, ByteOrderMark mark) {
  const bool is_stdin = path == "-";
  if (is_stdin && !may_be_stdin) {
    throw ConfigError("-: standard input is not possible for this text; give a file");
  }
  TextFile file{is_stdin ? "<stdin>" : path,
                is_stdin ? read_stdin_lines(mark) : read_lines(path, mark)};
  require_utf8(file.lines, file.name);
  // As sacreBLEU's program reads lines; chrF with white space would count it.
  for (std::string& line : file.lines) line.resize(strip_right(line).size());
  return file;
}

void check_same_length(const TextFile& one, const TextFile& other, const std::string& kinds) {
  const bool shorter = one.lines.size() < other.lines.size();
  const TextFile& less = shorter ? one : other;
  const TextFile& more = shorter ? other : one;
  if (less.lines.size() == more.lines.size()) return;
  throw DataError(more.name + ":" + std::to_string(less.lines.size() + 1) + ": " + less.name +
                  " has no such line (" + std::to_string(less.lines.size()) + " lines, expected " +
                  std::to_string(more.lines.size()) + "); " + kinds + " must match line by line");
}

ScoredText read_scored_text(const ScoredFiles& files, ByteOrderMark mark) {
  ScoredText text{read_text(files.hypotheses, true, mark), {}};
  for (const std::string& path : files.references) {
    TextFile reference = read_text(path, false, mark);
    check_same_length(text.hypotheses, reference);
    text.references.push_back(std::move(reference.lines));
  }
  if (text.hypotheses.lines.empty()) {
    throw DataError(text.hypotheses.name + ": empty file; nothing to score");
  }
  return text;
}

void warn_if_tokenized(const TextFile& hypotheses, const BleuOptions& options) {
  const bool expects_raw =
      options.tokenizer == BleuTokenizer::v13a || options.tokenizer == BleuTokenizer::intl;
  if (!expects_raw || !looks_tokenized(hypotheses.lines)) return;
  std::cerr << "warning: " << hypotheses.name
            << ": 100 lines or more end in \" .\", so the text looks tokenized; detokenize it, or "
               "use --tokenize none, or --force to suppress this warning\n";
}

void add_resampled(Json& json, const PairedBootstrap& resampled) {
  const BootstrapScore& baseline = resampled.baseline;
  if (resampled.systems.empty()) {
    json["mean"] = baseline.mean;
    json["ci"] = baseline.ci;
    return;
  }
  const PairedScore& system = resampled.systems.front();
  json["mean"] = system.system.mean;
  json["ci"] = system.system.ci;
  json["baseline"] = {{"score", baseline.score}, {"mean", baseline.mean}, {"ci", baseline.ci}};
  json["difference"] = system.difference;
  json["p_value"] = system.p_value;
}

void print_resampled(const PairedBootstrap& resampled) {
  const auto print = [](const char* what, const BootstrapScore& of) {
    std::cout << format("%-9s %.2f (%.2f ± %.2f)\n", what, of.score, of.mean, of.ci);
  };
  if (resampled.systems.empty()) {
    print("system", resampled.baseline);
    return;
  }
  const PairedScore& system = resampled.systems.front();
  print("baseline", resampled.baseline);
  print("system", system.system);
  const BootstrapOptions options;
  std::cout << format("%+.2f, p = %.4f", system.difference, system.p_value)
            << " (paired bootstrap, " << options.samples << " resamples, seed " << options.seed
            << ")\n";
}

}  // namespace attn
