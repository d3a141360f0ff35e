#include "app/experiment/process_group.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "app/machine/exit_report.h"
#include "app/machine/launcher.h"
#include "base/check.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/parse_number.h"
#include "train/parallel/mpi_communicator.h"
#include "train/parallel/nccl_communicator.h"
#include "train/parallel/store_communicator.h"
#include "train/trainer.h"

namespace attn {
namespace {

// RAII: nothing is written to std::cerr.
class SilentErrors {
 public:
  explicit SilentErrors(bool silent) : silent_(silent) {
    if (silent_) before_ = std::cerr.rdbuf(nullptr);
  }
  ~SilentErrors() {
    if (silent_) {
      std::cerr.rdbuf(before_);
      std::cerr.clear();
    }
  }
  SilentErrors(const SilentErrors&) = delete;
  SilentErrors& operator=(const SilentErrors&) = delete;

 private:
  bool silent_;
  std::streambuf* before_ = nullptr;
};

// What processes say of themselves to find their neighbours. Linux has the mask of cores; elsewhere
// a process is not bound.
struct Placement {
  std::array<char, 256> host{};
  std::array<uint64_t, 64> cores{};  // a bit for each
};

Placement own_placement() {
  Placement own;
  ::gethostname(own.host.data(), own.host.size() - 1);
#ifdef __linux__
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (size_t i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &mask)) own.cores[i / 64] |= uint64_t{1} << (i % 64);
    }
    return own;
  }
#endif
  const auto online = static_cast<size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  for (size_t i = 0; i < std::min<size_t>(online, 4096); ++i) {
    own.cores[i / 64] |= uint64_t{1} << (i % 64);
  }
  return own;
}

int64_t count(const std::array<uint64_t, 64>& cores) {
  int64_t sum = 0;
  for (const uint64_t word : cores) sum += __builtin_popcountll(word);
  return std::max<int64_t>(sum, 1);
}

MachineShare find_share(Communicator& world) {
  const std::vector<Placement> all = gather(world, own_placement());
  const Placement& own = all[static_cast<size_t>(world.rank())];
  MachineShare share{.local_processes = 0, .cores = count(own.cores)};
  std::array<uint64_t, 64> shared{};
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].host != own.host) continue;
    ++share.local_processes;
    share.local_rank += static_cast<int64_t>(r) < world.rank();
    for (size_t i = 0; i < shared.size(); ++i) shared[i] |= all[r].cores[i];
  }
  share.shared_cores = count(shared);
  return share;
}

// The GPU of this process; two processes of one GPU exchange gradients through the host.
torch::Device own_device(torch::Device device, const MachineShare& share) {
  if (!device.is_cuda()) return device;
  const auto gpus = static_cast<int64_t>(torch::cuda::device_count());
  const torch::Device own(torch::kCUDA, static_cast<c10::DeviceIndex>(share.local_rank % gpus));
  c10::impl::VirtualGuardImpl(torch::kCUDA).setDevice(own);
  return own;
}

std::unique_ptr<Communicator> with_gpus(std::unique_ptr<Communicator> world, torch::Device device,
                                        const MachineShare& share) {
  const bool own = device.is_cuda() &&
                   share.local_processes <= static_cast<int64_t>(torch::cuda::device_count());
  const std::vector<bool> all = [&] {
    const std::vector<int> each = gather(*world, own ? 1 : 0);
    return std::vector<bool>(each.begin(), each.end());
  }();
  if (std::find(all.begin(), all.end(), false) != all.end()) return world;
  return with_nccl(std::move(world), device);
}

void report(int64_t rank, const std::string& message) {
  const std::string who = rank == 0 ? "" : "process " + std::to_string(rank) + ": ";
  std::fprintf(stderr, "attn: %s%s\n", who.c_str(), message.c_str());
}

// Leaves with the others. If one of them is gone, this process ends all instead of throwing, since
// MPI would wait for it.
int leave(Communicator& world, int code) {
  try {
    world.leave();
    return code;
  } catch (const std::exception&) {
    world.abort(code);
  }
  std::abort();  // GCC 12 does not see that abort(int) does not return
}

int run_together(std::unique_ptr<Communicator> world, Context context,
                 const std::function<int(const Context&, const ProcessGroup&)>& work) {
  const int64_t rank = world->rank();
  const SilentErrors silent(rank > 0);
  try {
    const MachineShare share = find_share(*world);
    context.device = own_device(context.device, share);
    world = with_gpus(std::move(world), context.device, share);
    if (!context.threads) {
      const std::vector<int64_t> threads = gather(*world, share.threads());
      torch::set_num_threads(static_cast<int>(*std::min_element(threads.begin(), threads.end())));
    }
    const std::vector<int> codes = gather(*world, work(context, {*world, share}));
    world->leave();
    return *std::max_element(codes.begin(), codes.end());
  } catch (const GroupFailure& failure) {
    return leave(*world, failure.code());
  } catch (const NonFiniteLoss& failure) {  // in all processes, since all have the same sums
    if (rank == 0) report(rank, failure.what());
    return leave(*world, static_cast<int>(ExitCode::internal));
  } catch (const std::exception&) {
    const ExitReport end = exit_report();
    report(rank, end.message);
    if (world == nullptr) std::_Exit(static_cast<int>(end.code));  // NCCL could not be set up
    world->abort(static_cast<int>(end.code));
    std::abort();  // GCC 12 does not see that abort(int) does not return
  }
}

