// Search over many sentences: results must not depend on threads, batches or the decoder.
#include "eval/search/batched_search.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/format.h"
#include "base/random.h"
#include "base/stop_signal.h"
#include "eval/tasks/parser.h"
#include "eval/tasks/translator.h"
#include "kernels/ops/linear.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/scopes.h"
#include "tests/support/skip.h"
#include "tests/support/word_tokenizers.h"

using namespace attn;

namespace {

using testing::word_tokenizers;

std::shared_ptr<Seq2SeqModel> model(Position position = Position::sinusoidal,
                                    int64_t max_positions = 1024) {
  TransformerConfig config = testing::small_model();
  config.embedding_sharing = EmbeddingSharing::decoder;
  config.position = position;
  config.max_positions = max_positions;
  torch::manual_seed(4);
  return make_model(config, {word_tokenizers().source->size(), word_tokenizers().target->size()});
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
  for (const auto& sentence : sentences(count)) lines.push_back(joined(sentence));
  return lines;
}

SearchConfig search() {
  SearchConfig config;
  config.beam = 3;
  config.extra_length = 20;
  return config;
}

// Outputs go on to their limits.
class NoEnd : public TokenConstraint {
 public:
  NoEnd() : mask_(1, ~(uint64_t{1} << word_tokenizers().target->eos())) {}
  std::span<const uint64_t* const> step(const StepRows& rows) override {
    masks_.assign(rows.parents.size(), mask_.data());
    return masks_;
  }

 private:
  TokenMask mask_;
  std::vector<const uint64_t*> masks_;
};

}  // namespace

