#include "data/batches.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "tests/support/catch.h"
#include "tests/support/shared_data.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;

namespace {

using Pairs = std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>>;
constexpr Vocabularies vocabularies{50, 50, 2, 1, 2};

/// Pairs of random tokens; the sides' lengths are related as in real text.
EncodedCorpus random_corpus(int64_t count, uint64_t seed, uint64_t longest = 30) {
  Random random(seed);
  Pairs pairs(static_cast<size_t>(count));
  for (auto& [source, target] : pairs) {
    source.resize(1 + random.below(longest));
    target.resize(std::max<size_t>(1, source.size() * (75 + random.below(51)) / 100));
    for (auto& token : source) token = static_cast<int32_t>(3 + random.below(47));
    for (auto& token : target) token = static_cast<int32_t>(3 + random.below(47));
  }
  return EncodedCorpus(pairs, vocabularies);
}

/// The batches of one epoch. The stream must be at the start of an epoch.
std::vector<Batch> epoch_of(BatchStream& stream) {
  std::vector<Batch> batches{stream.next()};
  const int64_t epoch = stream.epoch();
  while (true) {
    const StreamPosition before = stream.position();
    Batch batch = stream.next();
    if (stream.epoch() != epoch) {
      stream.restore(before);
      return batches;
    }
    batches.push_back(std::move(batch));
  }
}

std::vector<int64_t> ids_of(const std::vector<Batch>& batches) {
  std::vector<int64_t> ids;
  for (const auto& batch : batches) ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
  return ids;
}

/// Whether these are all pairs of a corpus, each once.
bool is_epoch(const std::vector<Batch>& batches, int64_t pairs) {
  const std::vector<int64_t> ids = ids_of(batches);
  return std::ssize(ids) == pairs && std::ssize(std::set(ids.begin(), ids.end())) == pairs &&
         std::ranges::min(ids) == 0 && std::ranges::max(ids) == pairs - 1;
}

int64_t longest_side(const Batch& batch) {
  return std::max(batch.source.longest(), batch.target_out.longest());
}

}  // namespace

TEST_CASE("a batch lays sentences end to end, with BOS and EOS in place") {
  const EncodedCorpus corpus(Pairs{{{5, 6}, {7}}, {{8}, {9, 10, 11}}}, {50, 50, 2, 1, 3});
  const std::vector<uint32_t> ids = {1, 0};
  const Batch batch = make_batch(corpus, ids);
  CHECK(batch.source == TokenRows{{8, 2, 5, 6, 2}, {2, 3}});
  CHECK(batch.target_in == TokenRows{{1, 9, 10, 11, 1, 7}, {4, 2}});
  CHECK(batch.target_out == TokenRows{{9, 10, 11, 3, 7, 3}, {4, 2}});
  CHECK(batch.sentences == 2);
  CHECK(batch.source_tokens == 5);
  CHECK(batch.target_tokens == 6);
  CHECK(batch.ids == std::vector<int64_t>{1, 0});
}

TEST_CASE("every pair comes exactly once an epoch, with one chunk and with several") {
  const EncodedCorpus corpus = random_corpus(1003, 1);
  for (const int64_t chunk_pairs : {1'000'000, 1003, 1002, 100, 7, 1}) {
    CAPTURE(chunk_pairs);
    BatchStream stream(corpus, {.batch_tokens = 200, .seed = 3, .chunk_pairs = chunk_pairs});
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      const auto batches = epoch_of(stream);
      CHECK(stream.epoch() == epoch);
      CHECK(is_epoch(batches, 1003));
      for (const Batch& batch : batches) {
        const std::vector<uint32_t> ids(batch.ids.begin(), batch.ids.end());
        REQUIRE(batch == make_batch(corpus, ids));
      }
    }
  }
}

TEST_CASE("no batch is above the budget but a pair that is, alone; and none is empty") {
  const EncodedCorpus corpus = random_corpus(2000, 3);
  for (const int64_t budget : {1, 20, 64, 100, 1000, 4096}) {
    BatchStream stream(corpus, {.batch_tokens = budget, .seed = 1, .chunk_pairs = 700});
    const auto batches = epoch_of(stream);
    for (const Batch& batch : batches) {
      REQUIRE(batch.sentences > 0);
      const int64_t cost = batch.sentences * longest_side(batch);
      if (cost > budget) REQUIRE(batch.sentences == 1);
    }
    CHECK(is_epoch(batches, 2000));
  }
}

TEST_CASE("a stream is a function of its seed, and epochs differ") {
  const EncodedCorpus corpus = random_corpus(600, 4);
  const auto two_epochs = [&](uint64_t seed) {
    BatchStream stream(corpus, {.batch_tokens = 300, .seed = seed, .chunk_pairs = 250});
    return std::pair(epoch_of(stream), epoch_of(stream));
  };
  const auto one = two_epochs(1);
  CHECK(one == two_epochs(1));
  CHECK(ids_of(one.first) != ids_of(two_epochs(2).first));
  CHECK(ids_of(one.first) != ids_of(one.second));
}

