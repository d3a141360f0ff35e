// The subcommands of `attn`, one file each: NAME_command.cpp.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

struct Context;

/// Each adds its subcommand with options and examples. The callback runs it and prints to stdout;
/// it throws ConfigError for options that do not go together and DataError, naming file and line,
/// for files. `context` must outlive `app`.
void add_demo_command(CLI::App& app, Context& context);
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
void add_bench_table1_command(CLI::App& bench, const Context& context);  ///< of `bench`
void add_config_command(CLI::App& app);
void add_vocab_command(CLI::App& app);
void add_generate_command(CLI::App& app);

}  // namespace attn
