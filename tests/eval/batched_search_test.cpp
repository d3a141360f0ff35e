// Search over many sentences: the answer must not depend on threads, batches or the decoder's path.
#include "eval/batched_search.h"

#include "base/random.h"
#include "data/word_vocabulary.h"
#include "eval/parser.h"
#include "eval/translator.h"
#include "kernels/bf16.h"
#include "tests/support/catch.h"
#include "tests/support/hardware.h"
#include "tests/support/models.h"
#include "tests/support/threads.h"

using namespace attn;

namespace {

std::shared_ptr<const Tokenizer> words(const std::string& list) {
  std::string lines;
  for (const char c : list) lines += c == ' ' ? '\n' : c;
  return parse_word_vocabulary(lines + "\n", "words");
}

const Tokenizers& tokenizers() {
  static const Tokenizers both{words("a b c d e f g h"), words("S /S NP /NP VP /VP DT NN VB")};
  return both;
}

std::shared_ptr<Seq2SeqModel> model() {
  TransformerConfig config = testing::small_model();
  config.embedding_sharing = EmbeddingSharing::decoder;
  torch::manual_seed(4);
  return make_model(config, {tokenizers().source->size(), tokenizers().target->size()});
}

std::vector<std::vector<std::string>> sentences(uint64_t count) {
  Random random(6);
  std::vector<std::vector<std::string>> out(count);
  for (auto& sentence : out) {
    sentence.resize(1 + random.below(9));
    for (std::string& word : sentence) word = std::string(1, "abcdefghx"[random.below(9)]);
  }
  return out;
}

std::vector<std::string> text_lines(uint64_t count) {
  std::vector<std::string> lines;
  for (const auto& sentence : sentences(count)) {
    std::string line;
    for (const std::string& word : sentence) line += (line.empty() ? "" : " ") + word;
    lines.push_back(line);
  }
  return lines;
}

SearchConfig search(StepPath decoder) {
  SearchConfig config;
  config.beam = 3;
  config.extra_length = 20;
  config.decoder = decoder;
  return config;
}

}  // namespace

TEST_CASE("translations are the same by any number of threads and either decoder") {
  std::vector<std::string> lines = text_lines(45);
  lines[7] = "";  // translates to nothing, at its place
  std::vector<std::vector<std::vector<Translation>>> all;
  for (const StepPath path : {StepPath::libtorch, StepPath::packed}) {
    for (const int threads : {1, 2, 5}) {
      const testing::Threads scope(threads);
      all.push_back(
          Translator(*model(), tokenizers(), search(path), {.batch_tokens = 200}).translate(lines));
    }
  }
  for (const auto& other : all) {
    REQUIRE(other.size() == lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      CAPTURE(i);
      CHECK(other[i].front().text == all.front()[i].front().text);
      CHECK(other[i].front().score == Approx(all.front()[i].front().score).margin(1e-4));
    }
    CHECK(other[7].front().text.empty());
  }
}

TEST_CASE("translations in bf16 are the same by any number of threads") {
  if (!testing::machine_has(has_bf16_tiles(), "tiles of bf16")) return;
  const std::vector<std::string> lines = text_lines(45);
  SearchConfig bf16 = search(StepPath::packed);
  bf16.weights = WeightType::bf16;
  std::vector<std::vector<Translation>> first;
  for (const int threads : {1, 2, 5}) {
    const testing::Threads scope(threads);
    // A new one each time: its threads are the first to meet the encoder's weights.
    const auto found =
        Translator(*model(), tokenizers(), bf16, {.batch_tokens = 200}).translate(lines);
    if (first.empty()) first = found;
    for (size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i, threads);
      CHECK(found[i].front().text == first[i].front().text);
      CHECK(found[i].front().score == Approx(first[i].front().score).margin(1e-4));
    }
  }
}

TEST_CASE("parses under the constraint are the same too, and whole") {
  const auto input = sentences(40);
  std::vector<std::vector<std::vector<Parse>>> all;
  for (const StepPath path : {StepPath::libtorch, StepPath::packed}) {
    for (const int threads : {1, 3}) {
      const testing::Threads scope(threads);
      const auto parsing = model();
      Parser parser(*parsing, tokenizers(), TreeForm::tags, search(path), {.batch_tokens = 150});
      all.push_back(parser.parse(input));
      CHECK(parser.counts().repaired == 0);
    }
  }
  for (const auto& other : all) {
    REQUIRE(other.size() == input.size());
    for (size_t i = 0; i < input.size(); ++i) {
      CHECK(tree_words(other[i].front().tree) == input[i]);
      CHECK(write_tree(other[i].front().tree) == write_tree(all.front()[i].front().tree));
    }
  }
}

TEST_CASE("an error in one thread's search reaches the caller") {
  const testing::Threads scope(3);
  const auto broken = [](const SearchBatch&) -> std::unique_ptr<TokenConstraint> {
    throw std::runtime_error("no constraint");
  };
  const std::vector<std::vector<int32_t>> sources(40, {4, 5, 6});
  const auto searched = model();
  CHECK_THROWS_WITH(batched_search(*searched, tokenizers(), sources,
                                   {.search = search(StepPath::packed),
                                    .inference = searched->inference({}),
                                    .least_limits = {},
                                    .constraint = broken}),
                    "no constraint");
}
