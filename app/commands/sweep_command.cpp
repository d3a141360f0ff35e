#include "app/commands/commands.h"

#include <memory>

#include "app/machine/device.h"
#include "app/sweep/plan.h"

namespace attn {

void add_sweep_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<SweepRequest>();
  CLI::App* command = app.add_subcommand(
      "sweep", "Train all rows of a sweep, such as Table 3, and report the results");
  command->footer(
      "Prints the report (attn report) when all runs have ended; re-run the same command to "
      "resume.\n"
      "Examples:\n"
      "  attn sweep experiments/table3.json --dry-run\n"
      "  attn sweep experiments/multi30k/table3.json --seeds 3 --only base,A1 --jobs 2\n"
      "docs/howto/sweep.md describes the file.");
  command->add_option("sweep", options->file, "sweep file")->required();
  command->add_option("--run", options->directory,
                      "sweep directory (default: runs/<name of the file>)");
  add_set(command, options->assignments, "override an option in every row, path=value");
  command->add_option("--only", options->only, "train only these rows; * matches any characters")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--seeds", options->seeds, "runs per row, with different seeds")
      ->check(CLI::Range(int64_t{1}, int64_t{10'000}));
  CLI::Option* jobs =
      command
          ->add_option(
              "--jobs", options->jobs,
              "runs trained in parallel; they share the cores (default: one, or as many as "
              "fit on the GPUs)")
          ->check(CLI::Range(int64_t{1}, int64_t{4096}));
  CLI::Option* launcher =
      command->add_option("--launcher", options->launcher,
                          "command that starts each run, such as \"mpirun -np 2\"; --threads is "
                          "then the number of threads per process times --jobs");
  command->add_option("--collect", options->collection,
                      "directory of finished runs' small files: runs found there count as "
                      "finished, and runs that finish are added");
  CLI::Option* dry_run =
      command->add_flag("--dry-run", options->dry_run,
                        "print parameters, FLOPs, time and memory per row; do not train");
  command
      ->add_flag("--no-measure", options->no_measure,
                 "with --dry-run: skip FLOPs, time and memory; the texts may be missing")
      ->needs(dry_run);
  add_number(command, "--seconds", options->seconds,
             "with --dry-run: seconds of training the first row", 0.001, 3600.0)
      ->needs(dry_run);
  command
      ->add_flag("--rescore", options->rescore,
                 "score finished runs again whose evaluators, texts or search have changed")
      ->excludes(dry_run);
  CLI::Option* slurm =
      command->add_flag("--slurm", options->slurm, "submit the runs as a Slurm job array");
  slurm->excludes(jobs);
  slurm->excludes(launcher);  // slurm.tasks has its own
  slurm->excludes(dry_run);
  slurm->excludes("--rescore");
  launcher->excludes(dry_run);
  command->add_flag("--no-submit", options->no_submit, "with --slurm: write the script only")
      ->needs(slurm);
  command->callback([options, &context] {
    options->threads = context.threads;
    context.exit_code = sweep(*options, context);
  });
}

}  // namespace attn
