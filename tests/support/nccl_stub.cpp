// A stand-in for NCCL without GPUs, as libnccl.so.2: the functions that train/parallel looks up,
// over Unix sockets between threads or processes of one machine. Like NCCL it works in the
// background: receive buffers hold kPoison until a message has come, and an exchange is in progress
// (ncclCommGetAsyncError) until then, or for as long as a test holds it back (ncclStubHold).
//
// Faults, of one rank, by the environment: ATTN_NCCL_STUB=FAULT:RANK with
//   init_error   its initialization fails             init_hangs   it never ends
//   async_error  its first exchange reports an error  stalls       it never sends
//   dies         it closes its connections            slow         it sends after 0.3 s
// or FAULT:RANK:N, from the N-th exchange on.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSuccess = 0, kSystemError = 2, kRemoteError = 6, kInProgress = 7;
constexpr int kPoison = 0xA5;

struct Id {
  char name[128];
};

struct Message {
  int peer;
  bool receives;
  char* data;
  size_t size, done = 0;
};

std::atomic<bool> held = false;

struct Communicator {
  int rank, size;
  std::string name, fault;
  int first = 1;  // exchange with a fault
  std::vector<int> sockets;
  std::atomic<int> state = kInProgress;
  std::atomic<bool> stopped = false;
  std::mutex mutex;
  std::condition_variable queued;
  std::deque<std::vector<Message>> exchanges;  // queued or in progress
  std::thread thread;

  ~Communicator() {
    stopped = true;
    queued.notify_all();
    if (thread.joinable()) thread.join();
    close_all();
  }

  void close_all() {
    for (int& socket : sockets) {
      if (socket >= 0) ::close(socket);
      socket = -1;
    }
  }

  // Linux's abstract names are no files, so that nothing is left of a process that dies.
  sockaddr_un address_of(int of_rank) const {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s/%d", name.c_str(),
                  of_rank);
    return address;
  }

  // A connection to each other rank: the higher rank connects to the lower one.
  bool connect_all() {
    sockets.assign(static_cast<size_t>(size), -1);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un own = address_of(rank);
    ::bind(listener, reinterpret_cast<const sockaddr*>(&own), sizeof own);
    ::listen(listener, size);
    for (int peer = 0; peer < rank; ++peer) {
      const sockaddr_un address = address_of(peer);
      const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      while (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        if (stopped) return ::close(socket), ::close(listener), false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      sockets[static_cast<size_t>(peer)] = socket;
      if (::write(socket, &rank, sizeof rank) != sizeof rank) return false;
    }
    for (int count = rank + 1; count < size;) {
      pollfd waiting{listener, POLLIN, 0};
      if (stopped) return ::close(listener), false;
      if (::poll(&waiting, 1, 5) <= 0) continue;
      const int socket = ::accept(listener, nullptr, nullptr);
      int peer = 0;
      if (::read(socket, &peer, sizeof peer) != sizeof peer) return false;
      sockets[static_cast<size_t>(peer)] = socket;
      ++count;
    }
    ::close(listener);
    return true;
  }

  // Moves what a socket takes or gives now; false: the peer is gone.
  bool move(Message& message) const {
    const int socket = sockets[static_cast<size_t>(message.peer)];
    char* const at = message.data + message.done;
    const size_t left = message.size - message.done;
    const ssize_t count = message.receives ? ::recv(socket, at, left, MSG_DONTWAIT)
                                           : ::send(socket, at, left, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) message.done += static_cast<size_t>(count);
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  }

  void run() {
    if (fault == "init_hangs" || !connect_all()) return;
    state = kSuccess;
    for (int exchanged = 1;; ++exchanged) {
      std::unique_lock lock(mutex);
      queued.wait(lock, [&] { return stopped || !exchanges.empty(); });
      if (stopped) return;
      std::vector<Message>& exchange = exchanges.front();
      lock.unlock();
      const std::string now = exchanged >= first ? fault : "";
      if (now == "dies") close_all();
      if (now == "dies" || now == "async_error") return void(state = kRemoteError);
      if (now == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(300));
      for (bool complete = false; !complete && !stopped;) {
        complete = true;
        for (Message& message : exchange) {
          if (message.done == message.size) continue;
          complete = false;
          if (now == "stalls" && !message.receives) continue;
          if (!move(message)) return void(state = kRemoteError);
        }
        if (!complete) std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      lock.lock();
      exchanges.pop_front();
    }
  }
};

thread_local std::vector<Message> group;
thread_local Communicator* last = nullptr;

int add(int peer, bool receives, void* data, size_t size, void* communicator) {
  last = static_cast<Communicator*>(communicator);
  if (receives) std::memset(data, kPoison, size);
  group.push_back({peer, receives, static_cast<char*>(data), size});
  return kSuccess;
}

}  // namespace

extern "C" {

int ncclGetUniqueId(Id* id) {
  static std::atomic<int> count = 0;
  std::snprintf(id->name, sizeof id->name, "attn-nccl-%d-%d", ::getpid(), ++count);
  return kSuccess;
}

int ncclCommInitRankConfig(void** communicator, int size, Id id, int rank, void* /*config*/) {
  auto* const made = new Communicator{.rank = rank, .size = size, .name = id.name};
  const char* const set = std::getenv("ATTN_NCCL_STUB");
  const char* const faults = set != nullptr ? set : "";
  char fault[32] = {};
  int of_rank = -1;
  if (std::sscanf(faults, "%31[a-z_]:%d:%d", fault, &of_rank, &made->first) >= 2 &&
      of_rank == rank) {
    made->fault = fault;
  }
  *communicator = made;
  if (made->fault == "init_error") return kSystemError;
  made->thread = std::thread([made] { made->run(); });
  return kInProgress;
}

int ncclCommAbort(void* communicator) {
  delete static_cast<Communicator*>(communicator);
  return kSuccess;
}

int ncclCommGetAsyncError(void* communicator, int* result) {
  auto* const of = static_cast<Communicator*>(communicator);
  const std::lock_guard lock(of->mutex);
  *result = of->state;
  if (of->state == kSuccess && (held || !of->exchanges.empty())) *result = kInProgress;
  return kSuccess;
}

int ncclGroupStart() {
  group.clear();
  return kSuccess;
}

int ncclSend(const void* data, size_t size, int /*type*/, int peer, void* communicator,
             void* /*stream*/) {
  return add(peer, false, const_cast<void*>(data), size, communicator);
}

int ncclRecv(void* data, size_t size, int /*type*/, int peer, void* communicator,
             void* /*stream*/) {
  return add(peer, true, data, size, communicator);
}

int ncclGroupEnd() {
  if (last == nullptr || group.empty()) return kSuccess;
  std::vector<Message> exchange;
  for (const Message& message : group) {
    if (message.peer != last->rank) {
      exchange.push_back(message);
    } else if (message.receives) {  // from this rank to itself
      for (const Message& sent : group) {
        if (sent.peer == message.peer && !sent.receives) {
          std::memcpy(message.data, sent.data, message.size);
        }
      }
    }
  }
  const std::lock_guard lock(last->mutex);
  last->exchanges.push_back(std::move(exchange));
  last->queued.notify_all();
  return kSuccess;
}

const char* ncclGetErrorString(int result) {
  return result == kRemoteError ? "remote process exited or there was a network error"
                                : "unhandled system error";
}

/// While true, nothing is reported as done.
void ncclStubHold(bool hold) {
  held = hold;
}
}
