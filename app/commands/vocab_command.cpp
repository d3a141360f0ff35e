#include "app/commands/commands.h"

#include <iostream>
#include <memory>

#include "app/commands/text_io.h"
#include "app/experiment/checkpoint.h"
#include "app/experiment/progress_line.h"
#include "app/experiment/run_directory.h"
#include "data/tokenizer.h"

namespace attn {
namespace {

struct VocabOptions {
  std::filesystem::path path;
  bool target = false;
  bool encode = false;
};

std::shared_ptr<const Tokenizer> open_tokenizer(const VocabOptions& options) {
  const bool selects = !std::filesystem::exists(options.path);  // RUN@best
  const std::filesystem::path path = selects ? find_checkpoint(options.path) : options.path;
  require_input(path, {InputKind::run, InputKind::checkpoint});
  if (!std::filesystem::is_directory(path)) return load_tokenizer(path);
  const Tokenizers both = load_tokenizers(path);
  return options.target ? both.target : both.source;
}

void vocab(const VocabOptions& options) {
  const std::shared_ptr<const Tokenizer> tokenizer = open_tokenizer(options);
  if (!options.encode) {
    for (int64_t id = 0; id < tokenizer->size(); ++id) {
      std::cout << id << '\t' << tokenizer->piece(id) << '\n';
    }
    return;
  }
  LineReader reader("-", std::string::npos);
  for (std::string line; reader.next(line);) {
    const char* separator = "";
    for (const int32_t token : tokenizer->encode(line)) {
      std::cout << separator << tokenizer->piece(token);
      separator = " ";
    }
    std::cout << '\n';
  }
}

}  // namespace

void add_vocab_command(CLI::App& app) {
  auto options = std::make_shared<VocabOptions>();
  CLI::App* command = app.add_subcommand("vocab", "List a vocabulary, or tokenize text with it");
  command->footer(
      "Prints one token per line: id, tab, piece. With --encode: the pieces of each input line.\n"
      "Example: attn vocab runs/tiny --encode < text.en");
  command->add_option("tokenizer", options->path, "run, checkpoint or tokenizer file")->required();
  command->add_flag("--target", options->target, "use the target tokenizer, if there are two");
  command->add_flag("--encode", options->encode, "tokenize standard input, one sentence per line");
  command->callback([options] { vocab(*options); });
}

}  // namespace attn