TEST_CASE("translations are the same by any number of threads and either decoder") {
  SearchConfig config = search();
  config.weights = GENERATE(WeightType::fp32, WeightType::bf16);
  const bool bf16 = config.weights == WeightType::bf16;
  if (bf16 && !testing::machine_has(has_bf16_tiles(), "tiles of bf16")) return;
  std::vector<std::string> lines = text_lines(45);
  lines[7] = "";  // translates to nothing, at its place
  std::vector<std::vector<std::vector<Translation>>> all;
  for (const Kernels kernels : {Kernels::off, Kernels::automatic}) {
    if (bf16 && kernels == Kernels::off) continue;
    const testing::KernelUse use(kernels);
    for (const int threads : {1, 2, 5}) {
      const testing::Threads scope(threads);
      // A new one each time: its threads are the first to meet the encoder's weights.
      all.push_back(
          Translator(*model(), word_tokenizers(), config, {.batch_tokens = 200}).translate(lines));
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

TEST_CASE("every line has exactly nbest translations and trees") {
  for (const Kernels kernels : {Kernels::off, Kernels::automatic}) {
    const testing::KernelUse use(kernels);
    SearchConfig config = search();
    config.nbest = config.beam = 7;
    config.extra_length = 0;  // few continuations
    const std::vector<std::string> lines = {"a b", "", "c", "  "};
    const auto translated = Translator(*model(), word_tokenizers(), config).translate(lines);
    REQUIRE(translated.size() == lines.size());
    for (const auto& nbest : translated) {
      REQUIRE(nbest.size() == 7);
      for (size_t i = 1; i < nbest.size(); ++i) CHECK(nbest[i].score <= nbest[i - 1].score);
      CHECK(nbest.front().score > -std::numeric_limits<double>::infinity());
    }
    CHECK(translated[1].front().score == 0);
    CHECK(translated[1].back().text.empty());
    CHECK(translated[1].back().score == -std::numeric_limits<double>::infinity());

    const std::vector<std::vector<std::string>> sentences = {{"a", "b"}, {}, {"c"}};
    const auto parsed =
        Parser(*model(), word_tokenizers(), TreeForm::tags, config).parse(sentences);
    REQUIRE(parsed.size() == sentences.size());
    for (size_t i = 0; i < parsed.size(); ++i) {
      REQUIRE(parsed[i].size() == 7);
      for (const Parse& parse : parsed[i]) CHECK(tree_words(parse.tree) == sentences[i]);
    }
    CHECK(parsed[2].back().score == -std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("a translation is one line, whatever the vocabulary's pieces hold") {
  class Lines : public Tokenizer {
   public:
    int64_t size() const override { return inner_.size(); }
    std::vector<int32_t> encode(std::string_view text) const override {
      return inner_.encode(text);
    }
    std::string decode(std::span<const int32_t>) const override { return "a\nb\r\nc"; }
    std::string piece(int64_t id) const override { return inner_.piece(id); }
    int32_t bos() const override { return inner_.bos(); }
    int32_t eos() const override { return inner_.eos(); }
    int32_t unk() const override { return inner_.unk(); }
    const std::string& serialized() const override { return inner_.serialized(); }

   private:
    const Tokenizer& inner_ = *word_tokenizers().target;
  };
  const Tokenizers made{word_tokenizers().source, std::make_shared<Lines>()};
  const std::vector<std::string> lines = {"a b"};
  const auto translating = model();
  Translator translator(*translating, made, search());
  CHECK(translator.translate(lines).front().front().text == "a b  c");
}

TEST_CASE("no output has BOS") {
  const int32_t bos = word_tokenizers().target->bos();
  const std::vector<std::vector<int32_t>> sources(4, {4, 5, 6});
  const auto searched = model();
  for (const SearchMethod method : {SearchMethod::beam, SearchMethod::sample}) {
    BatchedSearch how{.search = search()};
    how.search.method = method;
    if (method == SearchMethod::sample) how.search.samples = how.search.nbest = 50;
    how.inference = searched->inference(how.search.weights);
    for (const auto& nbest : batched_search(*searched, word_tokenizers(), sources, how)) {
      for (const Hypothesis& one : nbest) {
        CHECK(std::find(one.tokens.begin(), one.tokens.end(), bos) == one.tokens.end());
      }
    }
  }
}

TEST_CASE("a sentence's output and its limit do not depend on the others in its batch") {
  std::vector<std::vector<int32_t>> sources;
  for (const std::string& line : text_lines(12))
    sources.push_back(word_tokenizers().source->encode(line));
  sources.emplace_back(23, 5);  // with eos all that the positions allow
  for (const Kernels kernels : {Kernels::off, Kernels::automatic}) {
    const testing::KernelUse use(kernels);
    for (const Position position : {Position::learned, Position::sinusoidal}) {
      const auto learned = model(position, 24);
      std::map<size_t, int64_t> limits;
      const auto found = [&](std::span<const std::vector<int32_t>> of, size_t first) {
        BatchedSearch how{.search = search()};
        how.inference = learned->inference(how.search.weights);
        how.constraint = [&](const SearchBatch& batch) -> std::unique_ptr<TokenConstraint> {
          for (size_t b = 0; b < batch.members.size(); ++b) {
            const int64_t limit = batch.limits[b];
            CHECK(limits.try_emplace(first + batch.members[b], limit).first->second == limit);
          }
          return std::make_unique<NoEnd>();
        };
        return batched_search(*learned, word_tokenizers(), of, how);
      };
      const testing::Threads scope(1);
      const auto together = found(sources, 0);
      for (size_t i = 0; i < sources.size(); ++i) {
        CAPTURE(i, enum_name(position));
        const auto alone = found(std::span(sources).subspan(i, 1), i);
        CHECK(alone[0].front().tokens == together[i].front().tokens);
        CHECK(alone[0].front().score == Approx(together[i].front().score).margin(1e-4));
        const auto length = static_cast<int64_t>(sources[i].size());
        CHECK(limits[i] ==
              (position == Position::learned ? std::min<int64_t>(24, length + 20) : length + 20));
        CHECK(static_cast<int64_t>(together[i].front().tokens.size()) == limits[i]);
      }
    }
  }
}

TEST_CASE("constrained parses are the same, and well-formed") {
  const auto input = sentences(40);
  std::vector<std::vector<std::vector<Parse>>> all;
  for (const Kernels kernels : {Kernels::off, Kernels::automatic}) {
    const testing::KernelUse use(kernels);
    for (const int threads : {1, 3}) {
      const testing::Threads scope(threads);
      const auto parsing = model();
      Parser parser(*parsing, word_tokenizers(), TreeForm::tags, search(), {.batch_tokens = 150});
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

TEST_CASE("an error in one thread's search reaches the caller, and a stop signal ends them all") {
  const testing::Threads scope(3);
  const std::vector<std::vector<int32_t>> sources(40, {4, 5, 6});
  const auto searched = model();
  BatchedSearch how{.search = search()};
  how.inference = searched->inference();
  stop_signal = SIGTERM;  // noticed at the next position
  CHECK_THROWS_AS(batched_search(*searched, word_tokenizers(), sources, how), Stopped);
  stop_signal = 0;
  how.constraint = [](const SearchBatch&) -> std::unique_ptr<TokenConstraint> {
    throw std::runtime_error("no constraint");
  };
  CHECK_THROWS_WITH(batched_search(*searched, word_tokenizers(), sources, how), "no constraint");
}
