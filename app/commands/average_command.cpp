#include "app/commands/commands.h"

#include <cstdint>
#include <iostream>
#include <memory>

#include "app/experiment/checkpoint.h"

namespace attn {

void add_average_command(CLI::App& app) {
  constexpr int64_t kMaxCheckpoints = 1'000'000;
  auto options = std::make_shared<AverageOptions>();
  CLI::App* command =
      app.add_subcommand("average", "Average the weights of the last checkpoints, as in the paper");
  command->footer(
      "Writes an averaged checkpoint, which translate, parse and eval then use for the run.\n"
      "Example: attn average runs/base --last 5");
  command->add_option("run", options->run, "run")->required();
  add_number(command, "--last", options->last, "number of checkpoints (paper: base 5, big 20)", 1,
             kMaxCheckpoints);
  command->add_option("--output", options->output, "output directory (default: RUN/averaged)");
  command->callback([options] { std::cerr << average(*options) << "\n"; });
}

}  // namespace attn
