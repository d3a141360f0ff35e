#include "app/sweep/slurm.h"

#include <filesystem>
#include <sstream>

#include "app/sweep/processes.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

void directive(std::ostream& out, const std::string& option, const std::string& value) {
  if (!value.empty() && value != "0") out << "#SBATCH --" << option << "=" << value << "\n";
}

// The signal interrupts `wait`, which is why it is called until the program has really ended.
constexpr const char* kBody = R"(
again() {
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
  exit 0
}

"$attn" "${arguments[@]}" --task "$SLURM_ARRAY_TASK_ID" &
child=$!
stopping=
trap 'stopping=1; kill -TERM "$child" 2>/dev/null' TERM
code=0
wait "$child" || code=$?
while kill -0 "$child" 2>/dev/null; do
  code=0
  wait "$child" || code=$?
done
[ -n "$stopping" ] && [ "$code" -ne 0 ] && again
exit "$code"
)";

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string slurm_script(const SweepPlan& plan, const std::string& sweep_arguments) {
  const SlurmConfig& slurm = plan.file.slurm;
  std::ostringstream out;
  std::string array = "0-";
  array += std::to_string(plan.runs.size() - 1);
  if (slurm.at_once > 0) array += "%" + std::to_string(slurm.at_once);
  out << "#!/bin/bash\n# Made by attn sweep --slurm; task i trains run i of the sweep.\n";
  directive(out, "job-name", "attn-" + plan.source.stem().string());
  directive(out, "array", array);
  directive(out, "partition", slurm.partition);
  directive(out, "account", slurm.account);
  directive(out, "time", slurm.time);
  directive(out, "mem", slurm.memory);
  directive(out, "cpus-per-task", std::to_string(slurm.cpus));
  directive(out, "gpus-per-node", std::to_string(slurm.gpus));
  directive(out, "chdir", fs::current_path().string());
  directive(out, "output", fs::absolute(plan.directory / "slurm-%A_%a.out").string());
  out << "#SBATCH --ntasks=1\n#SBATCH --requeue\n#SBATCH --open-mode=append\n"
      << "#SBATCH --signal=B:TERM@" << slurm.notice << "\n";
  for (const std::string& option : slurm.options) out << "#SBATCH " << option << "\n";
  out << "\n";
  for (const std::string& line : slurm.setup) out << line << "\n";
  out << "attn=" << shell_quoted(program_path().string()) << "\narguments=(" << sweep_arguments
      << ")\n"
      << kBody;
  return out.str();
}

std::string submit_to_slurm(const SweepPlan& plan, const std::string& sweep_arguments,
                            bool submit) {
  fs::create_directories(plan.directory);
  const fs::path script = plan.directory / "slurm.sh", answer = plan.directory / "sbatch.out";
  write_file_atomically(script, slurm_script(plan, sweep_arguments));
  if (!submit) return "written: " + script.string();
  fs::remove(answer);
  const ProcessEnd end =
      run_process({.arguments = {"/bin/sh", "-c", "exec sbatch \"$1\"", "sh", script.string()},
                   .environment = {},
                   .output = answer});
  std::string text = read_file(answer);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (end.exit_code == 127) {
    throw DataError("sbatch is not here; submit " + script.string() + " where Slurm is");
  }
  if (end.exit_code != 0)
    throw DataError("sbatch: " + text + " (the script is " + script.string() + ")");
  return text;
}

}  // namespace attn
