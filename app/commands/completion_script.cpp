#include "app/commands/completion_script.h"

#include <algorithm>
#include <vector>

#include "base/format.h"

namespace attn {
namespace {

struct Flag {
  std::vector<std::string> names;    ///< with dashes: "-o", "--output"
  std::vector<std::string> choices;  ///< choices for its value
  bool takes_value = false;
  std::string description;
};

/// A command with the flags that it accepts, those of its parents included.
struct Command {
  std::string path;  ///< "score bleu"; empty: the program
  std::string description;
  std::vector<Flag> flags;
  std::vector<Command> commands;
  std::vector<std::string> choices;  ///< choices for positional arguments
};

/// The choices of IsMember, which CLI11 only shows in the type's name: "TEXT:{a,b}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.rfind('}');
  std::vector<std::string> choices;
  if (begin == std::string::npos || end == std::string::npos || end < begin) return choices;
  for (size_t at = begin + 1; at <= end;) {
    const size_t comma = std::min(type.find(',', at), end);
    choices.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return choices;
}

/// The first line, without characters that a shell would interpret between single quotes.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, text.find('\n'))) out += c == '\'' ? ' ' : c;
  return out;
}

Flag flag_of(const CLI::Option& option) {
  Flag flag{.names = {},
            .choices = choices_of(option),
            .takes_value = option.get_items_expected_max() > 0,
            .description = plain(option.get_description())};
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  return flag;
}

Command command_of(const CLI::App& app, const std::string& path, std::vector<Flag> inherited) {
  Command command{.path = path,
                  .description = plain(app.get_description()),
                  .flags = {},
                  .commands = {},
                  .choices = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      if (command.choices.empty()) command.choices = choices_of(*option);
    } else if (!option->get_group().empty()) {  // else hidden: kept for compatibility
      command.flags.push_back(flag_of(*option));
    }
  }
  for (Flag& flag : inherited) {
    const bool own = std::ranges::any_of(
        command.flags, [&](const Flag& other) { return other.names == flag.names; });
    if (!own) command.flags.push_back(std::move(flag));
  }
  std::vector<Flag> passed_on;
  for (const Flag& flag : command.flags) {
    if (flag.takes_value) passed_on.push_back(flag);  // --threads and --device
  }
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = path.empty() ? child->get_name() : path + " " + child->get_name();
    command.commands.push_back(command_of(*child, name, passed_on));
  }
  return command;
}

/// All commands, parents first.
void flatten(const Command& command, std::vector<const Command*>& out) {
  out.push_back(&command);
  for (const Command& child : command.commands) flatten(child, out);
}

std::vector<const Command*> all_of(const Command& root) {
  std::vector<const Command*> all;
  flatten(root, all);
  return all;
}

std::string last_word(const std::string& path) {
  return path.substr(path.rfind(' ') + 1);
}

/// What may follow a command: its commands or choices, and its flags.
std::string words_of(const Command& command) {
  std::vector<std::string> words = command.choices;
  for (const Command& child : command.commands) words.push_back(last_word(child.path));
  for (const Flag& flag : command.flags) {
    words.insert(words.end(), flag.names.begin(), flag.names.end());
  }
  return joined(words);
}

/// Shell functions for bash and zsh: _attn_words sets `offered` to what may follow the command
/// `where`, _attn_value sets `value` if the flag takes one, and `choices`. (`path` and `words` are
/// special variables of zsh.)
std::string functions(const Command& root) {
  std::string commands, values, paths;
  for (const Command* command : all_of(root)) {
    if (!command->path.empty()) paths += (paths.empty() ? "'" : "|'") + command->path + "'";
    commands += "    '" + command->path + "') offered='" + words_of(*command) + "' ;;\n";
    for (const Flag& flag : command->flags) {
      if (!flag.takes_value) continue;
      for (const std::string& name : flag.names) {
        values += "    '" + command->path + ":" + name + "') value=yes choices='" +
                  joined(flag.choices) + "' ;;\n";
      }
    }
  }
  return "_attn_is_command() {\n  case \"$1\" in\n    " + paths +
         ") return 0 ;;\n  esac\n  return 1\n}\n"
         "_attn_words() {\n  case \"$1\" in\n" +
         commands + "  esac\n}\n_attn_value() {\n  value= choices=\n  case \"$1:$2\" in\n" +
         values +
         "  esac\n}\n"
         // Walks the words before the cursor, skipping flags and their values.
         "_attn_offer() {\n"
         "  local word before= next value choices where=\n"
         "  for word in \"$@\"; do\n"
         "    _attn_value \"$where\" \"$before\"\n"
         "    next=\"${where:+$where }$word\"\n"
         "    if [ -z \"$value\" ] && _attn_is_command \"$next\"; then where=$next; fi\n"
         "    before=$word\n"
         "  done\n"
         "  _attn_value \"$where\" \"$before\"\n"
         "  if [ -n \"$value\" ]; then offered=$choices; else _attn_words \"$where\"; fi\n"
         "}\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  return "# bash completion of attn: source this file, e.g. in ~/.bashrc\n" +
         functions(command_of(app, "", {})) +
         "_attn() {\n"
         "  local offered=\n"
         "  _attn_offer \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"\n"
         "  COMPREPLY=($(compgen -W \"$offered\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o default -F _attn attn\n";
}

std::string zsh_completion(const CLI::App& app) {
  return "#compdef attn\n# zsh completion of attn: save as _attn in a directory of $fpath\n" +
         functions(command_of(app, "", {})) +
         "_attn() {\n"
         "  local offered=\n"
         "  _attn_offer \"${(@)words[2,CURRENT-1]}\"\n"
         "  compadd -- ${=offered}\n"
         "  _files\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _attn ]; then _attn \"$@\"; else compdef _attn attn; fi\n";
}

std::string fish_completion(const CLI::App& app) {
  const Command root = command_of(app, "", {});
  std::string out = "# fish completion of attn: save as ~/.config/fish/completions/attn.fish\n";
  for (const Command* command : all_of(root)) {
    std::vector<std::string> children;
    for (const Command& child : command->commands) children.push_back(last_word(child.path));
    // "score bleu" applies after both words, and no longer after one of its own commands.
    std::string condition;
    for (size_t at = 0; at < command->path.size();) {
      const size_t end = std::min(command->path.find(' ', at), command->path.size());
      condition += (condition.empty() ? "" : "; and ") +
                   std::string("__fish_seen_subcommand_from ") + command->path.substr(at, end - at);
      at = end + 1;
    }
    if (!children.empty()) {
      condition += (condition.empty() ? "" : "; and ") +
                   std::string("not __fish_seen_subcommand_from ") + joined(children);
    }
    const std::string begin = "complete -c attn -n '" + condition + "'";
    for (const Command& child : command->commands) {
      out += begin + " -f -a " + last_word(child.path) + " -d '" + child.description + "'\n";
    }
    if (!command->choices.empty()) out += begin + " -f -a '" + joined(command->choices) + "'\n";
    for (const Flag& flag : command->flags) {
      out += begin;
      for (const std::string& name : flag.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (flag.takes_value) out += " -r";
      if (!flag.choices.empty()) out += " -f -a '" + joined(flag.choices) + "'";
      out += " -d '" + flag.description + "'\n";
    }
  }
  return out;
}

}  // namespace attn
