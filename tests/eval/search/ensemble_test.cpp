// Ensembles: equal to the single model for equal members, and to the mean of their distributions.
#include "eval/search/ensemble.h"

#include <cmath>
#include <limits>

#include "eval/metrics/chrf.h"
#include "eval/metrics/text_score.h"
#include "eval/tasks/forced_decoding.h"
#include "eval/tasks/minimum_bayes_risk.h"
#include "eval/tasks/parser.h"
#include "eval/tasks/translator.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/scopes.h"
#include "tests/support/word_tokenizers.h"

using namespace attn;

namespace {

using testing::word_tokenizers;

VocabularySizes sizes() {
  return {word_tokenizers().source->size(), word_tokenizers().target->size()};
}

std::shared_ptr<Seq2SeqModel> transformer(uint64_t seed, int64_t max_positions = 1024) {
  TransformerConfig config = testing::small_model();
  config.embedding_sharing = EmbeddingSharing::decoder;
  config.max_positions = max_positions;
  if (max_positions < 1024) config.position = Position::learned;
  torch::manual_seed(seed);
  return make_model(config, sizes());
}

std::shared_ptr<Seq2SeqModel> recurrent(uint64_t seed) {
  RecurrentConfig config;
  config.d_model = 16;
  config.hidden = 12;
  config.embedding_sharing = EmbeddingSharing::decoder;
  torch::manual_seed(seed);
  return make_model(config, sizes());
}

SearchConfig search(EnsembleMean mean) {
  SearchConfig config;
  config.beam = 3;
  config.nbest = 2;
  config.extra_length = 10;
  config.ensemble = mean;
  return config;
}

const std::vector<std::string> lines = {"a b c", "", "d e f g h a b", "c", "b b b x d"};
constexpr EnsembleMean kMeans[] = {EnsembleMean::probability, EnsembleMean::log_probability};

}  // namespace

TEST_CASE("a model twice is the model") {
  for (const auto& model : {transformer(4), recurrent(5)}) {
    for (const EnsembleMean mean : kMeans) {
      const Ensemble twice({model.get(), model.get()}, mean);
      const auto one = Translator(*model, word_tokenizers(), search(mean)).translate(lines);
      const auto two = Translator(twice, word_tokenizers(), search(mean)).translate(lines);
      for (size_t i = 0; i < lines.size(); ++i) {
        for (size_t k = 0; k < 2; ++k) {
          CHECK(two[i][k].text == one[i][k].text);
          if (std::isfinite(one[i][k].score)) {
            CHECK(two[i][k].score == Approx(one[i][k].score).margin(1e-5));
          }
        }
      }
      const std::vector<std::vector<std::string>> sentences = {{"a", "b", "x"}, {"c"}, {"d", "e"}};
      Parser alone(*model, word_tokenizers(), TreeForm::tags, search(mean));
      Parser both(twice, word_tokenizers(), TreeForm::tags, search(mean));
      const auto trees = alone.parse(sentences), same = both.parse(sentences);
      for (size_t i = 0; i < sentences.size(); ++i) {
        CHECK(write_tree(same[i][0].tree) == write_tree(trees[i][0].tree));
      }
      CHECK(both.counts().repaired == 0);
    }
  }
}

TEST_CASE("the mean of logits is that of probabilities or of log-probabilities") {
  torch::manual_seed(3);
  const std::vector<torch::Tensor> logits = {torch::randn({5, 7}) * 3, torch::randn({5, 7}),
                                             torch::randn({5, 7}) + 10};
  torch::Tensor arithmetic = torch::zeros({5, 7}), geometric = torch::ones({5, 7});
  for (const torch::Tensor& one : logits) {
    arithmetic += one.softmax(-1) / 3;
    geometric *= one.softmax(-1).pow(1.0 / 3);
  }
  geometric = geometric / geometric.sum(-1, true);
  CHECK(torch::allclose(mean_logits(logits, EnsembleMean::probability).softmax(-1), arithmetic));
  CHECK(torch::allclose(mean_logits(logits, EnsembleMean::log_probability).softmax(-1), geometric));
  const std::vector<torch::Tensor> turned = {logits[2], logits[0], logits[1]};
  CHECK(torch::allclose(mean_logits(turned, EnsembleMean::probability),
                        mean_logits(logits, EnsembleMean::probability), 1e-5, 1e-5));
}

