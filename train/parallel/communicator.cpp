#include "train/parallel/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

namespace attn {
namespace {

using Clock = std::chrono::steady_clock;

class SingleProcess : public Communicator {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 1; }
  [[noreturn]] void abort(int code) override { std::_Exit(code); }

 private:
  void do_exchange(std::span<const ConstBytes> to, std::span<const Bytes> from) override {
    std::copy(to[0].begin(), to[0].end(), from[0].begin());
  }
};

int64_t sent_to_others(std::span<const ConstBytes> to, int64_t rank) {
  int64_t bytes = 0;
  for (size_t r = 0; r < to.size(); ++r) {
    if (static_cast<int64_t>(r) != rank) bytes += static_cast<int64_t>(to[r].size());
  }
  return bytes;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Every process's `own`, which may differ in size.
template <class List>
std::vector<List> gather_sequences(Communicator& world, const List& own) {
  if (world.size() == 1) return {own};
  const std::vector<uint64_t> sizes = gather(world, static_cast<uint64_t>(own.size()));
  std::vector<List> all;
  std::vector<Bytes> from;
  for (const uint64_t size : sizes) all.emplace_back(size, typename List::value_type{});
  for (List& list : all) from.push_back(std::as_writable_bytes(std::span(list)));
  const std::vector<ConstBytes> to(all.size(), std::as_bytes(std::span(own)));
  world.exchange(to, from);
  return all;
}

}  // namespace

void Communicator::exchange(std::span<const ConstBytes> to, std::span<const Bytes> from) {
  const auto begin = Clock::now();
  do_exchange(to, from);
  traffic_.seconds += seconds_since(begin);
  traffic_.sent_bytes += sent_to_others(to, rank());
}

void Communicator::exchange_device(std::span<const ConstBytes> to, std::span<const Bytes> from) {
  const auto begin = Clock::now();
  do_exchange_device(to, from);
  traffic_.seconds += seconds_since(begin);
  traffic_.sent_bytes += sent_to_others(to, rank());
}

void Communicator::do_exchange_device(std::span<const ConstBytes> /*to*/,
                                      std::span<const Bytes> /*from*/) {
  throw std::logic_error("this communicator does not reach device memory");
}

Traffic Communicator::take_traffic() {
  return std::exchange(traffic_, {});
}

Communicator& single_process() {
  static SingleProcess one;
  return one;
}

void broadcast(Communicator& world, Bytes bytes) {
  const auto size = static_cast<size_t>(world.size());
  std::vector<ConstBytes> to(size);
  std::vector<Bytes> from(size);
  if (world.is_rank_zero()) {
    std::fill(to.begin() + 1, to.end(), ConstBytes(bytes));
  } else {
    from[0] = bytes;
  }
  world.exchange(to, from);
}

std::vector<std::byte> gather_bytes(Communicator& world, ConstBytes own) {
  const auto size = static_cast<size_t>(world.size());
  std::vector<std::byte> all(size * own.size());
  const std::vector<ConstBytes> to(size, own);
  std::vector<Bytes> from(size);
  for (size_t r = 0; r < size; ++r) from[r] = Bytes(all).subspan(r * own.size(), own.size());
  world.exchange(to, from);
  return all;
}

std::vector<std::string> gather_texts(Communicator& world, const std::string& own) {
  return gather_sequences(world, own);
}

std::vector<std::vector<double>> gather_lists(Communicator& world, const std::vector<double>& own) {
  return gather_sequences(world, own);
}

}  // namespace attn
