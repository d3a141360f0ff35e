#include <filesystem>
#include <sstream>

#include "app/machine/processes.h"
#include "app/sweep/runner.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

void directive(std::ostream& out, const std::string& option, const std::string& value) {
  if (value.empty()) return;
  const char* quote = value.find(' ') == std::string::npos ? "" : "\"";  // sbatch splits lines
  out << "#SBATCH --" << option << "=" << quote << value << quote << "\n";
}

// 0: the site's default.
void directive(std::ostream& out, const std::string& option, int64_t count) {
  if (count > 0) directive(out, option, std::to_string(count));
}

// Signals interrupt `wait`, so it is repeated until the program has ended. Only USR1, the notice
// before the time limit, requeues the task; TERM comes from scancel, or from the limit itself.
constexpr const char* kBody = R"(
attn=${programs[$SLURM_ARRAY_TASK_ID]:-$attn}
run=${runs[$SLURM_ARRAY_TASK_ID]} child= stopping= notified=0 by_srun=
stop() {
  if [ -n "$by_srun" ]; then  # srun itself would kill its tasks at TERM
    scancel --signal=TERM "$SLURM_JOB_ID"
  elif [ -n "$child" ]; then
    kill -TERM "$child" 2>/dev/null
  fi
}
on_notice() {
  stopping=1 notified=$SECONDS
  stop
}
on_term() {
  if [ -z "$stopping" ]; then
    stop
  elif [ $((SECONDS - notified)) -lt "$notice" ]; then
    stopping=
  fi
}
trap on_notice USR1
trap on_term TERM

again() {
  local end=0
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}" || end=$?
  # Requeueing ends the job, and so may end scontrol (143: by SIGTERM) before it has the answer.
  if [ "$end" -eq 0 ] || [ "$end" -eq 143 ]; then exit 0; fi
  echo "attn: $run: saved, but requeueing failed; submit the sweep again to resume" >&2
  exit "$1"
}

# Several tasks train one run: srun connects them by PMIx, or mpirun does within the job.
launcher=()
if [ "$tasks" -gt 1 ]; then
  if srun --mpi=list 2>&1 | grep -q pmix; then
    by_srun=1
    launcher=(srun --mpi=pmix --kill-on-bad-exit=1 --ntasks="$tasks" ${SLURM_CPUS_PER_TASK:+--cpus-per-task="$SLURM_CPUS_PER_TASK"})
  elif command -v mpirun >/dev/null; then
    export OMPI_MCA_odls_base_sigkill_timeout=$notice
    launcher=(mpirun -np "$tasks" --bind-to none)
  else
    echo "attn: srun has no PMIx (srun --mpi=list) and there is no mpirun; install Slurm's PMIx plugin, or load MPI in slurm.setup" >&2
    exit 2
  fi
fi

# Threads as the job was given cores, not as the machine has, unless the sweep had --threads.
: "${threads:=${SLURM_CPUS_PER_TASK:-}}"
echo "$run: training; log: $sweep/$run.log"
"${launcher[@]}" "$attn" --device "$device" ${threads:+--threads "$threads"} \
  train "$sweep/$run.json" --run "$sweep/$run" --wait 120 --resume >>"$sweep/$run.log" 2>&1 &
child=$!
[ -z "$stopping" ] || stop
code=0
wait "$child" || code=$?
while kill -0 "$child" 2>/dev/null; do
  code=0
  wait "$child" || code=$?
done
# A wait that a trap interrupted has the code of the signal, and the next one that of the program.
last=0
wait "$child" 2>/dev/null || last=$?
[ "$last" -eq 127 ] || code=$last
echo "$run: ended with exit code $code"
# 143: stopped after saving; launchers have exit codes of their own. Other failures would fail after
# each requeue.
if [ -n "$stopping" ] && [ "$code" -ne 0 ] && { [ "$code" -eq 143 ] || [ "$tasks" -gt 1 ]; }; then again "$code"; fi
case $code in 0 | 4 | 129 | 130 | 143) ;; *) echo "failed: exit code $code" >>"$sweep/$run.log" ;; esac
exit "$code"
)";

}  // namespace

