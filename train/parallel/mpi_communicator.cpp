#include "train/parallel/mpi_communicator.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

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

// Pauses that grow while a message is awaited: at first this process only offers its core to
// others; a wait for an evaluation takes next to no time of it. Brief ones stay so.
class Pause {
 public:
  explicit Pause(bool brief) : brief_(brief) {}
  void operator()() {
    const double waited = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (waited < 2e-4) {
      std::this_thread::yield();
    } else {
      // Not yield(): on a machine with other work that gives up a whole time slice.
      std::this_thread::sleep_for(std::chrono::microseconds(brief_ || waited < 0.1 ? 20 : 2000));
    }
  }

 private:
  bool brief_;
  Clock::time_point begin_ = Clock::now();
};

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
  }
  ~MpiCommunicator() override { end_work(); }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }

  void begin_work() override {
    if (size_ > 1) heartbeat_.begin([this] { return beat(); }, [this] { return timeout(); });
  }
  void end_work() override { heartbeat_.end(); }

  void leave() override {
    end_work();
    gather(*this, 0);  // MPI_Finalize waits at full speed, this does not
    hear_beats();
    MPI_Finalize();
  }

  [[noreturn]] void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  struct Pending {
    std::vector<MPI_Request> requests;
    std::vector<int> peers;
  };

  void do_exchange(std::span<const ConstBytes> to, std::span<const Bytes> from) override {
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
    for (int k = 1; k < size_; ++k) receive(from[(rank_ + size_ - k) % size_], k, pending);
    for (int k = 1; k < size_; ++k) send(to[(rank_ + k) % size_], k, pending);
    wait(pending, brief_pauses);
  }

  void receive(Bytes bytes, int distance, Pending& pending) {
    const int peer = (rank_ + size_ - distance) % size_;
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kMaxPiece))) {
      const auto count = static_cast<int>(std::min(bytes.size(), kMaxPiece));
      pending.peers.push_back(peer);
      check(MPI_Irecv(bytes.data(), count, MPI_BYTE, peer, kData, comm_,
                      &pending.requests.emplace_back(MPI_REQUEST_NULL)));
    }
  }

  void send(ConstBytes bytes, int distance, Pending& pending) {
    const int peer = (rank_ + distance) % size_;
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kMaxPiece))) {
      const auto count = static_cast<int>(std::min(bytes.size(), kMaxPiece));
      pending.peers.push_back(peer);
      check(MPI_Isend(bytes.data(), count, MPI_BYTE, peer, kData, comm_,
                      &pending.requests.emplace_back(MPI_REQUEST_NULL)));
    }
  }

  void wait(Pending& pending, bool brief_pauses) {
    std::fill(silent_.begin(), silent_.end(), Silence());
    std::vector<int> done(pending.requests.size());
    Clock::time_point looked = Clock::now();
    for (Pause pause(brief_pauses);; pause()) {
      int count = 0;
      check(MPI_Testsome(static_cast<int>(pending.requests.size()), pending.requests.data(), &count,
                         done.data(), MPI_STATUSES_IGNORE));
      if (count == MPI_UNDEFINED) return;  // none is left
      for (int i = 0; i < count; ++i) silent_[pending.peers[done[i]]].broken();
      hear_beats();
      const auto now = Clock::now();
      count_silence(pending, std::chrono::duration<double>(now - looked).count());
      looked = now;
    }
  }

  // Counts `seconds` for the processes that are awaited.
  void count_silence(const Pending& pending, double seconds) {
    std::vector<bool> awaited(silent_.size());
    for (size_t i = 0; i < pending.requests.size(); ++i) {
      if (pending.requests[i] != MPI_REQUEST_NULL) awaited[pending.peers[i]] = true;
    }
    for (size_t peer = 0; peer < awaited.size(); ++peer) {
      if (awaited[peer]) silent_[peer].last(seconds, static_cast<int64_t>(peer), timeout());
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
  bool beat() {
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
    return true;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<Silence> silent_;  // by rank
  Heartbeat heartbeat_;
};

}  // namespace

bool has_mpi() {
  return true;
}

std::unique_ptr<Communicator> join_mpi() {
  return std::make_unique<MpiCommunicator>();
}

}  // namespace attn
