// attn report: what a sweep came to, as tables and plots.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iosfwd>

namespace attn {

/// Writes report.md, report.html, rows.csv and runs.csv into the sweep's directory and the Markdown
/// to `out`.
void report_sweep(const std::filesystem::path& directory, std::ostream& out);

void add_report_command(CLI::App& app);

}  // namespace attn
