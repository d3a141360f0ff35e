#include "app/commands/commands.h"

#include <memory>

#include "app/commands/arguments.h"
#include "app/experiment/train.h"
#include "app/machine/context.h"

namespace attn {

void add_train_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Train a model, or resume a run");
  command->footer(
      "Writes config, log, metrics and checkpoints into the run directory and logs to stderr. "
      "Ctrl-C\nsaves a checkpoint and stops.\n"
      "Examples:\n"
      "  attn train experiments/multi30k/tiny.json --set model.dropout=0.1 --run runs/d1\n"
      "  attn train runs/d1 --resume");
  command->add_option("config", options->path, "config file, or with --resume a run directory")
      ->required();
  command->add_option("--run", options->run, "run directory (default: runs/<name of the config>)");
  command->add_flag("--resume", options->resume, "resume from the newest checkpoint");
  command
      ->add_option("--wait", options->patience,
                   "seconds to wait for another process that is training this run (default: 0)")
      ->check(CLI::Range(0.0, 1e9));
  add_set(command, options->assignments);
  command->callback([options, &context] { context.exit_code = train(*options, context); });
}

}  // namespace attn
