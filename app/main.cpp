// The program `attn`: parses the command line, runs a subcommand and reports exceptions as one line
// and an exit code.

#include <c10/util/Logging.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>

#include "app/commands/commands.h"
#include "app/commands/text_io.h"
#include "app/machine/device.h"
#include "app/machine/exit.h"
#include "app/machine/processes.h"
#include "app/machine/version.h"
#include "base/error.h"
#include "base/stop_signal.h"
#include "kernels/libtorch.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

// Makes glibc keep freed blocks: page faults otherwise take a third of a training step.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  // One arena for all threads: others consist of heaps of at most 64 MB, unmapped and mapped again.
  mallopt(M_ARENA_MAX, 1);
#endif
}

int report(const std::string& message, attn::ExitCode code) {
  std::cerr << "attn: " << message << std::endl;
  return static_cast<int>(code);
}

std::string command_line(int argc, char** argv) {
  std::string line = "attn";
  for (int i = 1; i < argc; ++i) line.append(" ").append(attn::shell_word(argv[i]));
  return line;
}

int run(int argc, char** argv) {
  using namespace attn;
  Context context{.command_line = command_line(argc, argv)};
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error like a full disk
  std::signal(SIGCHLD, SIG_DFL);  // if ignored, which is inherited, children cannot be waited for
  CLI::App app("Attention Is All You Need: train, ablate, translate, parse, score", "attn");
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  app.footer("attn COMMAND --help describes a command's output and options, with an example.");
  app.fallthrough();  // --threads and --device may also follow the command
  int threads = 0;
  app.add_option("--threads", threads, "number of CPU threads (default: all cores)")
      ->check(CLI::Range(1, kMaxThreads));
  app.add_option("--device", context.device_name, "auto (cuda if available), cpu or cuda")
      ->capture_default_str();
  app.parse_complete_callback([&] {
    if (threads > 0) context.threads = threads;
    // Also to the default: as in a resumed run (keep_threads), since MKL then divides its work so.
    torch::set_num_threads(threads > 0 ? threads : torch::get_num_threads());
    context.device = find_device(context.device_name);
  });
  add_train_command(app, context);
  add_translate_command(app, context);
  add_parse_command(app, context);
  add_logprob_command(app, context);
  add_evaluate_command(app, context);
  add_score_command(app);
  add_agree_command(app);
  add_fuse_command(app);
  add_average_command(app);
  add_attention_command(app, context);
  add_heads_command(app, context);
  add_sweep_command(app, context);
  add_report_command(app);
  add_bench_command(app, context);
  add_config_command(app);
  add_vocab_command(app);
  add_generate_command(app);
  run_command(app, {argv + 1, argv + argc});
  flush_standard_output();
  return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  // LibTorch 2.13's CPU build has this set, so that a failed allocation would abort.
  FLAGS_caffe2_use_fatal_for_enforce = false;
  try {
    return run(argc, argv);
  } catch (const attn::Stopped&) {
    return attn::stop_exit_code();
  } catch (const std::exception&) {
    const attn::ExitReport end = attn::exit_report();
    return report(attn::printable(end.message), end.code);
  }
}
