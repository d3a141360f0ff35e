#include "train/static_batch.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/batches.h"
#include "tests/support/catch.h"
#include "tests/support/thread_communicator.h"
#include "train/parallel/shards.h"

using namespace attn;

namespace {

// Sentences of the lengths of a translation, short ones most of all.
EncodedCorpus translations(int64_t pairs, int64_t longest) {
  Random random(7);
  std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>> list;
  for (int64_t i = 0; i < pairs; ++i) {
    const double share = random.uniform();
    const auto length = 1 + static_cast<int64_t>(share * share * static_cast<double>(longest - 1));
    const auto other =
        std::min(longest, length / 2 + 1 + static_cast<int64_t>(random.below(length)));
    list.emplace_back(std::vector<int32_t>(length, 5), std::vector<int32_t>(other, 6));
  }
  return {list,
          {.source_size = 9, .target_size = 9, .source_eos = 2, .target_bos = 1, .target_eos = 2}};
}

// Own rows first, then `token`s in sentences that fill `rows`.
void check_rows(const TokenRows& own, const TokenRows& padded, int64_t rows, const BatchClass& to,
                int64_t token) {
  CHECK(std::accumulate(padded.lengths.begin(), padded.lengths.end(), int64_t{0}) == rows);
  CHECK(std::ssize(padded.tokens) == rows);
  CHECK(std::ssize(padded.lengths) == to.sentences);
  CHECK(padded.longest() == to.longest);
  CHECK(std::ranges::min(padded.lengths) > 0);
  CHECK(std::equal(own.tokens.begin(), own.tokens.end(), padded.tokens.begin()));
  CHECK(std::equal(own.lengths.begin(), own.lengths.end(), padded.lengths.begin()));
  CHECK(std::count(padded.tokens.begin() + std::ssize(own.tokens), padded.tokens.end(), token) ==
        rows - std::ssize(own.tokens));
}

}  // namespace

TEST_CASE("a padded batch has the shapes of its class, and its own sentences come first") {
  const int64_t batch_tokens = GENERATE(1, 60, 1024, 4096, 25000);
  const int64_t longest = GENERATE(8, 150);
  const ClassRule rule = class_rule(batch_tokens, GENERATE(0, 1) * (longest + 1));
  CAPTURE(batch_tokens, longest, rule.row_step, rule.max_length);
  const EncodedCorpus pairs = translations(batch_tokens > 5000 ? 60000 : 3000, longest);
  std::set<BatchClass> classes;
  int64_t own_rows = 0, rows = 0;
  const std::vector<Batch> batches = sequential_batches(pairs, batch_tokens);
  for (const Batch& batch : batches) {
    const BatchClass to = class_of(batch, rule);
    const Batch whole = padded(batch, to);
    check_rows(batch.source, whole.source, to.source_rows, to, 0);
    check_rows(batch.target_in, whole.target_in, to.target_rows, to, 0);
    check_rows(batch.target_out, whole.target_out, to.target_rows, to, kNoTarget);
    CHECK(to.source_rows % rule.row_step == 0);
    CHECK(whole.source_tokens == batch.source_tokens);
    if (rule.max_length > 0) CHECK(to.longest <= rule.max_length);
    classes.insert(to);
    own_rows += batch.source_tokens + batch.target_tokens;
    rows += to.source_rows + to.target_rows;
  }
  if (batch_tokens < 1024) return;
  CHECK(classes.size() < 120);
  const double most = batch_tokens < 25000 ? 1.5 : 1.15;
  CHECK(static_cast<double>(rows) < most * static_cast<double>(own_rows));
}

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
      int64_t end = 0;
      for (int64_t r = 0; r < processes; ++r) {
        const FlatRange range = shard_of(floats, r, processes);
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