TEST_CASE("batches don't come sorted by length") {
  const EncodedCorpus corpus = random_corpus(3000, 5);
  BatchStream stream(corpus, {.batch_tokens = 200, .seed = 1});
  const auto batches = epoch_of(stream);
  int64_t rising = 0;
  for (size_t i = 1; i < batches.size(); ++i) {
    rising += longest_side(batches[i - 1]) <= longest_side(batches[i]) ? 1 : 0;
  }
  const double share = static_cast<double>(rising) / static_cast<double>(batches.size() - 1);
  CHECK(share > 0.35);
  CHECK(share < 0.7);
}

TEST_CASE("a restored stream continues exactly, at any point") {
  const EncodedCorpus corpus = random_corpus(90, 6);
  const StreamOptions options{.batch_tokens = 100, .seed = 9, .chunk_pairs = 40};
  std::vector<Batch> all;
  std::vector<StreamPosition> before;
  BatchStream stream(corpus, options);
  for (int i = 0; i < 80; ++i) {
    before.push_back(stream.position());
    all.push_back(stream.next());
  }
  CHECK(stream.epoch() >= 2);
  for (size_t start = 0; start < before.size(); ++start) {
    BatchStream restored(corpus, options);
    restored.restore(before[start]);
    CHECK(restored.position() == before[start]);
    for (size_t i = start; i < std::min(start + 20, all.size()); ++i) {
      REQUIRE(restored.next() == all[i]);
    }
  }
}

TEST_CASE("an invalid position is rejected, and the stream is unchanged") {
  const EncodedCorpus corpus = random_corpus(50, 7);
  BatchStream stream(corpus, {.batch_tokens = 100, .seed = 1});
  const int64_t batches = stream.chunk_batches();
  const StreamPosition before = stream.position();
  const std::vector<StreamPosition> wrong = {
      {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, -1}, {3, 0, batches + 100}};
  for (const auto& position : wrong) {
    CHECK_THROWS_AS(stream.restore(position), DataError);
    CHECK(stream.position() == before);
  }
  BatchStream fresh(corpus, {.batch_tokens = 100, .seed = 1});
  CHECK(stream.next() == fresh.next());
}

TEST_CASE("sequential batches have every pair once, shortest first, always the same") {
  const EncodedCorpus corpus = random_corpus(700, 8);
  const auto batches = sequential_batches(corpus, 256);
  const Batch largest = largest_batch(corpus, 256);
  CHECK(is_epoch(batches, 700));
  for (size_t i = 0; i < batches.size(); ++i) {
    CHECK(batches[i].sentences * longest_side(batches[i]) <= 256);
    if (i > 0) CHECK(longest_side(batches[i - 1]) <= longest_side(batches[i]));
    CHECK(batches[i].target_tokens <= largest.target_tokens);
  }
  CHECK(sequential_batches(corpus, 256) == batches);
  CHECK(std::count(batches.begin(), batches.end(), largest) == 1);
}

TEST_CASE("the padding of a chunk is that of its batches") {
  const EncodedCorpus corpus = random_corpus(800, 10);
  BatchStream stream(corpus, {.batch_tokens = 300, .seed = 1});
  const double claimed = stream.chunk_padding();
  double filled = 0;
  double real = 0;
  for (const Batch& batch : epoch_of(stream)) {
    real += static_cast<double>(batch.source_tokens + batch.target_tokens);
    filled += static_cast<double>(batch.sentences *
                                  (batch.source.longest() + batch.target_out.longest()));
  }
  CHECK(claimed == Approx(1 - real / filled));
}

TEST_CASE("Multi30k's batches waste less than one position in twenty", "[slow]") {
  const auto folder = shared_data("multi30k");
  if (!folder) return;
  const TemporaryDirectory directory;
  DataConfig config;
  config.train = *folder / "train.lc.norm.tok";
  config.source = "en";
  config.target = "de";
  config.vocab_size = 10'000;
  const Tokenizers tokenizers = make_tokenizers(config);
  const EncodedCorpus corpus = load_corpus({.source = config.train + ".en",
                                            .target = config.train + ".de",
                                            .tokenizers = tokenizers,
                                            .max_length = 256,
                                            .cache_directory = directory.path()});
  CHECK(corpus.size() == 29'000);
  for (const int64_t budget : {2048, 4096, 8192}) {
    BatchStream stream(corpus, {.batch_tokens = budget, .seed = 1});
    CHECK(stream.chunk_padding() < 0.05);
  }
}

TEST_CASE("a batch splits into parts that hold its sentences in order and are about as large") {
  const EncodedCorpus corpus = random_corpus(300, 11);
  BatchStream stream(corpus, {.batch_tokens = 400, .seed = 2});
  const int64_t wanted = GENERATE(1, 2, 3, 16);
  for (int i = 0; i < 20; ++i) {
    const Batch batch = stream.next();
    const std::vector<Batch> parts = split(batch, wanted);
    CHECK(parts.size() <= static_cast<size_t>(wanted));
    CHECK(ids_of(parts) == batch.ids);
    const int64_t all = batch.source_tokens + batch.target_tokens;
    for (const Batch& part : parts) {
      CHECK(part.sentences > 0);
      const std::vector<uint32_t> ids(part.ids.begin(), part.ids.end());
      CHECK(part == make_batch(corpus, ids));
      // A part is at most one sentence above its share.
      CHECK(part.source_tokens + part.target_tokens <= all / wanted + 64);
    }
  }
}
