// attn report: tables and plots of a sweep or a run.
#pragma once

#include <CLI/CLI.hpp>

namespace attn {

void add_report_command(CLI::App& app);

}  // namespace attn
