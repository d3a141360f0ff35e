#include "train/batch_ahead.h"

#include <stdexcept>

#include "data/word_vocabulary.h"
#include "tests/support/catch.h"
#include "tests/support/copying_task.h"

using namespace attn;

namespace {

const StreamOptions kOptions{.batch_tokens = 60, .seed = 5, .chunk_pairs = 20};

}  // namespace

TEST_CASE("batches built ahead are those of the stream, over epochs and after it was restored") {
  const bool ahead = GENERATE(false, true);
  const EncodedCorpus corpus = testing::copying_corpus();
  BatchStream stream(corpus, kOptions), reference(corpus, kOptions);
  BatchAhead batches(stream, 2, ahead);
  StreamPosition position;
  const auto update = [&] {
    const UpdateBatches taken = batches.take(position);
    const BatchAhead::Building next(batches);
    CHECK(taken.begin == position);
    for (const Batch& batch : taken.batches) CHECK(batch == reference.next());
    CHECK(taken.batches.size() == 2);
    CHECK(taken.end == reference.position());
    position = taken.end;
  };
  for (int i = 0; i < 40; ++i) update();
  CHECK(position.epoch > 1);
  CHECK((stream.position() == position) != ahead);
  const StreamPosition further = stream.position();
  // Back, to the update before, and to where the stream happens to be.
  for (const StreamPosition& there : {StreamPosition{1, 2, 1}, position, further, further}) {
    stream.restore(there);
    reference.restore(there);
    position = there;
    for (int i = 0; i < 3; ++i) update();
  }
}

TEST_CASE("what building a batch ahead throws is thrown by the update that needs the batch") {
  const std::vector<int32_t> known{1, 2, 3}, unknown{1, 900};
  const std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>> pairs{
      {known, known}, {known, known}, {unknown, known}, {known, known}};
  const EncodedCorpus corpus(pairs, testing::equal_vocabularies(1000));
  // It throws for tokens that its vocabulary does not have.
  const std::unique_ptr<Tokenizer> words = parse_word_vocabulary("a\t3\nb\t2\nc\t1\n", "words");
  StreamOptions options{.batch_tokens = 4, .seed = 5};
  const auto failing = [&](bool ahead) {
    options.word_dropout = std::make_shared<const WordDropout>(*words, 1e-9);
    BatchStream stream(corpus, options);
    BatchAhead batches(stream, 1, ahead);
    StreamPosition position;
    for (int i = 0; i < 4; ++i) {
      try {
        position = batches.take(position).end;
      } catch (const std::out_of_range&) {
        return i;
      }
      const BatchAhead::Building next(batches);  // does not throw
    }
    return 4;
  };
  CHECK(failing(false) < 4);
  CHECK(failing(true) == failing(false));
}
