#include "app/commands/sweep_command.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/report_command.h"
#include "app/experiment/run_result.h"
#include "app/machine/command_line.h"
#include "app/machine/device.h"
#include "app/machine/signals.h"
#include "app/sweep/dry_run.h"
#include "app/sweep/plan.h"
#include "app/sweep/prepare.h"
#include "app/sweep/runner.h"
#include "app/sweep/slurm.h"
#include "app/sweep/status.h"
#include "app/sweep/submission.h"
#include "base/error.h"
#include "kernels/libtorch.h"

namespace attn {
namespace {

struct SweepOptions {
  SweepRequest request;
  DryRunOptions cost;
  bool dry_run = false, no_measure = false;
  bool slurm = false, no_submit = false;
  int64_t jobs = 1;
  std::string task;
};

int end_of(const SweepPlan& plan, const SweepEnd& end) {
  if (end.interrupted) {
    std::cerr << "stopped: " << end.finished << " of " << plan.runs.size()
              << " runs finished; the same command goes on\n";
    return stop_exit_code();
  }
  for (const FailedRun& failed : end.failed) {
    std::cerr << "failed: " << failed.name << ": " << failed.why << "\n";
  }
  if (end.finished > 0) std::cout << SweepReport(plan.directory).write() << std::flush;
  const auto all = static_cast<int64_t>(plan.runs.size());
  if (const int64_t stopped = all - end.finished - static_cast<int64_t>(end.failed.size());
      stopped > 0) {
    std::cerr << stopped << " of " << all
              << " runs were stopped from outside; the same command goes on with them\n";
  } else if (end.failed.empty()) {
    return 0;
  }
  if (end.failed.empty()) return static_cast<int>(ExitCode::data);
  std::cerr << end.failed.size() << " of " << plan.runs.size()
            << " runs failed (above); the same command tries them again\n";
  return static_cast<int>(ExitCode::data);
}

int train_task(const SweepOptions& options) {
  const PlannedRun run = submitted_run(options.request.file, options.task);
  if (finished_result(run.directory, run.experiment.train)) {
    std::cerr << options.task << ": finished; nothing to do\n";
    return 0;
  }
  std::cerr << options.task << ": training; its log: " << run_log(run).string() << "\n";
  const int code = run_one(run, runner_of_machine(options.jobs));
  std::cerr << options.task << ": ended with exit code " << code << "\n";
  return code;
}

int sweep(const SweepOptions& options) {
  if (!options.task.empty()) {
    catch_stop_signals();
    return train_task(options);
  }
  SweepPlan plan = plan_sweep(options.request);
  if (options.jobs < 1) throw ConfigError("--jobs: must be 1 or more");
  if (options.dry_run) {
    DryRunOptions cost = options.cost;
    cost.measure = !options.no_measure;
    cost.device = device().is_cuda() ? "cuda" : "cpu";
    cost.threads = torch::get_num_threads();
    cost.jobs = options.jobs;
    dry_run(plan, cost);
    return 0;
  }
  check_parameters(plan);
  refuse_changed(plan);
  for (const std::string& note : runtime_notes(plan)) std::cerr << note << "\n";
  catch_stop_signals();
  prepare_sweep(plan, [](const std::string& line) { std::cerr << line << std::endl; });
  if (options.slurm) {
    const std::string arguments = "sweep " + shell_quoted(write_submission(plan).string());
    std::cerr << submit_to_slurm(plan, arguments, !options.no_submit)
              << "\nwhen its tasks have ended: attn report " << plan.directory.string() << "\n";
    return 0;
  }
  return end_of(plan, run_sweep(plan, runner_of_machine(options.jobs)));
}

}  // namespace

RunnerOptions runner_of_machine(int64_t jobs) {
  RunnerOptions runner;
  runner.jobs = jobs;
  runner.device = device().is_cuda() ? "cuda" : "cpu";
  runner.cores = torch::get_num_threads();
  runner.gpus = device().is_cuda() ? static_cast<int64_t>(torch::cuda::device_count()) : 0;
  return runner;
}

void add_sweep_command(CLI::App& app) {
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
  command->add_flag("--slurm", options->slurm, "submit the runs as a Slurm job array instead");
  command->add_flag("--no-submit", options->no_submit, "with --slurm: only write the script");
  command->add_option(
      "--task", options->task,
      "train only this run (ROW/seed-1) of a submitted sweep, as a task of the array does");
  command->callback([options] { set_exit_code(sweep(*options)); });
}

}  // namespace attn
