// The subcommands of `attn`, what their options share, and one-line errors of a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "base/json_patch.h"

namespace attn {

struct Context;
struct Experiment;
struct StepBenchmark;

/// Each adds its subcommand with options and examples. The callback runs it and prints to stdout;
/// it throws ConfigError for options that do not go together and DataError, naming file and line,
/// for files. `context` must outlive `app`.
void add_train_command(CLI::App& app, Context& context);
void add_translate_command(CLI::App& app, const Context& context);
void add_parse_command(CLI::App& app, const Context& context);
void add_logprob_command(CLI::App& app, const Context& context);
void add_evaluate_command(CLI::App& app, const Context& context);
void add_score_command(CLI::App& app);
void add_score_parse_command(CLI::App& score);  ///< of `score`
void add_agree_command(CLI::App& app);
void add_fuse_command(CLI::App& app);
void add_average_command(CLI::App& app);
void add_attention_command(CLI::App& app, const Context& context);
void add_heads_command(CLI::App& app, const Context& context);
void add_sweep_command(CLI::App& app, Context& context);
void add_report_command(CLI::App& app);
void add_bench_command(CLI::App& app, const Context& context);
void add_config_command(CLI::App& app);
void add_vocab_command(CLI::App& app);
void add_generate_command(CLI::App& app);

/// Adds --set, which takes one or several path=value.
CLI::Option* add_set(CLI::App* command, std::vector<Assignment>& assignments,
                     const std::string& about = "override an option, path=value",
                     const std::string& name = "--set");

/// Adds an option for a number from `low` to `high`, whose default the help shows.
template <class Number>
CLI::Option* add_number(CLI::App* command, const std::string& name, Number& value,
                        const std::string& about, std::type_identity_t<Number> low,
                        std::type_identity_t<Number> high) {
  CLI::Option* option = command->add_option(name, value, about);
  return option->check(CLI::Range(low, high))->capture_default_str();
}

/// Adds the models of a command, one or an ensemble.
void add_runs(CLI::App* command, std::vector<std::filesystem::path>& runs);

/// Bootstrap over the sentences of an output, as `attn score` is asked for it.
struct Resampling {
  std::string baseline;     ///< output of a baseline, for the paired test; may be empty
  bool confidence = false;  ///< the confidence interval
};

/// Adds --baseline and --confidence.
void add_resampling(CLI::App* command, Resampling& resampling);

/// Warns on stderr that a test of an output against itself has no meaning.
void warn_if_scored_alike(const std::string& baseline, bool alike);

/// Prints what a measured step says of the experiment: text, speed and memory of its training.
void print_step(const Experiment& experiment, const StepBenchmark& step);

/// Parses the arguments and runs the command, or prints what --help or --version asks for. Throws
/// ConfigError naming the command, also for empty values, which CLI11 would ignore.
void run_command(CLI::App& app, std::vector<std::string> arguments);

}  // namespace attn
