// attn report: what a sweep came to, as tables and plots.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_report_command(CLI::App& app);

}  // namespace attn
