#include "train/parallel/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace attn {
namespace {

class SingleProcess : public Communicator {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 1; }
  [[noreturn]] void abort(int code) override { std::_Exit(code); }

 private:
  void do_exchange(std::span<const ConstBytes> to, std::span<const Bytes> from,
                   MessageMemory /*memory*/) override {
    std::copy(to[0].begin(), to[0].end(), from[0].begin());
  }
};

}  // namespace

void Communicator::exchange(std::span<const ConstBytes> to, std::span<const Bytes> from,
                            MessageMemory memory) {
  const auto begin = std::chrono::steady_clock::now();
  do_exchange(to, from, memory);
  traffic_.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (size_t r = 0; r < to.size(); ++r) {
    if (static_cast<int64_t>(r) != rank()) traffic_.sent_bytes += std::ssize(to[r]);
  }
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

}  // namespace attn
