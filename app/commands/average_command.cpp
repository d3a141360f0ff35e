#include "app/commands/average_command.h"

#include <memory>

#include "app/experiment/average.h"

namespace attn {

void add_average_command(CLI::App& app) {
  auto options = std::make_shared<AverageOptions>();
  CLI::App* command =
      app.add_subcommand("average", "Average the last checkpoints' weights, as the paper does");
  command->footer("Example: attn average runs/base --last 5");
  command->add_option("run", options->run, "a run, or RUN@STEP: the checkpoints up to that step")
      ->required();
  command->add_option("--last", options->last, "how many (the paper: 5, big: 20)");
  command->add_option("--output", options->output, "directory (default: RUN/averaged)");
  command->callback([options] { average(*options); });
}

}  // namespace attn
