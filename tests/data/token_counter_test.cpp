#include "data/token_counter.h"

#include "data/batch.h"
#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("a counter counts its tokens from the first row of each sequence up to each row") {
  const TokenCounter counter(10, std::vector<int32_t>{5, 9});
  std::vector<int64_t> second;
  counter.append(std::vector<int64_t>{1, 5, 6, 9}, second);
  counter.append(std::vector<int64_t>{9, 1}, second);
  CHECK(second == std::vector<int64_t>{0, 1, 1, 2, 1, 1});
  CHECK(counter.next(3, 9) == 4);
  CHECK(counter.next(3, 8) == 3);
  CHECK_THROWS_AS(TokenCounter(10, std::vector<int32_t>{10}), std::out_of_range);
}

TEST_CASE("batches carry the counts of their target input, and keep them when they are split") {
  EncodedCorpus corpus(
      std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>>{
          {{4}, {5, 6, 5}}, {{4, 4}, {6}}, {{4}, {5}}},
      {.source_size = 7, .target_size = 7, .source_eos = 2, .target_bos = 1, .target_eos = 2});
  const std::vector<uint32_t> ids = {0, 1, 2};
  CHECK(make_batch(corpus, ids).target_in.second.empty());
  corpus.set_target_counter(std::make_shared<const TokenCounter>(7, std::vector<int32_t>{5}));
  const Batch batch = make_batch(corpus, ids);
  CHECK(batch.target_in.second == std::vector<int64_t>{0, 1, 1, 2, 0, 0, 0, 1});
  CHECK(batch.source.second.empty());
  std::vector<int64_t> joined;
  for (const Batch& part : split(batch, 2)) {
    CHECK(part.target_in.second.size() == part.target_in.tokens.size());
    joined.insert(joined.end(), part.target_in.second.begin(), part.target_in.second.end());
  }
  CHECK(joined == batch.target_in.second);
}
