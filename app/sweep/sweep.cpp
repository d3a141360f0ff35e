#include <algorithm>
#include <filesystem>
#include <iostream>

#include "app/experiment/run_directory.h"
#include "app/experiment/test_ledger.h"
#include "app/machine/device.h"
#include "app/machine/exit.h"
#include "app/machine/processes.h"
#include "app/machine/version.h"
#include "app/sweep/costs.h"
#include "app/sweep/report.h"
#include "app/sweep/runner.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "data/corpus_check.h"
#include "data/parsing/treebank.h"
#include "data/text_hashes.h"
#include "data/tokenizer.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Trains the tokenizers of both sides into a folder, atomically.
void learn_into(const fs::path& folder, const DataConfig& data, const Log& log) {
  const fs::path cache = folder.parent_path().parent_path() / "cache";
  const DataConfig text = with_training_text(data, cache, 1, log);
  check_texts(text_path(text.train, text.source), text_path(text.train, text.target));
  const Tokenizers made = make_tokenizers(without_features(with_vocabulary_text(data, cache)), log);
  AtomicDirectory directory(folder, AtomicDirectory::Existing::replace);
  const ModelDirectory both(directory.path());
  write_file_atomically(both.source_tokenizer(), made.source->serialized());
  if (made.target != made.source) {
    write_file_atomically(both.target_tokenizer(), made.target->serialized());
  }
  directory.commit();
}

bool is_complete(const DataConfig& data) {
  return !data.source_model.empty() && (data.shared_vocabulary || !data.target_model.empty());
}

// A trained run keeps its own vocabulary, even if the sweep directory was moved.
void keep_vocabulary(PlannedRun& run) {
  const RunDirectory started(run.directory);
  if (is_complete(run.experiment.data) || !started.has_config() || !started.has_trained()) return;
  const DataConfig before = load_description(started).data;
  run.experiment.data.source_model = before.source_model;
  run.experiment.data.target_model = before.target_model;
}

void share_vocabulary(DataConfig& data, const fs::path& sweep, TextHashes& hashes, const Log& log) {
  if (is_complete(data)) return;
  const fs::path folder = sweep / "vocabulary" / vocabulary_key(data, hashes);
  const ModelDirectory both(folder);
  const auto missing = [&] {  // also if files of the folder were lost
    return !fs::exists(both.source_tokenizer()) ||
           (!data.shared_vocabulary && !fs::exists(both.target_tokenizer()));
  };
  if (missing()) {
    const RunLock lock(sweep / "vocabulary", 3600.0);  // other sweeps may wait for it
    if (missing()) learn_into(folder, data, log);
  }
  // One of two separate vocabularies may be given: the run has it by its own path.
  if (data.source_model.empty()) data.source_model = both.source_tokenizer().string();
  if (!data.shared_vocabulary && data.target_model.empty()) {
    data.target_model = both.target_tokenizer().string();
  }
}

void require_texts(const SweepPlan& plan) {
  for (const PlannedRun& run : plan.runs) {
    try {
      run.experiment.require_texts();
      require_unsealed(run.experiment.eval);
    } catch (const DataError& error) {
      throw DataError(plan.source + ": row " + plan.rows[run.row].name + ": " + error.what());
    }
  }
}

void prepare_sweep(SweepPlan& plan, TextHashes& hashes, const Log& log) {
  make_directories(plan.directory);
  for (const char* folder : {"", "vocabulary", "cache"}) {
    remove_leftovers(plan.directory / folder, std::chrono::hours(24));
  }
  plan.source_from_here = fs::proximate(plan.source, plan.directory).string();
  write_file_atomically(plan.directory / kSweepFile, write_config(plan).dump(2) + "\n");
  for (PlannedRun& run : plan.runs) {
    DataConfig& data = run.experiment.data;
    keep_vocabulary(run);
    // With init_from the run takes the checkpoint's vocabularies, which its weights need.
    if (run.experiment.train.init_from.empty()) {
      share_vocabulary(data, plan.directory, hashes, log);
    }
    if (data.cache.empty()) data.cache = (plan.directory / "cache").string();
    make_directories(run.directory.parent_path());
    remove_leftovers(run.directory.parent_path(), std::chrono::hours(24));
    write_file_atomically(run.config(), write_config(run.experiment).dump(2) + "\n");
    const std::string& change = plan.rows[run.row].change.record;
    if (change.empty()) continue;
    make_directories(run.directory);
    write_file_atomically(RunDirectory(run.directory).change(), change);
  }
}

