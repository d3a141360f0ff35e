#include "app/commands/sweep_command.h"

#include <memory>

#include "app/sweep/sweep.h"

namespace attn {

void add_sweep_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command =
      app.add_subcommand("sweep", "Train all rows of a sweep, such as Table 3, and report");
  command->footer(
      "Example: attn sweep experiments/table3.json --dry-run\n"
      "         attn sweep experiments/multi30k/table3.json --seeds 3 --only base,A1 --jobs 2\n"
      "         A second call goes on where the first one was stopped.\n"
      "A row's \"set\" is a merge patch on the base. Where it names another model.architecture, "
      "its "
      "model is not merged with the base's: the options of one architecture mean nothing to "
      "another. Where it changes another tag (train.schedule, data.task, data.tokenizer), the "
      "options that the new one does not have are left behind.");
  command->add_option("sweep", options->request.file, "the sweep's file")->required();
  command->add_option("--run", options->request.directory,
                      "the sweep's directory (default: runs/<file's name>)");
  command->add_option("--set", options->request.assignments, "path=value, for every row")
      ->allow_extra_args(false);
  command->add_option("--only", options->request.only, "rows by name, * for any letters")
      ->delimiter(',');
  command->add_option("--seeds", options->request.seeds, "runs a row, with different seeds")
      ->check(CLI::PositiveNumber);
  command->add_option("--jobs", options->jobs, "trainings at a time; they share the cores")
      ->capture_default_str();
  command->add_flag("--dry-run", options->dry_run,
                    "what differs, parameters, FLOPs, time and memory of each row; trains nothing");
  command->add_flag("--no-measure", options->no_measure, "a dry run without time and memory");
  command->add_option("--seconds", options->cost.seconds, "of measuring a row in a dry run")
      ->capture_default_str();
  command
      ->add_option("--budget", options->cost.budget,
                   "seconds of measuring in a dry run, in all: rows that do not fit are predicted "
                   "from FLOPs; 0 measures every row")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--slurm", options->slurm, "submit the runs as a Slurm job array instead");
  command->add_flag("--no-submit", options->no_submit, "with --slurm: only write the script");
  command->add_option(
      "--task", options->task,
      "train only this run (ROW/seed-1) of a submitted sweep, as a task of the array does");
  command->callback([options, &context] { context.exit_code = sweep(*options, context); });
}

}  // namespace attn
