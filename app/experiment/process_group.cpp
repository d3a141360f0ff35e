#include "app/experiment/process_group.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "app/machine/exit.h"
#include "app/machine/launcher.h"
#include "base/check.h"
#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/parse_number.h"
#include "kernels/compute_scope.h"
#include "train/parallel/nccl_communicator.h"
#include "train/trainer.h"

namespace attn {
namespace {

// What processes say of themselves to find their neighbours.
struct Placement {
  std::array<char, 256> host{};
  std::bitset<4096> cores;
};

Placement own_placement() {
  Placement own;
  ::gethostname(own.host.data(), own.host.size() - 1);
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ::sched_getaffinity(0, sizeof mask, &mask);
  for (size_t i = 0; i < CPU_SETSIZE; ++i) own.cores[i] = CPU_ISSET(i, &mask) != 0;
  return own;
}

MachineShare find_share(Communicator& world) {
  const std::vector<Placement> all = gather(world, own_placement());
  const Placement& own = all[world.rank()];
  std::bitset<4096> shared;
  MachineShare share{.local_processes = 0, .cores = static_cast<int64_t>(own.cores.count())};
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].host != own.host) continue;
    ++share.local_processes;
    share.local_rank += static_cast<int64_t>(r) < world.rank();
    shared |= all[r].cores;
  }
  share.shared_cores = static_cast<int64_t>(shared.count());
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

// Whether every process has a GPU of its own, and NCCL. On a CPU by a GPU's path, which tests take,
// every process is taken to have a device.
bool have_nccl(Communicator& world, torch::Device device, const MachineShare& share) {
  const bool own_device = device.is_cuda() ? share.local_processes <= torch::cuda::device_count()
                                           : !on_cpu_path(device);
  return std::ranges::min(gather(world, own_device && has_nccl() ? 1 : 0)) == 1;
}

std::string of_process(int64_t rank, const std::string& message) {
  return rank == 0 ? message : "process " + std::to_string(rank) + ": " + message;
}

void report(int64_t rank, const std::string& message) {
  std::fprintf(stderr, "attn: %s\n", of_process(rank, message).c_str());
}

// Leaves with the others. If one of them is gone, this process ends all instead of throwing, since
// MPI would wait for it.
int leave(Communicator& world, int code) {
  try {
    world.leave();
  } catch (const std::exception&) {
    world.abort(code);
  }
  return code;
}

int run_together(std::unique_ptr<Communicator> world, Context context,
                 const std::function<int(const Context&, const ProcessGroup&)>& work) {
  const int64_t rank = world->rank();
  if (rank > 0) std::cerr.setstate(std::ios::failbit);  // only the first process writes there
  int code = static_cast<int>(ExitCode::internal);
  try {
    const MachineShare share = find_share(*world);
    context.device = own_device(context.device, share);
    if (have_nccl(*world, context.device, share)) {
      world = with_nccl(std::move(world), context.device);
    } else if (context.device.is_cuda()) {  // as where srun shows each process its own GPU alone
      std::cerr << "gradients go through the host: without NCCL, or " << share.local_processes
                << " processes here see " << torch::cuda::device_count() << " GPUs\n";
    }
    if (!context.threads) {
      const std::vector<int64_t> threads = gather(*world, share.threads());
      torch::set_num_threads(static_cast<int>(std::ranges::min(threads)));
    }
    const std::vector<int> codes = gather(*world, work(context, {*world, share}));
    return leave(*world, std::ranges::max(codes));
  } catch (const GroupFailure& failure) {
    code = failure.code();
  } catch (const NonFiniteLoss& failure) {  // in all processes, since all have the same sums
    if (rank == 0) report(rank, failure.what());
  } catch (const std::exception&) {
    const ExitReport end = exit_report();
    report(rank, end.message);
    world->abort(static_cast<int>(end.code));
  }
  return leave(*world, code);
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
  std::unique_ptr<Communicator> world;
  try {
    if (const auto wrong = wrong_launch(*launch, has_mpi())) throw ConfigError(*wrong);
    world = launch->torchrun ? join_torchrun(*launch) : join_mpi();
    if (world->size() > 1) {
      if (launch->torchrun && launch->rank == 0 && context.device.is_cpu()) {
        std::cerr << "gradients go through torchrun's store; on CPUs, mpirun is faster\n";
      }
      return run_together(std::move(world), context, work);
    }
    world->leave();
    if (launch->processes == 0) return work(context, alone);
    throw ConfigError(launch->said +
                      ", but MPI reports a single process; use the mpirun of the MPI that this "
                      "program was built with");
  } catch (const ConfigError&) {  // the same in all
    if (launch->rank > 0) return static_cast<int>(ExitCode::config);
    throw;
  }
}

void on_all_ranks(Communicator& world, const std::function<void()>& work) {
  if (world.size() == 1) return work();
  std::string message;
  int code = 0;
  try {
    work();
  } catch (const std::exception&) {
    const ExitReport end = exit_report();
    message = end.message;
    code = static_cast<int>(end.code);
  }
  const std::vector<int> codes = gather(world, code);
  const auto first = std::ranges::find_if(codes, [](int of_rank) { return of_rank != 0; });
  if (first == codes.end()) return;
  const int64_t rank = first - codes.begin();
  message = gather_lists(world, message)[rank];
  if (rank == world.rank()) report(rank, message);
  throw GroupFailure(of_process(rank, message), *first);
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
  const int64_t other =
      std::ranges::find_if(all, [&](auto hash) { return hash != all[0]; }) - all.begin();
  if (other == world.size()) return;
  on_rank_zero(world, [&] {
    throw ConfigError("process " + std::to_string(other) + " on " + places[other].host.data() +
                      " has a different " + what);
  });
}

std::string binding_note(const ProcessGroup& processes, bool threads_given) {
  if (processes.world.size() == 1) return "";
  struct Bound {
    int64_t cores, threads, machine;
  };
  const Bound own{processes.share.cores, torch::get_num_threads(),
                  ::sysconf(_SC_NPROCESSORS_ONLN) / processes.share.local_processes};
  const bool chosen = threads_given || std::getenv("SLURM_JOB_ID") != nullptr;
  const std::vector<Bound> all = gather(processes.world, own);
  for (size_t r = 0; r < all.size(); ++r) {
    const auto [cores, threads, machine] = all[r];
    const std::string bound = format("process %zu is bound to %ld cores", r, cores);
    const char* const remedy = "start with mpirun --bind-to none (srun: --cpus-per-task)";
    if (threads > cores) {
      return format("%s and has %ld threads; %s, or with --threads %ld", bound.c_str(), threads,
                    remedy, cores);
    }
    if (!chosen && cores < machine) {
      return format("%s where its share of the machine is %ld; to use them %s", bound.c_str(),
                    machine, remedy);
    }
  }
  return "";
}

}  // namespace attn