// The program with a diff, which is built at the first call, by `threads` compilers, with the
// settings of this program's build. Throws ConfigError if this program is not of an unchanged
// commit in its build folder, if the diff does not apply or with the first error of the compiler.
// Without threads only looks whether it applies.
fs::path build_changed(const fs::path& diff, int threads) {
  constexpr std::string_view kSays = "attn: ";
  const fs::path build = program_path().parent_path().parent_path();
  const fs::path source = source_folder();
  if (source.empty()) {
    throw ConfigError("a diff needs the build folder of attn, and " + program_path().string() +
                      " is in none; run build/release/app/attn, not a copy of it");
  }
  std::string command = "cmake";
  for (const auto& [name, value] : {std::pair("BUILD", build.string()),
                                    {"COMMIT", version().commit},
                                    {"DIFF", fs::absolute(diff).string()},
                                    {"JOBS", std::to_string(threads)}}) {
    command += std::string(" -D ") + shell_quoted(std::string(name) + "=" + value);
  }
  const auto [failed, text] =
      output_of(command + " -P " + shell_quoted((source / "cmake/ChangedProgram.cmake").string()));
  const size_t found = text.rfind(kSays);
  const size_t begin = found == text.npos ? 0 : found + kSays.size();
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  if (failed != 0) throw ConfigError(diff.string() + ": " + line);
  return line;
}

// Builds the diffs of unfinished runs; without threads only looks whether they apply.
void prepare_programs(SweepPlan& plan, int threads, const Log& log = nullptr) {
  for (PlannedRun& run : plan.runs) {
    const PlannedRow& row = plan.rows[run.row];
    if (row.program.empty() || run.finished) continue;
    if (log) log(run.name + ": by " + row.change.label());
    run.program = row.change.kind == "diff" ? build_changed(row.program, threads) : row.program;
  }
}

// Prints the report and what is missing; returns the exit code.
int end_of(const SweepPlan& plan, const SweepEnd& end, bool trials) {
  const size_t all = plan.runs.size();
  if (end.interrupted) {
    std::cerr << "stopped: " << end.finished << " of " << all
              << " runs finished; re-run the same command to resume\n";
    return stop_exit_code();
  }
  for (const std::string& failed : end.failed) std::cerr << "failed: " << failed << "\n";
  if (end.finished + end.failed.size() > 0) {
    const std::string report = Report(plan.directory).write();
    if (!trials) std::cout << report << std::flush;
  }
  if (const size_t stopped = all - end.finished - end.failed.size(); stopped > 0) {
    std::cerr << stopped << " of " << all
              << " runs were stopped by a signal, or are trained by other processes; re-run the "
                 "same command to resume\n";
  }
  if (!end.failed.empty() && !trials) {
    std::cerr << end.failed.size() << " of " << all
              << " runs failed (see above); fix the cause and re-run the same command\n";
  }
  return end.finished == all ? 0 : static_cast<int>(ExitCode::data);
}

// The directory must be free, or that of an earlier sweep of this file.
void require_free_place(const SweepPlan& plan) {
  const fs::path& directory = plan.directory;
  require_place(directory, InputKind::sweep_directory);
  const fs::path written = directory / kSweepFile;
  const bool there = kind_of(directory) == InputKind::sweep_directory;
  if (plan.rescore && !there) throw ConfigError(directory.string() + ": --rescore: not a sweep");
  if (!there) return;
  const Json before = parse_json(read_file(written, kMaxConfigBytes), written.string());
  std::error_code moved;
  const fs::path other = directory / before.value("source_from_here", "");
  if (!fs::is_regular_file(other, moved) || fs::equivalent(other, plan.source, moved)) return;
  throw ConfigError(directory.string() + ": contains runs of another sweep, " +
                    before.value("source", "") + "; choose another directory for " + plan.source +
                    " with --run");
}

