#include "app/commands/commands.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "app/experiment/find_checkpoint.h"
#include "app/export/ctranslate2.h"
#include "app/export/huggingface.h"
#include "app/export/read_source.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

struct ExportOptions {
  std::filesystem::path run;
  std::string target;
  std::filesystem::path output;
  std::string weights = "fp32";
};

// Differences that are not in the model: the target's search is configured when it is run.
void print_notes(const ExportSource& source, const ExportOptions& options) {
  const SearchConfig& search = source.search;
  if (search.penalty == LengthPenalty::gnmt && search.alpha != 0.0) {
    std::cerr << "note: search.penalty=gnmt has no counterpart in " << options.target
              << ", which divides by a power of the length; for identical translations set "
                 "length_penalty 0 there, and --set alpha=0 here\n";
  }
  const bool table = source.config.position != Position::sinusoidal;
  if (options.target == "huggingface" && table) {
    std::cerr << "note: positions (model.position " << enum_name(source.config.position)
              << ") are written as tables, which transformers loads but save_pretrained leaves "
                 "out\n";
  }
}

void export_model(const ExportOptions& options) {
  const bool huggingface = options.target == "huggingface", int8 = options.weights == "int8";
  if (huggingface && int8) {
    throw ConfigError("--weights: int8: only for --to ctranslate2");
  }
  if (std::filesystem::exists(std::filesystem::symlink_status(options.output))) {
    throw DataError(options.output.string() +
                    ": exists, and is not replaced; give another --output, or delete it");
  }
  const ExportSource source = read_export_source(options.run);
  std::cerr << "exporting " << source.checkpoint.string() << "\n";
  huggingface ? require_huggingface(source) : require_ctranslate2(source);
  AtomicDirectory output(options.output);
  if (huggingface) {
    write_huggingface(source, output.path());
  } else {
    write_ctranslate2(source, {.int8 = int8}, output.path());
  }
  output.commit();
  print_notes(source, options);
  std::cout << options.output.string() << "\n";
}

}  // namespace

void add_export_command(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      app.add_subcommand("export", "Export a trained translator to CTranslate2 or Hugging Face");
  command->footer(
      "Writes a directory that CTranslate2's Translator, or transformers' MarianMTModel and\n"
      "MarianTokenizer, can load. A model option that the target does not support is an error. "
      "Prints\nthe directory.\n"
      "Examples:\n"
      "  attn export runs/tiny --to ctranslate2 --output tiny-ct2\n"
      "  attn export runs/tiny@best --to huggingface --output tiny-hf");
  command->add_option("run", options->run, kModelArgument)->required();
  command->add_option("--to", options->target, "ctranslate2 or huggingface")
      ->required()
      ->check(CLI::IsMember({"ctranslate2", "huggingface"}));
  command->add_option("--output", options->output, "directory to create")->required();
  command
      ->add_option("--weights", options->weights,
                   "fp32, or int8 (CTranslate2 only), which takes a quarter of the space")
      ->check(CLI::IsMember({"fp32", "int8"}))
      ->capture_default_str();
  command->callback([options] { export_model(*options); });
}

}  // namespace attn
