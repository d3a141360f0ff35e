#include "train/parallel/shards.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/thread_communicator.h"

using namespace attn;

namespace {

// The sum of numbered parts as text, with its brackets.
std::string tree(std::vector<std::string> parts) {
  tree_sum(static_cast<int64_t>(parts.size()),
           [&](int64_t i, int64_t j) { parts[i] = "(" + parts[i] + "+" + parts[j] + ")"; });
  return parts.front();
}

std::vector<std::string> numbered(int64_t first, int64_t count) {
  std::vector<std::string> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back(std::to_string(first + i));
  return parts;
}

}  // namespace

TEST_CASE("the sum of parts is a pairwise tree, for two parts their sum") {
  CHECK(tree(numbered(0, 1)) == "0");
  CHECK(tree(numbered(0, 2)) == "(0+1)");
  CHECK(tree(numbered(0, 4)) == "((0+1)+(2+3))");
  CHECK(tree(numbered(0, 5)) == "(((0+1)+(2+3))+4)");
}

TEST_CASE("threads of processes add in the order of as many threads of one process") {
  for (const int64_t threads : {1, 2, 4}) {
    for (int64_t processes = 1; processes <= 7; ++processes) {
      std::vector<std::string> sums;
      for (int64_t r = 0; r < processes; ++r) sums.push_back(tree(numbered(r * threads, threads)));
      CHECK(tree(sums) == tree(numbered(0, processes * threads)));
    }
  }
}

TEST_CASE("shards cover the buffer once, in order, and begin at blocks of the norm") {
  for (const int64_t floats : {1, 4096, 4097, 100'000}) {
    for (const int64_t processes : {1, 2, 3, 64}) {
      const Shards shards(floats, processes);
      int64_t end = 0;
      for (int64_t r = 0; r < processes; ++r) {
        const FlatRange range = shards.of(r);
        CHECK(range.begin == end);
        CHECK((range.size() == 0 || range.begin % kNormBlock == 0));
        end = range.end;
      }
      CHECK(end == floats);
    }
  }
}

TEST_CASE("processes gather values and texts in the order of ranks and count what they send") {
  testing::run_as_processes(3, [](Communicator& world) {
    const int64_t rank = world.rank();
    const bool same =
        gather(world, 10 * rank) == std::vector<int64_t>{0, 10, 20} &&
        gather_lists(world, std::string(rank, 'x')) == std::vector<std::string>{"", "x", "xx"} &&
        from_first(world, rank + 7) == 7;
    world.take_traffic();
    gather(world, int64_t{1});
    const Traffic traffic = world.take_traffic();
    // Catch's assertions are not for several threads.
    if (!same || traffic.sent_bytes != 16 || traffic.seconds < 0) std::terminate();
  });
  CHECK(gather(single_process(), 5) == std::vector<int>{5});
}
