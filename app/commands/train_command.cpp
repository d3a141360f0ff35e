#include "app/commands/train_command.h"

#include <memory>

#include "app/experiment/train.h"

namespace attn {

void add_train_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Train a model as a config describes it");
  command->footer(
      "Example: attn train experiments/multi30k/tiny.json --set model.dropout=0.1 --run runs/d1\n"
      "         attn train runs/d1 --resume");
  command->add_option("config", options->path, "a config, or with --resume a run directory")
      ->required();
  command->add_option("--run", options->run, "the run's directory (default: runs/<config's name>)");
  command->add_flag("--resume", options->resume, "go on from the newest checkpoint, exactly");
  command->add_option("--wait", options->patience,
                      "seconds to wait for another process that trains in the same directory");
  command->add_option("--set", options->assignments, "path=value, applied after the config")
      ->allow_extra_args(false);
  command->callback([options, &context] { context.exit_code = train(*options, context); });
}

}  // namespace attn
