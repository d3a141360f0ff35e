#include "app/sweep/sweep.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>
#include <iostream>

#include "app/experiment/input_kind.h"
#include "app/experiment/run_result.h"
#include "app/machine/shell.h"
#include "app/machine/signals.h"
#include "app/sweep/collection.h"
#include "app/sweep/dry_run.h"
#include "app/sweep/prepare.h"
#include "app/sweep/report.h"
#include "app/sweep/slurm.h"
#include "app/sweep/status.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Prints the report and what is missing; returns the exit code.
int end_of(const SweepPlan& plan, const SweepEnd& end) {
  const size_t all = plan.runs.size();
  const auto finished = static_cast<size_t>(end.finished);
  if (end.interrupted) {
    std::cerr << "stopped: " << finished << " of " << all
              << " runs finished; re-run the same command to resume\n";
    return stop_exit_code();
  }
  for (const FailedRun& failed : end.failed) {
    std::cerr << "failed: " << failed.name << ": " << failed.why << "\n";
  }
  if (finished + end.failed.size() > 0) {
    std::cout << Report(plan.directory).write() << std::flush;
  }
  if (const size_t stopped = all - finished - end.failed.size(); stopped > 0) {
    std::cerr << stopped << " of " << all
              << " runs were stopped by a signal; re-run the same command to resume\n";
  }
  if (!end.failed.empty()) {
    std::cerr << end.failed.size() << " of " << all
              << " runs failed (see above); fix the cause and re-run the same command\n";
  }
  return finished == all ? 0 : static_cast<int>(ExitCode::data);
}

// The directory must be free, or that of an earlier sweep with this file.
void require_free_place(const SweepPlan& plan) {
  const fs::path& directory = plan.directory;
  std::vector<fs::path> files;
  for (const char* name : {kSweepFile, "slurm.sh", "sbatch.out", "vocabulary", "cache"}) {
    files.push_back(directory / name);
  }
  for (const char* name : kReportFiles) files.push_back(directory / name);
  bool started = false;  // then a sweep.json that was lost or damaged is written again
  for (const PlannedRun& run : plan.runs) {
    files.push_back(run_config(run));
    started |= fs::exists(RunDirectory(run.directory).lock());
  }
  if (started) files.clear();
  require_place(directory, InputKind::sweep_directory, files);
  if (kind_of(directory) != InputKind::sweep_directory) return;
  const fs::path written = directory / kSweepFile;
  const Json before = parse_json(read_file(written), written.string());
  const fs::path other = directory / before.value(kSourceFromHere, "");
  std::error_code moved;
  const bool has_source = fs::is_regular_file(other, moved);
  const auto planned = [&](const Json& row) {
    return std::ranges::find(plan.rows, row.value("name", ""), &PlannedRow::name) !=
           plan.rows.end();
  };
  const Json rows = before.value("rows", Json::array());
  const bool same = has_source ? fs::equivalent(other, plan.source, moved)
                               : rows.empty() || std::ranges::any_of(rows, planned);
  if (same) return;
  throw ConfigError(directory.string() + ": contains runs of another sweep, " +
                    before.value("source", "") + "; choose another directory for " +
                    plan.source.string() + " with --run");
}

}  // namespace

RunnerOptions runner_of_machine(const Context& context, int64_t jobs) {
  RunnerOptions runner;
  runner.jobs = jobs;
  runner.device = context.device.is_cuda() ? "cuda" : "cpu";
  runner.cores = torch::get_num_threads();
  runner.gpus = context.device.is_cuda() ? static_cast<int64_t>(torch::cuda::device_count()) : 0;
  return runner;
}

int sweep(const SweepOptions& options, const Context& context) {
  SweepPlan plan = plan_sweep(options.request);
  if (fs::exists(options.collection) && !fs::is_directory(options.collection)) {
    throw ConfigError("--collect " + options.collection.string() + ": a file; give a directory");
  }
  if (options.dry_run) {
    CostOptions cost = options.cost;
    cost.device = context.device.is_cuda() ? "cuda" : "cpu";
    cost.threads = torch::get_num_threads();
    cost.jobs = std::min(options.jobs, static_cast<int64_t>(plan.runs.size()));
    catch_stop_signals();  // so that scratch files are removed
    dry_run(plan, options.no_measure ? std::nullopt : std::optional(cost), options.collection);
    if (stop_requested()) return stop_exit_code();
    require_free_place(plan);
    check_unchanged(plan);
    return 0;
  }
  require_free_place(plan);
  check_parameters(plan);
  if (!options.collection.empty()) {
    if (const int64_t taken = take_collected(plan, options.collection); taken > 0) {
      std::cerr << counted(taken, "finished run") << " taken from " << options.collection.string()
                << "\n";
    }
  }
  check_unchanged(plan);
  for (const std::string& note : runtime_notes(plan)) std::cerr << note << "\n";
  exit_on_stop_signals();
  prepare_sweep(plan, [](const std::string& line) { std::cerr << line << std::endl; });
  if (!options.collection.empty()) {
    for (const PlannedRun& run : plan.runs) collect_run(run, options.collection);
  }
  if (options.slurm) {
    if (task_device(plan.file.slurm, context.device_name) == "cuda" &&
        !c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA)) {
      std::cerr << "slurm.gpus: this LibTorch is for CPUs alone, with which the tasks stop; build "
                   "with one for CUDA (ATTN_TORCH_INDEX= where nvidia-smi finds no GPU)\n";
    }
    std::cerr << submit_to_slurm(plan, {context.device_name, context.threads}, !options.no_submit)
              << "\nwhen the jobs have finished, run: attn report "
              << shell_word(plan.directory.string()) << "\n";
    return 0;
  }
  catch_stop_signals();
  RunnerOptions runner = runner_of_machine(context, options.jobs);
  runner.collection = options.collection;
  runner.launcher = options.launcher;
  return end_of(plan, run_sweep(plan, runner));
}

}  // namespace attn
