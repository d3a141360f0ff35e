#include "app/commands/commands.h"

#include <memory>

#include "app/experiment/experiment.h"
#include "app/experiment/training_run.h"
#include "app/machine/device.h"
#include "app/sweep/costs.h"

namespace attn {
namespace {

// What the training would cost, from some seconds of it; leaves the run directory alone.
void dry_run(const TrainOptions& options, const Context& context) {
  const Experiment experiment = load_experiment(options.path, options.assignments);
  experiment.require_texts();
  print_step(experiment, benchmark_step(experiment, {.seconds = 3.0}, context));
}

}  // namespace

void add_train_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Train a model, or resume a run");
  command->footer(
      "Writes config, log, metrics and checkpoints into the run directory and logs to stderr. "
      "Ctrl-C\nsaves a checkpoint and stops.\n"
      "Examples:\n"
      "  attn train experiments/multi30k/tiny.json --set model.dropout=0.1 --run runs/d1\n"
      "  attn train runs/d1 --resume\n"
      "  attn train runs/d1 --resume --change train.learning_rate=0.0003");
  command->add_option("config", options->path, "config file, or with --resume a run directory")
      ->required();
  command->add_option("--run", options->run, "run directory (default: runs/<name of the config>)");
  command->add_flag("--resume", options->resume, "resume from the newest checkpoint");
  command
      ->add_flag("--rescore", options->rescore,
                 "score a finished run again if its evaluators, texts or search have changed")
      ->needs("--resume");
  add_set(
      command, options->changes,
      "with --resume: change the rate, batches or clipping of the following updates, path=value; "
      "recorded in metrics.jsonl",
      "--change");
  auto dry = std::make_shared<bool>(false);
  command
      ->add_flag("--dry-run", *dry,
                 "print parameters, time, memory and unknown words, and train nothing")
      ->excludes("--resume", "--change");
  command
      ->add_option("--wait", options->wait,
                   "seconds to wait for another process that is training this run (default: 0)")
      ->check(CLI::Range(0.0, 1e9));
  add_set(command, options->assignments);
  command->callback([options, dry, &context] {
    if (*dry) return dry_run(*options, context);
    context.exit_code = train(*options, context);
  });
}

}  // namespace attn
