#include "app/commands/commands.h"

#include <algorithm>
#include <iostream>

#include "app/experiment/run_directory.h"
#include "app/machine/processes.h"
#include "base/error.h"
#include "eval/metrics/bootstrap.h"

namespace attn {
namespace {

ConfigError explained(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string name;  // "score bleu"
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += (name.empty() ? "" : " ") + command->get_name();
  }
  const std::string place = name.empty() ? "" : name + ": ";
  const std::string see = "; see attn " + name + (name.empty() ? "" : " ") + "--help";
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) return ConfigError(place + error.what() + see);
  const bool is_flag = unknown.front().starts_with('-');
  const bool takes_command =
      !command->get_subcommands([](const CLI::App*) { return true; }).empty();  // also not chosen
  const std::string kind = is_flag ? "flag" : takes_command ? "command" : "argument";
  const bool has_options = is_flag && command->get_option_no_throw("--set") != nullptr;
  return ConfigError(place + unknown.front() + ": unknown " + kind +
                     (has_options ? "; options of the config are set with --set path=value" : "") +
                     see);
}

}  // namespace

CLI::Option* add_set(CLI::App* command, std::vector<Assignment>& assignments,
                     const std::string& about, const std::string& name) {
  using Texts = std::vector<std::string>;
  const auto parse = [&assignments](const Texts& texts) {
    assignments = std::vector<Assignment>(texts.begin(), texts.end());
  };
  return command->add_option_function<Texts>(name, parse, about)->check([name](const auto& text) {
    return text.find('=') != std::string::npos
               ? ""
               : text + ": expected path=value; files stand before " + name;
  });
}

void add_runs(CLI::App* command, std::vector<std::filesystem::path>& runs) {
  const std::string about = kModelArgument;
  command->add_option("runs", runs, about + "; several: an ensemble with identical vocabularies")
      ->required();
}

void add_resampling(CLI::App* command, Resampling& resampling) {
  command->add_option("--baseline", resampling.baseline,
                      "Output of a baseline: paired bootstrap test (sacreBLEU --paired-bs)");
  command->add_flag("--confidence", resampling.confidence,
                    "95 % confidence interval, " + std::to_string(BootstrapOptions{}.samples) +
                        " bootstrap resamples (sacreBLEU --confidence)");
}

void warn_if_scored_alike(const std::string& baseline, bool alike) {
  if (!alike) return;
  std::cerr << "warning: " << baseline
            << ": each sentence scores as in the scored output; p has no meaning\n";
}

void run_command(CLI::App& app, std::vector<std::string> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {  // CLI11 ignores empty values
    const std::string& argument = arguments[i];
    const bool empty_value = argument.starts_with("--") && argument.ends_with('=') &&
                             argument.find('=') + 1 == argument.size();
    if (!argument.empty() && !empty_value) continue;
    const bool of_flag = argument.empty() && i > 0 && arguments[i - 1].starts_with('-');
    throw ConfigError((of_flag ? arguments[i - 1] : shell_word(argument)) +
                      ": the value is empty; leave out the flag, or give a value");
  }
  try {
    std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 expects
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw explained(app, error);
    app.exit(error, std::cout, std::cerr);  // --help, --version
  }
}

}  // namespace attn