TEST_CASE("search over an ensemble scores as its forced decoding, for mixed architectures") {
  const auto first = transformer(4), second = transformer(8), third = recurrent(5);
  for (const EnsembleMean mean : kMeans) {
    const Ensemble mixed({first.get(), third.get(), second.get()}, mean);
    for (const int threads : {1, 3}) {
      const testing::Threads scope(threads);
      const auto found = Translator(mixed, word_tokenizers(), search(mean)).translate(lines);
      for (size_t i = 0; i < lines.size(); ++i) {
        const Translation& best = found[i].front();
        if (lines[i].empty() || !best.finished) continue;
        const ScoredPair pair = scored_pair(word_tokenizers(), lines[i], best.text);
        const auto forced = forced_log_probs(mixed, word_tokenizers(), std::span(&pair, 1));
        CHECK(total_log_prob(forced[0]) == Approx(best.log_prob).margin(1e-4));
      }
    }
  }
}

TEST_CASE("an ensemble has the smallest of its members' limits and one vocabulary") {
  const auto unlimited = transformer(4), limited = transformer(4, 12), more = transformer(4, 20);
  CHECK(!Ensemble(*unlimited).max_length());
  const Ensemble all({unlimited.get(), more.get(), limited.get()}, EnsembleMean::probability);
  CHECK(all.max_length() == 12);
  const std::vector<std::string> long_line = {"a b c d e f g h a b c d e f g h"};
  Translator translator(all, word_tokenizers(), search(EnsembleMean::probability));
  CHECK(translator.translate(long_line).size() == 1);
  CHECK(translator.counts().cut == 1);
  CHECK(translator.counts().first_cut == 1);
  const auto other = make_model(testing::small_model(), {30, 30});
  CHECK_THROWS(Ensemble({unlimited.get(), other.get()}, EnsembleMean::probability));
  CHECK_THROWS(Ensemble({}, EnsembleMean::probability));
}

TEST_CASE("translations that end at the length limit are counted, missing and blank ones are not") {
  const auto model = transformer(4);
  for (const int64_t extra : {0, 10}) {
    SearchConfig config = search(EnsembleMean::probability);
    config.beam = 1;
    config.nbest = 1;
    config.extra_length = extra;
    Translator translator(Ensemble(*model), word_tokenizers(), config);
    int64_t unfinished = 0;
    for (const auto& nbest : translator.translate(lines)) unfinished += !nbest.front().finished;
    CHECK(translator.counts().unfinished == unfinished);
    CHECK(unfinished < std::ssize(lines));
    CHECK(translator.counts().lines == std::ssize(lines));
  }
}

TEST_CASE("forced log-probabilities do not depend on the batch and are distributions") {
  const auto model = transformer(6);
  std::vector<ScoredPair> pairs;
  const std::vector<std::string> targets = {"S DT /S", "", "NN VB NN", "S NP DT NN /NP VB /S", "x"};
  for (size_t i = 0; i < lines.size(); ++i) {
    pairs.push_back(scored_pair(word_tokenizers(), lines[i], targets[i]));
  }
  const auto together = forced_log_probs(*model, word_tokenizers(), pairs);
  const auto apart = forced_log_probs(*model, word_tokenizers(), pairs, 1);
  for (size_t i = 0; i < pairs.size(); ++i) {
    REQUIRE(together[i].size() == pairs[i].target.size() + 1);
    for (size_t t = 0; t < together[i].size(); ++t) {
      CHECK(together[i][t] == Approx(apart[i][t]).margin(1e-5));
    }
  }
  double sum = 0.0;  // of the first token, over the vocabulary; EOS is the end of an empty target
  for (int32_t token = 0; token < word_tokenizers().target->size(); ++token) {
    const bool end = token == word_tokenizers().target->eos();
    const ScoredPair pair{pairs[0].source, end ? std::vector<int32_t>() : std::vector{token}};
    sum += std::exp(forced_log_probs(*model, word_tokenizers(), std::span(&pair, 1))[0][0]);
  }
  CHECK(sum == Approx(1.0).margin(1e-4));
  CHECK_THROWS_WITH(require_fits(pairs[2], 5, {"en:3", "de:3"}), testing::contains("3: 8 tokens"));
  ScoredPair pair;
  pair.source.resize(9), pair.target.resize(2);
  CHECK_THROWS_WITH(require_fits(pair, 5, {"en:3", "de:3"}),
                    testing::contains("en:3: 10 tokens with EOS"));
  std::swap(pair.source, pair.target);
  CHECK_THROWS_WITH(require_fits(pair, 5, {"en:3", "de:3"}),
                    testing::contains("de:3: 10 tokens with EOS"));
  CHECK_NOTHROW(require_fits(pair, 10, {"en:3", "de:3"}));
}

