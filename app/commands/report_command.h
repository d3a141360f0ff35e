// attn report: tables and plots of a sweep.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_report_command(CLI::App& app);

}  // namespace attn
