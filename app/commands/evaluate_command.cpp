#include "app/commands/evaluate_command.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/experiment/checkpoint.h"
#include "base/error.h"
#include "base/file.h"
#include "eval/tasks/make_evaluator.h"

namespace attn {
namespace {

struct EvalOptions {
  std::filesystem::path run;
  std::vector<std::string> assignments;
  std::filesystem::path output;
  bool json = false;
};

void evaluate(const EvalOptions& options, const Context& context) {
  LoadedModel loaded = load_model(options.run, context.device, options.assignments);
  const Experiment& experiment = loaded.experiment;
  if (experiment.eval.empty()) {
    throw ConfigError(options.run.string() +
                      ": the config has no evaluators; add one with --set "
                      "'eval=[{\"name\": \"valid\", \"kind\": \"loss\"}]'");
  }
  std::cerr << "evaluating " << loaded.directory.path().string() << "\n";
  Json all = Json::object();
  // A temporary cache, since the run may be read-only; never committed, so it is removed.
  const AtomicDirectory scratch(std::filesystem::temp_directory_path() / "attn-eval");
  const bool own_cache = experiment.data.cache != load_description(loaded.directory).data.cache;
  const std::filesystem::path cache =
      own_cache ? std::filesystem::path(experiment.data.cache) : scratch.path();
  for (const EvaluatorConfig& config : experiment.eval) {
    const auto evaluator = make_evaluator(config, experiment.data, loaded.tokenizers, cache);
    const EvaluationResult result = evaluator->run(
        *loaded.model,
        options.output.empty() ? std::filesystem::path() : options.output / (config.name + ".txt"));
    if (!options.json) std::cout << config.name << "  " << result.line << std::endl;
    Json& entry = all[config.name] = Json::object();
    for (const auto& [key, value] : result.values) entry[key] = value;
    if (!result.signature.empty()) entry["signature"] = result.signature;
  }
  if (options.json) std::cout << all.dump(2) << "\n";
}

}  // namespace

void add_evaluate_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command =
      app.add_subcommand("eval", "Run the evaluators of the config on a run or checkpoint");
  command->footer(
      "Prints one line per evaluator: its name, scores and signature.\n"
      "Example: attn eval runs/tiny/averaged --set search.beam=5 --json");
  command->add_option("run", options->run, kModelArgument)->required();
  command->add_option("--set", options->assignments, "override an option, path=value")
      ->allow_extra_args(false);
  command->add_option("--output", options->output, "directory for the outputs (default: not kept)");
  command->add_flag("--json", options->json, "print JSON in full precision");
  command->callback([options, &context] { evaluate(*options, context); });
}

}  // namespace attn
