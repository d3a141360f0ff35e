#include "app/commands/bench_options.h"

#include <iostream>

#include "app/commands/arguments.h"
#include "base/format.h"

namespace attn {

void add_bench_config(CLI::App* command, BenchConfig& config, const std::string& about) {
  command->add_option("config", config.file, about)->required();
  command->add_option("--set", config.assignments, "override an option, path=value")
      ->allow_extra_args(false);
}

void add_bench_seconds(CLI::App* command, double& seconds, const std::string& per) {
  constexpr double kShortest = 0.001, kLongest = 3600.0;
  command->add_option("--seconds", seconds, "seconds of measurement" + per)
      ->check(number_from(kShortest, kLongest))
      ->capture_default_str();
}

void print_measurement(const std::string& what, double value, const char* unit) {
  std::cout << format("%-34s %10s %s\n", what.c_str(), significant(value, 4).c_str(), unit);
}

}  // namespace attn
