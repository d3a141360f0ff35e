#include "app/commands/commands.h"

#include <memory>

#include "app/demo/demo.h"
#include "app/machine/context.h"

namespace attn {

void add_demo_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand(
      "demo", "Generate a corpus; train and score a translator, a parser and a small ablation");
  command->footer("Example: attn demo\nRe-run the command to print the results again.");
  command->add_option("--config", options->config, "config of the translator")
      ->capture_default_str();
  command->add_option("--parse-config", options->parse_config, "config of the parser")
      ->capture_default_str();
  command->add_option("--sweep", options->sweep, "sweep file of the ablation")
      ->capture_default_str();
  command->add_option("--run", options->run, "output directory")->capture_default_str();
  command->callback([options, &context] { context.exit_code = demo(*options, context); });
}

}  // namespace attn
