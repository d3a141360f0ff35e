#include "train/parallel/nccl_communicator.h"

#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace attn {
namespace {

// The part of NCCL's C interface that is used; stable since NCCL 2.14 (nccl.h is not needed).
struct NcclId {
  char bytes[128];
};
// The beginning of ncclConfig_t; NCCL takes as much of it as `size` says.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};
using NcclComm = void*;
using NcclResult = int;  // 0: success
constexpr NcclResult kNcclInProgress = 7;
constexpr int kNcclInt8 = 0;

class NcclLibrary {
 public:
  /// All symbols, or is_complete() is false.
  NcclLibrary() : handle_(::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) return;
    complete_ =
        find(get_unique_id, "ncclGetUniqueId") && find(comm_init_rank, "ncclCommInitRankConfig") &&
        find(group_start, "ncclGroupStart") && find(group_end, "ncclGroupEnd") &&
        find(send, "ncclSend") && find(receive, "ncclRecv") && find(comm_abort, "ncclCommAbort") &&
        find(async_error, "ncclCommGetAsyncError") && find(error_string, "ncclGetErrorString");
  }
  bool is_complete() const { return complete_; }

  /// Calls of a non-blocking communicator may be in progress.
  void check(NcclResult result) const {
    if (result != 0 && result != kNcclInProgress)
      throw CommunicationError(std::string("NCCL: ") + error_string(result));
  }

  NcclResult (*get_unique_id)(NcclId*) = nullptr;
  NcclResult (*comm_init_rank)(NcclComm*, int, NcclId, int, NcclConfig*) = nullptr;
  NcclResult (*group_start)() = nullptr;
  NcclResult (*group_end)() = nullptr;
  NcclResult (*send)(const void*, size_t, int, int, NcclComm, void*) = nullptr;
  NcclResult (*receive)(void*, size_t, int, int, NcclComm, void*) = nullptr;
  NcclResult (*comm_abort)(NcclComm) = nullptr;
  NcclResult (*async_error)(NcclComm, NcclResult*) = nullptr;
  const char* (*error_string)(NcclResult) = nullptr;

 private:
  template <class Function>
  bool find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(handle_, name));
    return function != nullptr;
  }

  void* handle_;  // never closed: CUDA's driver may still call into it at exit
  bool complete_ = false;
};

const NcclLibrary& nccl() {
  static const NcclLibrary library;
  return library;
}

class NcclCommunicator : public Communicator {
 public:
  NcclCommunicator(std::unique_ptr<Communicator> control, torch::Device device)
      : control_(std::move(control)), device_(device) {
    Communicator::set_timeout(control_->timeout());
  }
  ~NcclCommunicator() override { disconnect(); }

  int64_t rank() const override { return control_->rank(); }
  int64_t size() const override { return control_->size(); }
  bool reaches_device() const override { return true; }
  void set_timeout(double seconds) override {
    Communicator::set_timeout(seconds);
    control_->set_timeout(seconds);
  }
  void leave() override {
    disconnect();  // all has been received
    control_->leave();
  }
  [[noreturn]] void abort(int code) override {
    control_->abort(code);
    std::abort();
  }

 private:
  void do_exchange(std::span<const ConstBytes> to, std::span<const Bytes> from,
                   MessageMemory memory) override {
    if (memory == MessageMemory::host) return control_->exchange(to, from);
    // A process that is late sends heartbeats here, but not over NCCL: the wait begins when all
    // have come.
    gather(*control_, 0);
    if (comm_ == nullptr) connect();
    // The stand-in for NCCL, on a CPU, has no streams: it says when an exchange has ended.
    const c10::impl::VirtualGuardImpl guard(device_.type());
    const bool cuda = device_.is_cuda();
    void* const queue = cuda ? guard.getStream(device_).native_handle() : nullptr;
    nccl().check(nccl().group_start());
    for (size_t r = 0; r < to.size(); ++r) {
      const int peer = static_cast<int>(r);
      if (!to[r].empty()) {
        nccl().check(nccl().send(to[r].data(), to[r].size(), kNcclInt8, peer, comm_, queue));
      }
      if (!from[r].empty()) {
        nccl().check(nccl().receive(from[r].data(), from[r].size(), kNcclInt8, peer, comm_, queue));
      }
    }
    nccl().check(nccl().group_end());
    wait("an exchange over NCCL has ended",
         [&] { return !cuda || guard.getStream(device_).query(); });
  }

  // With the first exchange, when runtime.timeout is known.
  void connect() {
    const c10::impl::VirtualGuardImpl guard(device_.type());
    guard.setDevice(device_);
    NcclId id{};
    if (control_->is_rank_zero()) nccl().check(nccl().get_unique_id(&id));
    id = from_first(*control_, id);
    NcclConfig config;
    nccl().check(nccl().comm_init_rank(&comm_, static_cast<int>(size()), id,
                                       static_cast<int>(rank()), &config));
    wait("NCCL has connected the processes", [] { return true; });
  }

  void disconnect() {
    if (comm_ != nullptr) nccl().comm_abort(std::exchange(comm_, nullptr));
  }

  // Waits on the host for NCCL and for `done`, so that a process that hangs is noticed.
  void wait(const char* what, const std::function<bool()>& done) {
    const auto begin = std::chrono::steady_clock::now();
    NcclResult result = kNcclInProgress;
    while (true) {
      nccl().check(nccl().async_error(comm_, &result));
      nccl().check(result);
      if (result == 0 && done()) return;
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
      if (waited.count() > timeout()) {
        throw CommunicationError(
            std::string("no response over NCCL within runtime.timeout, before ") + what +
            ": a process is hanging or was stopped; resume with --resume");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  std::unique_ptr<Communicator> control_;
  torch::Device device_;
  NcclComm comm_ = nullptr;
};

}  // namespace

bool has_nccl() {
  return nccl().is_complete();
}

std::unique_ptr<Communicator> with_nccl(std::unique_ptr<Communicator> world, torch::Device device) {
  return std::make_unique<NcclCommunicator>(std::move(world), device);
}

}  // namespace attn
