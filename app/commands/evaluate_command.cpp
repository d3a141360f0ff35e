#include "app/commands/commands.h"
#include "app/experiment/test_ledger.h"

#include <iostream>
#include <memory>

#include "app/experiment/checkpoint.h"
#include "app/experiment/progress_line.h"
#include "app/machine/device.h"
#include "app/machine/exit.h"
#include "base/error.h"
#include "base/file.h"
#include "base/stop_signal.h"
#include "data/lines.h"
#include "eval/tasks/make_evaluator.h"

namespace attn {
namespace {

struct EvalOptions {
  std::vector<std::filesystem::path> runs;
  std::vector<Assignment> assignments;
  std::filesystem::path output;
  bool json = false;
};

// `output`: where the outputs are kept; empty: nowhere.
EvaluationResult run_evaluator(const Evaluator& evaluator, const EvaluatorConfig& config,
                               const LoadedEnsemble& loaded, const std::filesystem::path& output) {
  const int64_t before = searched_sentences;
  const ProgressLine progress({.what = config.name, .unit = "sentences", .done = [&] {
                                 return searched_sentences - before;
                               }});
  const EvaluationResult result = evaluator.run(loaded.models, output);
  const auto member = std::filesystem::weakly_canonical(loaded.members.front().directory.path());
  count_scoring(config, loaded.experiment().data, evaluator.text_key(),
                RunDirectory::of_checkpoint(member), {});
  return result;
}

void evaluate(const EvalOptions& options, const Context& context) {
  catch_stop_signals();  // evaluators throw Stopped, so that the scratch directory is removed
  const ScratchDirectory scratch("attn-eval");  // for the cache, since the run may be read-only
  const LoadedEnsemble loaded =
      load_ensemble(options.runs, context.device, options.assignments, Settable::evaluation);
  const Experiment& experiment = loaded.experiment();
  if (experiment.eval.empty()) {
    throw ConfigError(options.runs.front().string() +
                      ": the config has no evaluators; add one with --set "
                      "'eval=[{\"name\": \"valid\", \"kind\": \"loss\"}]'");
  }
  std::vector<std::filesystem::path> outputs(experiment.eval.size());
  if (!options.output.empty()) make_directories(options.output);
  for (size_t i = 0; i < outputs.size() && !options.output.empty(); ++i) {
    outputs[i] = options.output / (experiment.eval[i].name + ".txt");
    if (!std::filesystem::exists(outputs[i])) continue;
    throw ConfigError(outputs[i].string() + ": exists; give another directory with --output");
  }
  std::cerr << "evaluating " << loaded.description() << "\n";
  Json all = Json::object();
  require_unsealed(experiment.eval);
  std::vector<std::unique_ptr<Evaluator>> evaluators;  // all, before any looks at its test set
  for (const EvaluatorConfig& config : experiment.eval) {
    evaluators.push_back(make_evaluator(config, experiment.search, experiment.data,
                                        loaded.tokenizers, scratch.path()));
    for (const Seq2SeqModel* member : loaded.models.members()) evaluators.back()->check(*member);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const EvaluatorConfig& config = experiment.eval[i];
    const EvaluationResult result = run_evaluator(*evaluators[i], config, loaded, outputs[i]);
    throw_if_stopped();
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
      "Prints one line per evaluator: its name, scores and signature. Several runs are evaluated "
      "as "
      "an\nensemble, with the evaluators and the text of the first.\n"
      "Example: attn eval runs/tiny/averaged --set search.beam=5 --json");
  add_runs(command, options->runs);
  add_set(command, options->assignments);
  command->add_option("--output", options->output, "directory for the outputs (default: not kept)");
  command->add_flag("--json", options->json, "print JSON in full precision");
  command->callback([options, &context] { evaluate(*options, context); });
}

}  // namespace attn
