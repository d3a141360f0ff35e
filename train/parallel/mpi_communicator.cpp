#include "train/parallel/communicator.h"

#ifdef ATTN_MPI
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "train/parallel/heartbeat.h"

namespace attn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kData = 0, kBeat = 1;  // tags
// MPI counts with int; longer messages are sent in pieces.
constexpr size_t kMaxPiece = size_t{1} << 30;

void check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw CommunicationError("MPI: " + std::string(text, static_cast<size_t>(length)));
}

// Larger messages are moved by many calls of MPI: only once the other process is there, and then
// with brief pauses.
constexpr size_t kSmall = 1 << 16;

// Pauses that grow with the seconds that a message is awaited: at first this process only offers
// its core to others; a wait for an evaluation takes next to no time of it. Brief ones stay so.
void pause(double waited, bool brief) {
  if (waited < 2e-4) return std::this_thread::yield();
  // Not yield(): on a machine with other work that gives up a whole time slice.
  std::this_thread::sleep_for(std::chrono::microseconds(brief || waited < 0.1 ? 20 : 2000));
}

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided));
    if (provided < MPI_THREAD_SERIALIZED) {
      throw CommunicationError("this MPI does not support MPI_THREAD_SERIALIZED");
    }
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_));
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
    check(MPI_Comm_rank(comm_, &rank_));
    check(MPI_Comm_size(comm_, &size_));
    silent_.resize(static_cast<size_t>(size_));
    if (size_ > 1) heartbeat_.emplace(*this, [this] { beat(); });
  }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }

  void leave() override {
    heartbeat_.reset();
    gather(*this, 0);  // MPI_Finalize waits at full speed, this does not
    hear_beats();
    MPI_Finalize();
  }

  [[noreturn]] void abort(int code) override {
    heartbeat_.reset();
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  struct Pending {
    std::vector<MPI_Request> requests;
    std::vector<int> peers;
  };

  void do_exchange(std::span<const ConstBytes> to, std::span<const Bytes> from,
                   MessageMemory /*memory*/) override {
    std::unique_lock<std::mutex> paused;
    if (heartbeat_) paused = heartbeat_->pause();
    std::vector<ConstBytes> ready_to(to.size());
    std::vector<Bytes> ready_from(to.size());
    static std::byte sign{1};
    std::vector<std::byte> heard(to.size());  // one for each receive
    bool large = false;
    for (size_t r = 0; r < to.size(); ++r) {
      if (static_cast<int>(r) == rank_ || std::max(to[r].size(), from[r].size()) <= kSmall)
        continue;
      ready_to[r] = ConstBytes(&sign, 1);
      ready_from[r] = Bytes(&heard[r], 1);
      large = true;
    }
    if (large) transfer(ready_to, ready_from, false);
    transfer(to, from, large);
    std::copy(to[rank_].begin(), to[rank_].end(), from[rank_].begin());
  }

  void transfer(std::span<const ConstBytes> to, std::span<const Bytes> from, bool brief_pauses) {
    Pending pending;
    // In turns, so that not all send to the same process first.
    for (int k = 1; k < size_; ++k) {
      const int peer = (rank_ + size_ - k) % size_;
      post(from[peer], peer, pending, [&](std::byte* data, int count, MPI_Request* request) {
        return MPI_Irecv(data, count, MPI_BYTE, peer, kData, comm_, request);
      });
    }
    for (int k = 1; k < size_; ++k) {
      const int peer = (rank_ + k) % size_;
      post(to[peer], peer, pending, [&](const std::byte* data, int count, MPI_Request* request) {
        return MPI_Isend(data, count, MPI_BYTE, peer, kData, comm_, request);
      });
    }
    wait(pending, brief_pauses);
  }

  // Calls start(data, count, request) for the pieces of a message.
  template <class Byte, class Start>
  static void post(std::span<Byte> bytes, int peer, Pending& pending, const Start& start) {
    for (size_t begin = 0; begin < bytes.size(); begin += kMaxPiece) {
      const auto count = static_cast<int>(std::min(bytes.size() - begin, kMaxPiece));
      pending.peers.push_back(peer);
      check(start(bytes.data() + begin, count, &pending.requests.emplace_back(MPI_REQUEST_NULL)));
    }
  }

  void wait(Pending& pending, bool brief_pauses) {
    std::fill(silent_.begin(), silent_.end(), Silence());
    std::vector<int> done(pending.requests.size());
    const Clock::time_point begin = Clock::now();
    for (Clock::time_point looked = begin;; pause(seconds_between(begin, looked), brief_pauses)) {
      int count = 0;
      check(MPI_Testsome(static_cast<int>(pending.requests.size()), pending.requests.data(), &count,
                         done.data(), MPI_STATUSES_IGNORE));
      if (count == MPI_UNDEFINED) return;  // none is left
      for (int i = 0; i < count; ++i) silent_[pending.peers[done[i]]].broken();
      hear_beats();
      const Clock::time_point now = Clock::now();
      const double seconds = seconds_between(std::exchange(looked, now), now);
      std::set<int> awaited;
      for (size_t i = 0; i < pending.requests.size(); ++i) {
        if (pending.requests[i] != MPI_REQUEST_NULL) awaited.insert(pending.peers[i]);
      }
      for (const int peer : awaited) silent_[peer].last(seconds, peer, timeout());
    }
  }

  void hear_beats() {
    while (true) {
      int there = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, kBeat, comm_, &there, &status));
      if (there == 0) return;
      char beat = 0;
      check(MPI_Recv(&beat, 1, MPI_BYTE, status.MPI_SOURCE, kBeat, comm_, MPI_STATUS_IGNORE));
      silent_[status.MPI_SOURCE].broken();
    }
  }

  // In a thread of its own, while the main thread makes no call of MPI.
  void beat() {
    static const char sign = 1;
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      if (MPI_Isend(&sign, 1, MPI_BYTE, peer, kBeat, comm_, &request) == MPI_SUCCESS) {
        MPI_Request_free(&request);
      }
    }
    int there = 0;  // lets MPI make progress
    MPI_Iprobe(MPI_ANY_SOURCE, kBeat, comm_, &there, MPI_STATUS_IGNORE);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<Silence> silent_;  // by rank
  std::optional<Heartbeat> heartbeat_;
};

}  // namespace
}  // namespace attn
#endif

namespace attn {

bool has_mpi() {
#ifdef ATTN_MPI
  return true;
#else
  return false;
#endif
}

std::unique_ptr<Communicator> join_mpi() {
#ifdef ATTN_MPI
  return std::make_unique<MpiCommunicator>();
#else
  throw CommunicationError("built without MPI");
#endif
}

}  // namespace attn