std::unique_ptr<Communicator> join_torchrun(const Launch& launch) {
  const auto variable = [&](const char* name) -> std::string {
    const char* text = std::getenv(name);
    if (text != nullptr && *text != '\0') return text;
    throw ConfigError(launch.said + ", but " + name +
                      " is not set; start with torchrun --no-python");
  };
  const std::string port = variable("MASTER_PORT");
  const auto number = parse_number<int64_t>(port);
  require(number && *number > 0 && *number < 65536, "MASTER_PORT", port, "must be a port");
  return join_store({.host = variable("MASTER_ADDR"),
                     .port = *number,
                     .prefix = "attn/" + variable("TORCHELASTIC_RUN_ID") + "/" +
                               variable("TORCHELASTIC_RESTART_COUNT") + "/",
                     .rank = launch.rank,
                     .size = launch.processes});
}

}  // namespace

int64_t MachineShare::threads() const {
  return std::max<int64_t>(1, std::min(cores, shared_cores / local_processes));
}

int with_processes(const Context& context,
                   const std::function<int(const Context&, const ProcessGroup&)>& work) {
  const auto launch = find_launch([](const char* name) { return std::getenv(name); });
  const ProcessGroup alone{single_process(), {}};
  if (!launch || launch->processes == 1) return work(context, alone);
  if (const auto wrong = wrong_launch(*launch, has_mpi())) {
    if (launch->rank > 0) return static_cast<int>(ExitCode::config);
    throw ConfigError(*wrong);
  }
  if (launch->torchrun) {
    std::unique_ptr<Communicator> world;
    try {
      world = join_torchrun(*launch);
    } catch (const ConfigError&) {  // the same in all
      if (launch->rank > 0) return static_cast<int>(ExitCode::config);
      throw;
    }
    if (launch->rank == 0 && context.device.is_cpu()) {
      std::cerr << "gradients go through torchrun's store; on CPUs, mpirun is faster\n";
    }
    return run_together(std::move(world), context, work);
  }
  std::unique_ptr<Communicator> world = join_mpi();
  if (world->size() > 1) return run_together(std::move(world), context, work);
  world->leave();
  if (launch->processes == 0) return work(context, alone);
  if (launch->rank > 0) return static_cast<int>(ExitCode::config);
  throw ConfigError(launch->said +
                    ", but MPI reports a single process; use the mpirun of the MPI that this "
                    "program was built with");
}

void on_all_ranks(Communicator& world, const std::function<void()>& work) {
  if (world.size() == 1) return work();
  ExitReport end;
  bool failed = false;
  try {
    const LongWork working(world);
    work();
  } catch (const std::exception&) {
    end = exit_report();
    failed = true;
  }
  const std::vector<int> codes = gather(world, failed ? static_cast<int>(end.code) : 0);
  const auto first = std::find_if(codes.begin(), codes.end(), [](int code) { return code != 0; });
  if (first == codes.end()) return;
  const int64_t rank = first - codes.begin();
  const std::string message = gather_texts(world, failed ? end.message : "")[rank];
  if (rank == world.rank()) report(rank, message);
  throw GroupFailure((rank == 0 ? "" : "process " + std::to_string(rank) + ": ") + message, *first);
}

void on_rank_zero(Communicator& world, const std::function<void()>& work) {
  on_all_ranks(world, [&] {
    if (world.is_rank_zero()) work();
  });
}

void require_same(Communicator& world, const std::string& own, const std::string& what) {
  if (world.size() == 1) return;
  const std::vector<uint64_t> all = gather(world, hash_text(own));
  const std::vector<Placement> places = gather(world, own_placement());
  on_rank_zero(world, [&] {
    for (size_t r = 1; r < all.size(); ++r) {
      if (all[r] == all[0]) continue;
      throw ConfigError("process " + std::to_string(r) + " on " + places[r].host.data() +
                        " has a different " + what);
    }
  });
}

std::string binding_note(const ProcessGroup& processes, bool threads_given) {
  struct Bound {
    int64_t cores, threads, machine;
  };
  const Bound own{processes.share.cores, torch::get_num_threads(),
                  ::sysconf(_SC_NPROCESSORS_ONLN) / processes.share.local_processes};
  const std::vector<Bound> all = gather(processes.world, own);
  const char* const remedy = "mpirun --bind-to none (srun: --cpus-per-task)";
  for (size_t r = 0; r < all.size(); ++r) {
    const std::string bound =
        "process " + std::to_string(r) + " is bound to " + std::to_string(all[r].cores) + " cores";
    if (all[r].threads > all[r].cores) {
      return bound + " and has " + std::to_string(all[r].threads) + " threads; start with " +
             remedy + ", or with --threads " + std::to_string(all[r].cores);
    }
    if (!threads_given && std::getenv("SLURM_JOB_ID") == nullptr && all[r].cores < all[r].machine) {
      return bound + " where its share of the machine is " + std::to_string(all[r].machine) +
             "; to use them start with " + remedy;
    }
  }
  return "";
}

}  // namespace attn
