#include "app/commands/bench_peak.h"

#include <iostream>
#include <memory>

#include "app/commands/bench_options.h"
#include "app/machine/peak.h"
#include "base/json_config.h"
#include "train/precision.h"

namespace attn {
namespace {

// Emulated bf16 would take minutes and say nothing about training runs, which use fp32 instead.
void bench_peak(bool as_json, torch::Device device) {
  const double fp32 = matrix_product_peak(Precision::fp32, device);
  const bool has_bf16 = effective_precision(Precision::bf16, device) == Precision::bf16;
  const double bf16 = has_bf16 ? matrix_product_peak(Precision::bf16, device) : 0.0;
  if (as_json) {
    Json json = {{"fp32", fp32}};
    if (has_bf16) json["bf16"] = bf16;
    std::cout << json.dump(2) << "\n";
    return;
  }
  print_measurement("fp32 matrix product", fp32 / 1e9, "GFLOP/s");
  if (has_bf16) {
    print_measurement("bf16 matrix product", bf16 / 1e9, "GFLOP/s");
  } else {
    std::cout << "bf16 matrix product                not supported by this processor\n";
  }
}

}  // namespace

void add_bench_peak_command(CLI::App& bench, const Context& context) {
  auto json = std::make_shared<bool>(false);
  CLI::App* peak =
      bench.add_subcommand("peak", "Peak throughput of matrix products in fp32 and bf16");
  peak->footer("Example: attn bench peak");
  peak->add_flag("--json", *json, "print JSON");
  peak->callback([json, &context] { bench_peak(*json, context.device); });
}

}  // namespace attn
