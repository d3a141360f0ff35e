// What the subcommands of `attn bench` share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace attn {

/// Upper limit of numbers of tokens, lines or dimensions.
inline constexpr int64_t kLargestBenchmark = 1 << 20;

/// The config that is measured.
struct BenchConfig {
  std::filesystem::path file;
  std::vector<std::string> assignments;  ///< path=value
};

/// Adds the argument `config`, described by `about`, and --set.
void add_bench_config(CLI::App* command, BenchConfig& config,
                      const std::string& about = "config file");

/// Adds --seconds, of measurement `per` something ("" for all).
void add_bench_seconds(CLI::App* command, double& seconds, const std::string& per);

/// Prints a line of a benchmark: what was measured, the value with four digits, its unit.
void print_measurement(const std::string& what, double value, const char* unit);

}  // namespace attn
