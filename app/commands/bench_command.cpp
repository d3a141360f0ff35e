#include "app/commands/bench_command.h"

#include "app/commands/bench_peak.h"
#include "app/commands/bench_search.h"
#include "app/commands/bench_step.h"
#include "app/commands/bench_table1.h"

namespace attn {

void add_bench_command(CLI::App& app, const Context& context) {
  CLI::App* bench = app.add_subcommand(
      "bench", "Benchmark training, layer types, search or matrix products on this machine");
  bench->require_subcommand(1);
  bench->footer(
      "Examples:\n"
      "  attn bench step experiments/multi30k/tiny.json\n"
      "  attn bench table1 experiments/multi30k/tiny.json --widths 64,512\n"
      "  attn bench search runs/tiny corpora/multi30k/test_2016_flickr.en\n"
      "  attn bench peak");
  add_bench_step_command(*bench, context);
  add_bench_table1_command(*bench, context);
  add_bench_search_command(*bench, context);
  add_bench_peak_command(*bench, context);
}

}  // namespace attn
