#include "app/commands/commands.h"

#include <iostream>
#include <memory>

#include "app/experiment/experiment.h"
#include "model/size.h"

namespace attn {
namespace {

struct ConfigOptions {
  std::filesystem::path file;
  std::vector<Assignment> assignments;
  bool explain = false;
};

void explain(const Experiment& experiment) {
  size_t widest = 0;
  auto docs = explain_config(experiment);
  std::erase_if(docs, [](const FieldDoc& doc) { return doc.path == "eval"; });  // its items follow
  for (const FieldDoc& doc : docs) widest = std::max(widest, doc.path.size() + doc.value.size());
  for (const FieldDoc& doc : docs) {
    const std::string padding(widest - doc.path.size() - doc.value.size() + 2, ' ');
    std::cout << doc.path << " = " << doc.value << padding << doc.meaning << " (" << doc.type
              << (doc.only.empty() ? "" : "; " + doc.only) << ")\n";
  }
}

void run_config(const ConfigOptions& options) {
  const Experiment experiment = options.file.empty()
                                    ? resolve_experiment({}, "defaults", ".", options.assignments)
                                    : load_experiment(options.file, options.assignments);
  if (options.explain) {
    explain(experiment);
    return;
  }
  std::cout << write_config(experiment).dump(2) << "\n";
  if (experiment.data.task == Task::parsing) return;  // the treebank has the number of symbols
  const int64_t vocabulary = experiment.data.vocab_size;
  std::cerr << parameter_count(experiment.model, {vocabulary, vocabulary})
            << " parameters with a vocabulary size of " << vocabulary << "\n";
}

}  // namespace

void add_config_command(CLI::App& app) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* command =
      app.add_subcommand("config", "Print a resolved config, or explain every option");
  command->footer(
      "Prints the config as JSON, with its base and all defaults filled in; the number of\n"
      "parameters goes to stderr. With --explain: one line per option with its value, meaning and "
      "type.\n"
      "Examples:\n"
      "  attn config experiments/multi30k/tiny.json --set model.heads=8\n"
      "  attn config --explain");
  command->add_option("config", options->file, "config file (default: the paper's base model)");
  add_set(command, options->assignments);
  command->add_flag("--explain", options->explain,
                    "print every option with its value, meaning and type");
  command->callback([options] { run_config(*options); });
}

}  // namespace attn