TEST_CASE("samples of a model are the same by any number of threads and any chunks") {
  const auto model = transformer(4);
  SearchConfig config = search(EnsembleMean::probability);
  config.method = SearchMethod::sample;
  config.samples = 6;
  config.top_p = 0.9;
  config.temperature = 0.8;
  std::vector<std::string> many;
  for (int i = 0; i < 8; ++i) many.insert(many.end(), lines.begin(), lines.end());
  std::vector<std::vector<Translation>> first;
  for (const int threads : {1, 3}) {
    const testing::Threads scope(threads);
    Translator translator(*model, word_tokenizers(), config, {.batch_tokens = 300});
    const auto found = translator.translate(many);
    if (first.empty()) first = found;
    Translator in_chunks(*model, word_tokenizers(), config);
    for (size_t at = 0; at < many.size(); at += 4) {
      const auto part = in_chunks.translate(std::span(many).subspan(at, 4));
      for (size_t i = 0; i < 4; ++i) {
        CHECK(part[i][0].text == first[at + i][0].text);
        CHECK(found[at + i][0].text == first[at + i][0].text);
      }
    }
  }
  CHECK(first[0][0].text != first[5][0].text);  // the same line again has other samples
  // A constraint holds for samples, too.
  config.known_tags = 0;
  Parser parser(*model, word_tokenizers(), TreeForm::tags, config);
  const std::vector<std::vector<std::string>> sentences = {{"a", "b", "x"}, {"c"}, {"d", "e"}};
  for (const auto& nbest : parser.parse(sentences)) CHECK(!nbest[0].repaired);
  CHECK(parser.counts().repaired == 0);
}

namespace {

std::vector<Translation> list(const std::vector<std::string>& texts) {
  std::vector<Translation> out;
  for (const std::string& text : texts) {
    out.push_back({.text = text, .score = -1.0 - static_cast<double>(out.size())});
  }
  return out;
}

}  // namespace

TEST_CASE("the choice of minimum risk is the hypothesis closest to all others") {
  for (const RiskUtility utility : {RiskUtility::chrf, RiskUtility::bleu}) {
    auto hypotheses = list({"completely different words here now", "a dog runs in the park today",
                            "the dog runs in the park today", "the dog runs in a park today"});
    rank_by_expected_utility(hypotheses, utility);
    CHECK(hypotheses.front().text == "the dog runs in the park today");
    CHECK(hypotheses.back().text == "completely different words here now");
    for (size_t i = 1; i < 4; ++i) CHECK(hypotheses[i].score <= hypotheses[i - 1].score);
  }
}

TEST_CASE(
    "expected utility is the mean over all hypotheses, repeated ones as often as they occur") {
  auto hypotheses = list({"one two three", "one two four", "one two three"});
  const std::vector<std::string> reference = {"one two four"};
  const double similar = sentence_score("one two three", reference, ChrfOptions{}).score;
  rank_by_expected_utility(hypotheses, RiskUtility::chrf);
  CHECK(hypotheses[0].text == "one two three");
  CHECK(hypotheses[0].score == Approx((100 + similar + 100) / 3));
  CHECK(hypotheses[0].log_prob == 0.0);
  CHECK(hypotheses[1].text == "one two four");
  REQUIRE(hypotheses.size() == 3);  // n-best lists keep their length
  CHECK(hypotheses[2].text.empty());
  CHECK(hypotheses[2].score == -std::numeric_limits<double>::infinity());
}

TEST_CASE("missing hypotheses do not count") {
  auto hypotheses = list({"one two", "", ""});
  for (size_t i = 1; i < 3; ++i) hypotheses[i].score = -std::numeric_limits<double>::infinity();
  rank_by_expected_utility(hypotheses, RiskUtility::chrf);
  CHECK(hypotheses[0].score == Approx(100));
  CHECK(!std::isfinite(hypotheses[1].score));
}
