#include "app/commands/arguments.h"

#include <algorithm>
#include <iostream>

#include "app/experiment/find_checkpoint.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "base/parse_number.h"

namespace attn {
namespace {

// Also those that were not chosen.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// CLI11 reads "010" as octal, and clamps what is too large.
void check_decimal(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    const std::string type = option->get_type_name();
    if (!type.starts_with("INT") && !type.starts_with("UINT")) continue;
    option->check([](const std::string& text) {
      const size_t digits = text.find_first_not_of("+-");
      const bool octal =
          digits != std::string::npos && text[digits] == '0' && text.size() > digits + 1;
      const auto number = parse_number<int64_t>(text.starts_with('+') ? text.substr(1) : text);
      return number && !octal
                 ? ""
                 : text + ": expected a decimal integer of at most 64 bits, without leading zeros";
    });
  }
  for (CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; })) {
    check_decimal(*one);
  }
}

// The nearest command or flag, for an argument that CLI11 has left over; "" if none is near.
std::string hint(const CLI::App& command, const std::string& argument) {
  std::vector<std::string> names;
  if (!argument.starts_with('-')) {
    for (const CLI::App* one : commands_of(command)) names.push_back(one->get_name());
    const std::string near = nearest(argument, names);
    return near.empty() ? "" : "; did you mean " + near + "?";
  }
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  const std::string name =
      argument.substr(std::min(argument.find_first_not_of('-'), argument.size()));
  const std::string near = nearest(name.substr(0, name.find('=')), names);
  if (!near.empty()) return "; did you mean --" + near + "?";
  if (command.get_option_no_throw("--set") == nullptr) return "";
  return "; options of the config are set with --set path=value (attn config --explain)";
}

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
  const bool takes_command = !commands_of(*command).empty();
  const std::string kind = is_flag ? "flag" : takes_command ? "command" : "argument";
  return ConfigError(place + unknown.front() + ": unknown " + kind +
                     hint(*command, unknown.front()) + see);
}

}  // namespace

CLI::Option* add_set(CLI::App* command, std::vector<std::string>& assignments,
                     const std::string& about, const std::string& name) {
  return command->add_option(name, assignments, about)->check([name](const std::string& text) {
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

void run_command(CLI::App& app, std::vector<std::string> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {  // CLI11 ignores empty values
    const std::string& argument = arguments[i];
    const bool empty_value = argument.starts_with("--") && argument.ends_with('=') &&
                             argument.find('=') + 1 == argument.size();
    if (!argument.empty() && !empty_value) continue;
    throw ConfigError((i > 0 && argument.empty() ? arguments[i - 1] : argument) +
                      ": the value is empty; leave out the flag, or give a value");
  }
  check_decimal(app);
  try {
    std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 expects
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw explained(app, error);
    app.exit(error, std::cout, std::cerr);  // --help, --version
  }
}

}  // namespace attn