std::string slurm_script(const SweepPlan& plan, const std::string& device,
                         std::optional<int> threads) {
  const SlurmConfig& slurm = plan.file.slurm;
  // A job that was to have a GPU must not train on its cores for want of one.
  const bool gpu = device == "auto" && slurm.gpus + slurm.gpus_per_task > 0;
  std::ostringstream out;
  const std::string limit = slurm.at_once > 0 ? "%" + std::to_string(slurm.at_once) : "";
  out << "#!/bin/bash\n# Made by attn sweep --slurm; task i trains run i of the list below.\n";
  directive(out, "job-name", "attn-" + fs::path(plan.source).stem().string());
  out << "#SBATCH --array=0-" << plan.runs.size() - 1 << limit << "\n";
  directive(out, "partition", slurm.partition);
  directive(out, "account", slurm.account);
  directive(out, "time", slurm.time);
  directive(out, "mem", slurm.memory);
  directive(out, "cpus-per-task", slurm.cpus);
  directive(out, "gpus-per-node", slurm.gpus);
  directive(out, "ntasks", slurm.tasks);
  directive(out, "nodes", slurm.nodes);
  directive(out, "gpus-per-task", slurm.gpus_per_task);
  // NCCL is used where processes see each other's GPUs; Slurm would show each its own alone.
  if (slurm.gpus_per_task > 0) directive(out, "gpu-bind", "none");
  directive(out, "chdir", fs::current_path().string());
  const std::string folder = fs::absolute(plan.directory).string();
  out << "#SBATCH --output=\"" << folder
      << "/slurm-%A_%a.out\"\n#SBATCH --requeue\n#SBATCH --open-mode=append\n"
      << "#SBATCH --signal=B:USR1@" << slurm.notice << "\n";
  for (const std::string& option : slurm.options) out << "#SBATCH " << option << "\n";
  out << "\n";
  for (const std::string& line : slurm.setup) out << line << "\n";
  out << "attn=" << shell_quoted(program_path().string()) << "\nprograms=(";  // of changed rows
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    if (!run.program.empty()) out << " [" << i << "]=" << shell_quoted(run.program.string());
  }
  out << " )\nsweep=" << shell_quoted(plan.directory.string())
      << "\ndevice=" << shell_quoted(gpu ? "cuda" : device)
      << "\nthreads=" << (threads ? std::to_string(*threads) : std::string())
      << "\ntasks=" << slurm.tasks << "\nnotice=" << slurm.notice << "\nruns=(";
  for (const PlannedRun& run : plan.runs) out << "\n  " << shell_quoted(run.name);
  out << "\n)\n" << kBody;
  return out.str();
}

std::string submit_to_slurm(const SweepPlan& plan, const std::string& device,
                            std::optional<int> threads, bool submit) {
  SweepPlan left = plan;
  std::erase_if(left.runs, [](const PlannedRun& run) { return run.finished; });
  make_directories(plan.directory);
  const fs::path script = plan.directory / "slurm.sh";
  write_file_atomically(script, slurm_script(left, device, threads));
  const std::string submission = "sbatch " + shell_quoted(script.string());
  if (!submit) return "written: " + script.string() + "; submit it with: " + submission;
  auto [code, text] = output_of(submission);
  if (code == 127) {
    throw DataError("sbatch not found; submit " + script.string() + " on a machine with Slurm");
  }
  replace_all(text, "\n", "; ");
  // sbatch starts its own lines with its name.
  const std::string where = text.starts_with("sbatch: ") ? "" : "sbatch: ";
  if (code != 0) throw DataError(where + text + " (script: " + script.string() + ")");
  return text;
}

}  // namespace attn
