// The processes that train one model together, and what they send to each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace attn {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// Another process has ended, does not answer, or the communication itself failed.
class CommunicationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where the messages of an exchange are.
enum class MessageMemory { host, device };

/// What this process has sent to others, and the time it has spent on it, waiting included.
struct Traffic {
  int64_t sent_bytes = 0;
  double seconds = 0.0;
};

/// A group of processes, numbered from 0. Every call is collective: all processes make it, in the
/// same order. Between calls a process may work for as long as it likes: heartbeats tell the others
/// that it is alive. There is no all-reduce, since a library's order of addition depends on its
/// version, the sizes and the network (see train/parallel/gradient_sum.h).
class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;
  bool is_rank_zero() const { return rank() == 0; }

  /// An all-to-all exchange: sends to[r] to process r and receives its message into from[r], for
  /// all r, this process included. The sizes must agree. Memory of this process's GPU requires
  /// reaches_device(). Throws CommunicationError.
  void exchange(std::span<const ConstBytes> to, std::span<const Bytes> from,
                MessageMemory memory = MessageMemory::host);
  /// Whether memory of a GPU can be exchanged without a copy to the host.
  virtual bool reaches_device() const { return false; }

  /// Seconds that others wait for a process without a message or heartbeat from it, by default 60.
  virtual void set_timeout(double seconds) { timeout_ = seconds; }
  double timeout() const { return timeout_; }

  /// Shuts down the communication of this process; the last call.
  virtual void leave() {}
  /// Ends all processes with this exit code.
  [[noreturn]] virtual void abort(int code) = 0;

  /// The traffic since the last call.
  Traffic take_traffic() { return std::exchange(traffic_, {}); }

 private:
  virtual void do_exchange(std::span<const ConstBytes> to, std::span<const Bytes> from,
                           MessageMemory memory) = 0;

  Traffic traffic_;
  std::atomic<double> timeout_ = 60.0;
};

/// The group of one process: the default. One object for the program.
Communicator& single_process();

/// Overwrites `bytes` in all processes with those of the first.
void broadcast(Communicator& world, Bytes bytes);

/// Every process's value, in the order of ranks.
template <class Value>
std::vector<Value> gather(Communicator& world, const Value& own) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<Value> values(static_cast<size_t>(world.size()));
  std::vector<Bytes> from;
  for (Value& value : values) from.push_back(std::as_writable_bytes(std::span(&value, 1)));
  const std::vector<ConstBytes> to(values.size(), std::as_bytes(std::span(&own, 1)));
  world.exchange(to, from);
  return values;
}

/// The value of the first process.
template <class Value>
Value from_first(Communicator& world, Value value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  broadcast(world, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

/// Every process's string or vector of numbers, in the order of ranks; they may differ in length.
template <class List>
std::vector<List> gather_lists(Communicator& world, const List& own) {
  std::vector<List> all;
  for (const size_t length : gather(world, own.size())) all.emplace_back(length, 0);
  std::vector<Bytes> from;
  for (List& list : all) from.push_back(std::as_writable_bytes(std::span(list)));
  const std::vector<ConstBytes> to(all.size(), std::as_bytes(std::span(own)));
  world.exchange(to, from);
  return all;
}

/// Whether this build has MPI (the CMake option ATTN_WITH_MPI).
bool has_mpi();

/// The store of torchrun's agent, and this process's place.
struct StoreGroup {
  std::string host;
  int64_t port = 0;
  std::string prefix;  ///< of keys: differs between runs, and between restarts of one
  int64_t rank = 0, size = 1;
};

/// The processes that torchrun has started: connects to the store, whose keys carry messages and
/// heartbeats, slower than MPI, and enough for lists, texts, and NCCL's id. Throws
/// CommunicationError.
std::unique_ptr<Communicator> join_store(const StoreGroup& group);

/// The processes started by mpirun or srun. Initializes MPI; only once in a process, which must not
/// fork afterwards. Throws CommunicationError, also in a build without MPI.
std::unique_ptr<Communicator> join_mpi();

}  // namespace attn
