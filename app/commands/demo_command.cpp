#include "app/commands/demo_command.h"

#include <memory>

#include "app/demo/demo.h"

namespace attn {

void add_demo_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand(
      "demo", "Make a corpus; train a translator, a parser and a small ablation on it; score them");
  command->footer("Example: attn demo\n         A second call shows the result again.");
  command->add_option("--config", options->config, "the translator")->capture_default_str();
  command->add_option("--parse-config", options->parse_config, "the parser")->capture_default_str();
  command->add_option("--sweep", options->sweep, "the ablation")->capture_default_str();
  command->add_option("--run", options->run, "its directory")->capture_default_str();
  command->callback([options, &context] { context.exit_code = demo(*options, context); });
}

}  // namespace attn
