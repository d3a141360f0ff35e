// The processes that train one model together, and what they send to each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// What this process has sent to others, and the time it has spent on it, waiting included.
struct Traffic {
  int64_t sent_bytes = 0;
  double seconds = 0.0;
};

/// A group of processes, numbered from 0. Every call is collective: all processes make it, in the
/// same order. There is no all-reduce, since a library's order of addition depends on its version,
/// the sizes and the network (see train/parallel/gradient_sum.h).
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
  /// all r, this process included. The sizes must agree. Throws CommunicationError.
  void exchange(std::span<const ConstBytes> to, std::span<const Bytes> from);
  /// The same with memory of this process's GPU. Requires reaches_device().
  void exchange_device(std::span<const ConstBytes> to, std::span<const Bytes> from);
  /// Whether memory of a GPU can be exchanged without a copy to the host.
  virtual bool reaches_device() const { return false; }

  /// Seconds that others wait for a process without a message from it, by default 60; called while
  /// waiting.
  void set_timeout(std::function<double()> seconds) { timeout_ = std::move(seconds); }
  double timeout() const { return timeout_(); }
  /// Until end_work() this process does not communicate, possibly for longer than the timeout, but
  /// sends heartbeats to the others. See LongWork.
  virtual void begin_work() {}
  virtual void end_work() {}

  /// Shuts down the communication of this process; the last call.
  virtual void leave() {}
  /// Ends all processes with this exit code.
  [[noreturn]] virtual void abort(int code) = 0;

  /// The traffic since the last call.
  Traffic take_traffic();

 private:
  virtual void do_exchange(std::span<const ConstBytes> to, std::span<const Bytes> from) = 0;
  virtual void do_exchange_device(std::span<const ConstBytes> to, std::span<const Bytes> from);

  Traffic traffic_;
  std::function<double()> timeout_ = [] { return 60.0; };
};

/// The group of one process: the default. One object for the program.
Communicator& single_process();

/// RAII: this process works without communicating (evaluation, checkpoints, reading data).
class LongWork {
 public:
  explicit LongWork(Communicator& world) : world_(world) { world_.begin_work(); }
  ~LongWork() { world_.end_work(); }
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

 private:
  Communicator& world_;
};

/// Overwrites `bytes` in all processes with those of the first.
void broadcast(Communicator& world, Bytes bytes);

/// Every process's bytes, in the order of ranks; own.size() bytes each.
std::vector<std::byte> gather_bytes(Communicator& world, ConstBytes own);

/// Every process's value, in the order of ranks.
template <class Value>
std::vector<Value> gather(Communicator& world, const Value& own) {
  static_assert(std::is_trivially_copyable_v<Value>);
  const std::vector<std::byte> all = gather_bytes(world, std::as_bytes(std::span(&own, 1)));
  std::vector<Value> values(static_cast<size_t>(world.size()));
  std::copy(all.begin(), all.end(), std::as_writable_bytes(std::span(values)).begin());
  return values;
}

/// The value of the first process.
template <class Value>
Value from_first(Communicator& world, Value value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  broadcast(world, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

/// Every process's text, in the order of ranks.
std::vector<std::string> gather_texts(Communicator& world, const std::string& own);
/// Every process's numbers, in the order of ranks.
std::vector<std::vector<double>> gather_lists(Communicator& world, const std::vector<double>& own);

}  // namespace attn
