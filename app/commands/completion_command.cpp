#include "app/commands/completion_command.h"

#include <iostream>
#include <memory>
#include <string>

#include "app/commands/completion_script.h"

namespace attn {

void add_completion_command(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print a completion script for bash, zsh or fish");
  command->footer(
      "Completes commands, flags and choices.\n"
      "Examples:\n"
      "  source <(attn completion bash)                                in ~/.bashrc\n"
      "  attn completion zsh > ~/.zfunc/_attn                          a directory of $fpath\n"
      "  attn completion fish > ~/.config/fish/completions/attn.fish");
  command->add_option("shell", *shell, "the shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &app] {
    std::cout << (*shell == "bash"  ? bash_completion(app)
                  : *shell == "zsh" ? zsh_completion(app)
                                    : fish_completion(app));
  });
}

}  // namespace attn
