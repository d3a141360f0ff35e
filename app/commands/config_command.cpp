#include "app/commands/config_command.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/head_widths.h"
#include "model/size.h"

namespace attn {
namespace {

struct ConfigOptions {
  std::filesystem::path file;
  std::vector<std::string> assignments;
  bool explain = false;
};

// The options of every kind of evaluator, each once, with the kinds that have it.
std::vector<FieldDoc> evaluator_docs() {
  std::vector<FieldDoc> docs;
  std::vector<std::string> kinds;
  for (const auto& kind : EnumNames<EvaluatorKind>::values) {
    EvaluatorConfig config;
    config.choose(kind.value);
    for (const FieldDoc& doc : explain_config(config)) {
      const auto known = std::find_if(docs.begin(), docs.end(), [&](const FieldDoc& other) {
        return other.path == "eval[]." + doc.path;
      });
      const auto at = static_cast<size_t>(known - docs.begin());
      if (known == docs.end()) {
        docs.push_back(doc);
        docs.back().path = "eval[]." + doc.path;
        kinds.emplace_back();
      }
      kinds[at] += (kinds[at].empty() ? "" : ", ") + std::string(kind.name);
    }
  }
  for (size_t i = 0; i < docs.size(); ++i) {  // the name, like others, is of all
    if (kinds[i] != kinds.front()) docs[i].meaning = kinds[i] + ": " + docs[i].meaning;
  }
  return docs;
}

void explain(const Experiment& experiment) {
  size_t widest = 0;
  auto docs = explain_config(experiment);
  std::erase_if(docs, [&](const FieldDoc& doc) { return doc.path.starts_with("eval"); });
  for (FieldDoc& doc : evaluator_docs()) docs.push_back(std::move(doc));
  for (const FieldDoc& doc : docs) widest = std::max(widest, doc.path.size() + doc.value.size());
  for (const FieldDoc& doc : docs) {
    const std::string padding(widest - doc.path.size() - doc.value.size() + 2, ' ');
    std::cout << doc.path << " = " << doc.value << padding << doc.meaning << " (" << doc.type
              << (doc.only.empty() ? "" : "; " + doc.only) << ")\n";
  }
}

void run_config(const ConfigOptions& options) {
  const Experiment experiment =
      options.file.empty()
          ? resolve_experiment(Json::object(), "defaults", ".", options.assignments)
          : load_experiment(options.file, options.assignments);
  if (options.explain) {
    explain(experiment);
    return;
  }
  std::cout << write_experiment(experiment).dump(2) << "\n";
  const int64_t vocabulary = experiment.data.vocab_size;
  std::cerr << parameter_count(experiment.model, {vocabulary, vocabulary})
            << " parameters with vocabularies of " << vocabulary << "\n";
  const std::string note = head_width_note(experiment.model);
  if (!note.empty()) std::cerr << "note: " << note << "\n";
}

}  // namespace

void add_config_command(CLI::App& app) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* command =
      app.add_subcommand("config", "Print a config resolved, or explain every option");
  command->footer(
      "Example: attn config experiments/multi30k/tiny.json --set model.heads=8\n"
      "         attn config --explain");
  command->add_option("config", options->file, "a config (default: the paper's base)");
  command->add_option("--set", options->assignments, "path=value")->allow_extra_args(false);
  command->add_flag(
      "--explain", options->explain,
      "every option with its value and meaning, and which alternatives of a tag have it");
  command->callback([options] { run_config(*options); });
}

}  // namespace attn
