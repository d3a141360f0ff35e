#include "train/parallel/nccl_communicator.h"

#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <cstdlib>

#include <algorithm>
#include <chrono>
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
  NcclCommunicator(std::unique_ptr<Communicator> control, torch::Device device,
                   std::function<bool()> is_done)
      : control_(std::move(control)), device_(device), is_done_(std::move(is_done)) {
    set_timeout([this] { return control_->timeout(); });
  }

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

  ~NcclCommunicator() override {
    if (comm_ != nullptr) nccl().comm_abort(comm_);
  }

  int64_t rank() const override { return control_->rank(); }
  int64_t size() const override { return control_->size(); }
  bool reaches_device() const override { return true; }
  void begin_work() override { control_->begin_work(); }
  void end_work() override { control_->end_work(); }
  void leave() override {
    if (comm_ != nullptr)
      nccl().comm_abort(std::exchange(comm_, nullptr));  // all has been received
    control_->leave();
  }
  [[noreturn]] void abort(int code) override {
    control_->abort(code);
    std::abort();
  }

 private:
  void do_exchange(std::span<const ConstBytes> to, std::span<const Bytes> from) override {
    control_->set_timeout([seconds = timeout()] { return seconds; });
    control_->exchange(to, from);
  }

  c10::Stream stream() const {
    return c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  }

  void do_exchange_device(std::span<const ConstBytes> to, std::span<const Bytes> from) override {
    // A process that is late sends heartbeats here, but not over NCCL: the wait begins when all
    // have come.
    control_->set_timeout([seconds = timeout()] { return seconds; });
    gather(*control_, 0);
    void* const queue = is_done_ ? nullptr : stream().native_handle();
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
         [&] { return is_done_ ? is_done_() : stream().query(); });
  }

  // Waits on the host for NCCL and for `done`, so that a process that hangs is noticed.
  void wait(const char* what, const std::function<bool()>& done) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    NcclResult result = kNcclInProgress;
    while (true) {
      nccl().check(nccl().async_error(comm_, &result));
      nccl().check(result);
      if (result == 0 && done()) return;
      if (std::chrono::duration<double>(Clock::now() - begin).count() > timeout()) {
        throw CommunicationError(
            std::string("no response over NCCL within runtime.timeout, before ") + what +
            ": a process is hanging or was stopped; resume with --resume");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  std::unique_ptr<Communicator> control_;
  torch::Device device_;
  std::function<bool()> is_done_;  // of the last exchange; none: what the device's stream says
  NcclComm comm_ = nullptr;
};

}  // namespace

std::unique_ptr<Communicator> with_nccl(std::unique_ptr<Communicator> world, torch::Device device,
                                        std::function<bool()> is_done) {
  const std::vector<int> found = gather(*world, nccl().is_complete() ? 1 : 0);
  if (std::find(found.begin(), found.end(), 0) != found.end()) return world;
  auto over_nccl = std::make_unique<NcclCommunicator>(std::move(world), device, std::move(is_done));
  over_nccl->connect();
  return over_nccl;
}

}  // namespace attn
