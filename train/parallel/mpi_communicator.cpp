#include "train/parallel/communicator.h"

#ifdef ATTN_MPI
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include "train/parallel/heartbeat.h"

namespace attn {
namespace {

constexpr int kData = 0, kBeat = 1;  // tags
constexpr std::byte kSign{1};
// MPI counts with int; longer messages are sent in pieces.
constexpr size_t kMaxPiece = size_t{1} << 30;

void check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw CommunicationError("MPI: " + std::string(text, static_cast<size_t>(length)));
}

// Pauses that grow with the seconds that a message is awaited: at first this process only offers
// its core to others; a wait for an evaluation takes next to no time of it. Brief ones stay so.
void pause(double waited, bool brief) {
  if (waited < 2e-4) return std::this_thread::yield();
  // Not yield(): on a machine with other work that gives up a whole time slice.
  std::this_thread::sleep_for(std::chrono::microseconds(brief || waited < 0.1 ? 20 : 2000));
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
    // MPI moves a large message by many calls: only once all processes are there, with brief
    // pauses.
    std::vector<std::byte> signs(to.size());
    std::vector<Bytes> ready;
    for (std::byte& sign : signs) ready.emplace_back(&sign, 1);
    transfer(std::vector<ConstBytes>(to.size(), ConstBytes(&kSign, 1)), ready, false);
    transfer(to, from, true);
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
    silence_ = Silence(size_);
    std::vector<int> done(pending.requests.size());
    for (;; pause(silence_.waited(), brief_pauses)) {
      int count = 0;
      check(MPI_Testsome(static_cast<int>(pending.requests.size()), pending.requests.data(), &count,
                         done.data(), MPI_STATUSES_IGNORE));
      if (count == MPI_UNDEFINED) return;  // none is left
      silence_.look();
      for (int i = 0; i < count; ++i) silence_.heard(pending.peers[done[i]]);
      hear_beats();
      for (size_t i = 0; i < pending.requests.size(); ++i) {
        if (pending.requests[i] != MPI_REQUEST_NULL) silence_.require(pending.peers[i], timeout());
      }
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
      silence_.heard(status.MPI_SOURCE);
    }
  }

  // In a thread of its own, while the main thread makes no call of MPI.
  void beat() {
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      if (MPI_Isend(&kSign, 1, MPI_BYTE, peer, kBeat, comm_, &request) == MPI_SUCCESS) {
        MPI_Request_free(&request);
      }
    }
    int there = 0;  // lets MPI make progress
    MPI_Iprobe(MPI_ANY_SOURCE, kBeat, comm_, &there, MPI_STATUS_IGNORE);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  Silence silence_{0};
  std::optional<Heartbeat> heartbeat_;
};

}  // namespace

bool has_mpi() {
  return true;
}

std::unique_ptr<Communicator> join_mpi() {
  return std::make_unique<MpiCommunicator>();
}

}  // namespace attn
#else
namespace attn {

bool has_mpi() {
  return false;
}

std::unique_ptr<Communicator> join_mpi() {
  throw CommunicationError("built without MPI");
}

}  // namespace attn
#endif
