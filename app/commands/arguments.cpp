#include "app/commands/arguments.h"

#include <algorithm>
#include <cctype>

#include "app/experiment/nearest_option.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "base/format.h"
#include "base/parse_number.h"

namespace attn {
namespace {

// Whether the text is an assignment to a config option, such as "model.heads=4", not a file.
bool is_assignment(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '[' ||
           c == ']';
  });
}

bool is_flag(const std::string& text) {
  return text.size() > 1 && text[0] == '-' &&
         (text[1] == '-' || std::isalpha(static_cast<unsigned char>(text[1])) != 0);
}

const CLI::Option* find_option(const CLI::App* command, const std::string& flag) {
  for (; command != nullptr; command = command->get_parent()) {
    if (const CLI::Option* option = command->get_option_no_throw(flag)) return option;
  }
  return nullptr;
}

// The command with its parents: "train", "bench step".
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr || parent->get_parent() == nullptr ? "" : full_name(*parent) + " ") +
         command.get_name();
}

// The place of an error on its command line: "bench step: ", "" for the program itself.
std::string place_of(const CLI::App& command) {
  return command.get_parent() == nullptr ? "" : full_name(command) + ": ";
}

// The long names of the visible flags, without the dashes.
std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden: kept for compatibility
    for (const std::string& name : option->get_lnames()) flags.push_back(name);
  }
  return flags;
}

// `found`, the path of a config option, if the command can override it with --set; else "".
std::string option_meant(const CLI::App& command, const std::string& found) {
  if (command.get_option_no_throw("--set") == nullptr) return "";
  const std::string name = command.get_name();
  const bool searches =
      name == "translate" || name == "parse" || name == "attention" || name == "heads";
  const bool runtime = found.starts_with("runtime.");
  const bool fits = name == "logprob" ? runtime || found == "search.ensemble"
                                      : !searches || runtime || found.starts_with("search.");
  return fits && !found.starts_with("eval[]") ? found : "";
}

[[noreturn]] void unknown_flag(const CLI::App& command, const std::string& argument,
                               const std::string& next) {
  const size_t equals = argument.find('=');
  const std::string flag = argument.substr(0, equals);
  const std::string name = flag.substr(
      flag.find_first_not_of('-') == std::string::npos ? flag.size() : flag.find_first_not_of('-'));
  std::string value = equals == std::string::npos ? next : argument.substr(equals + 1);
  if (value.empty() || is_flag(value)) value = "VALUE";
  const std::string where = place_of(command) + flag + ": unknown flag";
  const auto as_option = [&](const std::string& option) {
    return ConfigError(where + "; set the config's option with --set " + option + "=" + value);
  };
  const std::string option = option_meant(command, option_path(name));
  if (!option.empty()) throw as_option(option);
  const std::vector<std::string> flags = flags_of(command);
  const std::string near = nearest(name, flags);
  if (!near.empty()) throw ConfigError(where + "; did you mean --" + near + "?");
  const std::string far = option_meant(command, nearest_option(name));
  if (!far.empty()) throw as_option(far);
  std::string list;
  for (const std::string& known : flags) {
    list += list.empty() ? "--" : ", --";
    list += known;
  }
  throw ConfigError(where + "; one of: " + list);
}

// CLI11 ignores an empty value, reads "010" as octal, and clamps what is too large.
void check_value(const CLI::App& command, const std::string& flag, const CLI::Option& option,
                 const std::string& value) {
  const auto fail = [&](const std::string& why) {
    return ConfigError(place_of(command) + flag + ": " + why);
  };
  if (value.empty()) throw fail("the value is empty; leave out the flag, or give a value");
  const std::string type = option.get_type_name();
  if (!type.starts_with("INT") && !type.starts_with("UINT")) return;
  for (size_t begin = 0; begin <= value.size();) {  // some take several, separated by commas
    const size_t end = std::min(value.find(',', begin), value.size());
    const std::string one = value.substr(begin, end - begin);
    const size_t digits = one.find_first_not_of("+-");
    if (digits != std::string::npos && one[digits] == '0' && one.size() > digits + 1) {
      throw fail(one + ": expected a decimal integer without leading zeros");
    }
    const bool number = one.find_first_not_of("+-0123456789") == std::string::npos;
    if (number && !parse_number<int64_t>(one.starts_with('+') ? one.substr(1) : one)) {
      throw fail(one + ": expected an integer of at most 64 bits");
    }
    begin = end + 1;
  }
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

}  // namespace

std::vector<std::string> expand_shorthands(std::vector<std::string> arguments) {
  std::vector<std::string> out;
  bool set = false, help = false, command = false;
  for (std::string& argument : arguments) {
    const bool of_flag = !out.empty() && (out.back() == "--threads" || out.back() == "--device");
    if (!command && !of_flag && !is_flag(argument)) {
      command = true;
      if (argument == "help") {
        help = true;
        continue;
      }
    }
    const bool value = !out.empty() && out.back() == "--set" && !set;
    if (set && is_assignment(argument)) {
      out.emplace_back("--set");
    } else if (!value) {
      set = false;
    }
    if (value) set = is_assignment(argument);
    out.push_back(std::move(argument));
  }
  if (help) out.emplace_back("--help");
  return out;
}

void check_arguments(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return;
    if (is_flag(argument)) {
      const size_t equals = argument.find('=');
      const CLI::Option* option = find_option(command, argument.substr(0, equals));
      const std::string next = i + 1 < arguments.size() ? arguments[i + 1] : "";
      if (option == nullptr) unknown_flag(*command, argument, next);
      if (option->get_items_expected_max() == 0) continue;
      const bool joined = equals != std::string::npos;
      if (joined || i + 1 < arguments.size()) {
        check_value(*command, argument.substr(0, equals), *option,
                    joined ? argument.substr(equals + 1) : next);
      }
      if (!joined) ++i;
      continue;
    }
    const std::vector<std::string> commands = commands_of(*command);
    if (commands.empty()) continue;
    if (std::find(commands.begin(), commands.end(), argument) == commands.end()) {
      throw ConfigError(place_of(*command) + argument + ": unknown command" +
                        suggestion(argument, commands));
    }
    command = command->get_subcommand(argument);
  }
}

CLI::Validator number_from(double min, double max) {
  const std::string range = format("%g to %g", min, max);
  return {[=](std::string& text) {
            const auto number = parse_number<double>(text);
            return number && *number >= min && *number <= max
                       ? std::string()
                       : "expected a number from " + range + ", not " + text;
          },
          range, "number_from"};
}

}  // namespace attn