SweepMachine machine_of(const SweepPlan& plan, int64_t jobs, const Context& context) {
  const bool gpu = context.device.is_cuda();
  jobs = gpu ? jobs : std::max<int64_t>(jobs, 1);
  return {.device = gpu ? "cuda" : "cpu",
          .cores = torch::get_num_threads(),
          .gpus = gpu ? static_cast<int64_t>(torch::cuda::device_count()) : 0,
          .jobs = std::min(jobs, std::ssize(plan.runs)),
          .threads_given = context.threads.has_value()};
}

// Returns those that could not be collected, and why: the others are trained all the same.
std::vector<std::string> collect_finished(const SweepPlan& plan) {
  std::vector<std::string> failed;
  for (const PlannedRun& run : plan.runs) {
    const std::string why = run.finished ? collect_run(plan, run) : "";
    if (why.empty()) continue;
    failed.push_back(run.name + ": " + why);
    std::cerr << failed.back() << "\n";
  }
  return failed;
}

// Trains the runs of a plan, or submits them.
int train_plan(SweepPlan& plan, const SweepRequest& request, const Context& context,
               bool trials = false) {
  require_free_place(plan);
  check_parameters(plan);
  require_texts(plan);
  check_configs_unchanged(plan);
  if (const int64_t taken = take_collected(plan); taken > 0) {
    std::cerr << counted(taken, "finished run") << " taken from " << plan.collection.string()
              << "\n";
  }
  inspect_runs(plan);
  prepare_programs(plan, 0);
  TextHashes hashes;  // each text is read once
  check_texts_unchanged(plan, hashes);
  exit_on_stop_signals();
  const Log log = [](const std::string& line) { std::cerr << line << std::endl; };
  prepare_sweep(plan, hashes, log);
  prepare_programs(plan, torch::get_num_threads(), log);
  const std::vector<std::string> uncollected = collect_finished(plan);
  if (request.slurm && has_unfinished(plan)) {
    std::cerr << submit_to_slurm(plan, context.device_name, context.threads, !request.no_submit)
              << "\nwhen the jobs have finished, "
              << (trials ? "run the same command again for what follows these trials"
                         : "run: attn report " + shell_word(plan.directory.string()))
              << "\n";
    return 0;
  }
  catch_stop_signals();
  SweepMachine machine = machine_of(plan, request.jobs, context);
  if (machine.jobs == 0) {
    const bool several = std::ranges::count(plan.runs, false, &PlannedRun::finished) > 1;
    machine.jobs =
        several && request.launcher.empty() ? jobs_on_gpus(plan, machine, request.seconds) : 1;
  }
  if (stop_requested()) return stop_exit_code();
  SweepEnd end = run_sweep(plan, machine, request.launcher);
  end.finished -= std::ssize(uncollected);
  end.failed.insert(end.failed.end(), uncollected.begin(), uncollected.end());
  return end_of(plan, end, trials);
}

}  // namespace

int sweep(const SweepRequest& request, const Context& context) {
  SweepPlan plan = plan_sweep(request);
  if (fs::exists(plan.collection) && !fs::is_directory(plan.collection)) {
    throw ConfigError("--collect " + plan.collection.string() + ": a file; give a directory");
  }
  std::optional<SweepPlan> trials;
  if (!plan.file.tune.empty()) trials = plan_trials(plan);
  if (request.dry_run) {
    inspect_runs(plan, /*collected=*/true);
    if (trials) inspect_runs(*trials, /*collected=*/true);
    catch_stop_signals();  // so that scratch files are removed
    const bool more = trials && trials->runs.size() > plan.runs.size();
    dry_run(plan, trials, machine_of(more ? *trials : plan, request.jobs, context),
            request.no_measure ? std::nullopt : std::optional(request.seconds));
    if (stop_requested()) return stop_exit_code();
    require_free_place(plan);
    if (!trials) {
      check_configs_unchanged(plan);
      TextHashes hashes;
      check_texts_unchanged(plan, hashes);
    }
    prepare_programs(plan, 0);
    return 0;
  }
  if (trials) {
    require_free_place(plan);  // before its trials are trained
    require_texts(plan);
    const int code = has_unfinished(*trials) ? train_plan(*trials, request, context, true) : 0;
    inspect_runs(*trials);
    if (has_unfinished(*trials)) return code;  // a trial that diverged has finished
    collect_finished(*trials);
    choose_settings(plan, *trials);
    for (const std::string& note : plan.tuning) std::cerr << note << "\n";
  }
  return train_plan(plan, request, context);
}

}  // namespace attn
