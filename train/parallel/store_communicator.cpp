#include "train/parallel/communicator.h"

#include <c10/util/Logging.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "base/format.h"
#include "train/parallel/heartbeat.h"

namespace attn {
namespace {

constexpr size_t kMaxPiece = size_t{1} << 22;  // a store refuses values of 8 MiB
constexpr double kLook = 0.1;                  // seconds between two looks at a heartbeat

// Calls `work`; what the store throws becomes a CommunicationError.
template <class Work>
auto asking(const Work& work) {
  try {
    return work();
  } catch (const CommunicationError&) {
    throw;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    throw CommunicationError("torchrun's store does not answer: " +
                             text.substr(0, text.find('\n')));
  }
}

class StoreCommunicator : public Communicator {
 public:
  StoreCommunicator(c10::intrusive_ptr<c10d::Store> store, int64_t rank, int64_t size)
      : store_(std::move(store)), rank_(rank), size_(size) {}

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }

  void leave() override { gather(*this, 0); }
  [[noreturn]] void abort(int code) override { std::_Exit(code); }  // torchrun ends the others

 private:
  void do_exchange(std::span<const ConstBytes> to, std::span<const Bytes> from,
                   MessageMemory /*memory*/) override {
    const auto paused = heartbeat_.pause();
    asking([&] {
      ++exchange_;
      for (int64_t r = 0; r < size_; ++r) {
        if (r != rank_) send(r, to[r]);
      }
      for (int64_t r = 0; r < size_; ++r) {
        if (r != rank_) receive(r, from[r]);
      }
    });
    std::copy(to[rank_].begin(), to[rank_].end(), from[rank_].begin());
  }

  std::string key(int64_t sender, int64_t receiver, size_t offset) const {
    return format("%ld/%ld/%ld/%zu", exchange_, sender, receiver, offset);
  }
  static std::string beat_key(int64_t rank) { return "beat/" + std::to_string(rank); }

  void send(int64_t receiver, ConstBytes bytes) {
    for (size_t offset = 0; offset < bytes.size(); offset += kMaxPiece) {
      const ConstBytes piece = bytes.subspan(offset, std::min(kMaxPiece, bytes.size() - offset));
      const auto* first = reinterpret_cast<const uint8_t*>(piece.data());
      store_->set(key(rank_, receiver, offset), std::vector<uint8_t>(first, first + piece.size()));
    }
  }

  void receive(int64_t sender, Bytes bytes) {
    for (size_t offset = 0; offset < bytes.size(); offset += kMaxPiece) {
      const std::string name = key(sender, rank_, offset);
      wait_for(name, sender);
      const std::vector<uint8_t> piece = store_->get(name);
      store_->deleteKey(name);
      const Bytes to = bytes.subspan(offset, std::min(kMaxPiece, bytes.size() - offset));
      if (piece.size() != to.size()) {
        throw CommunicationError(format("process %ld sent %zu bytes, %zu were expected", sender,
                                        piece.size(), to.size()));
      }
      std::copy(piece.begin(), piece.end(), reinterpret_cast<uint8_t*>(to.data()));
    }
  }

  void wait_for(const std::string& name, int64_t sender) {
    int64_t beats = 0;
    Silence silence(size_);
    while (!store_->check({name})) {
      std::this_thread::sleep_for(std::chrono::microseconds(silence.waited() == 0.0 ? 50 : 2000));
      if (silence.unseen() < kLook) continue;
      silence.look();
      const int64_t now = store_->add(beat_key(sender), 0);
      if (std::exchange(beats, now) != now) silence.heard(sender);
      silence.require(sender, timeout());
    }
  }

  // In a thread of its own. If the store does not answer, the next exchange says so.
  void beat() {
    try {
      store_->add(beat_key(rank_), 1);
    } catch (const std::exception&) {
    }
  }

  c10::intrusive_ptr<c10d::Store> store_;
  int64_t rank_, size_;
  int64_t exchange_ = 0;  // number of the current one
  Heartbeat heartbeat_{*this, [this] { beat(); }};
};

}  // namespace

std::unique_ptr<Communicator> join_store(const StoreGroup& group) {
  FLAGS_caffe2_log_level = c10::GLOG_FATAL;  // c10d logs every attempt to connect
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(group.port);
  options.waitWorkers = false;
  options.timeout = std::chrono::seconds(20);
  return asking([&]() -> std::unique_ptr<Communicator> {
    auto store = c10::make_intrusive<c10d::TCPStore>(group.host, options);
    return std::make_unique<StoreCommunicator>(
        c10::make_intrusive<c10d::PrefixStore>(group.prefix, std::move(store)), group.rank,
        group.size);
  });
}

}  // namespace attn
