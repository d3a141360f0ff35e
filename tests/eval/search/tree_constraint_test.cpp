// Constrained search: for any model, every output is a well-formed tree over exactly the sentence's
// words, and the best such tree is found.
#include "eval/search/tree_constraint.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "tests/eval/search_models.h"
#include "tests/support/catch.h"
#include "tests/support/word_tokenizers.h"

using namespace attn;
using namespace attn::testing;

namespace {

constexpr int32_t kBos = 1;
constexpr int32_t kEos = 2;

std::vector<std::string> pieces(const Tokenizer& tokenizer, const Tokens& tokens) {
  std::vector<std::string> out;
  for (const int32_t token : tokens) out.push_back(tokenizer.piece(token));
  return out;
}

std::vector<std::string> some_words(int64_t count) {
  std::vector<std::string> words;
  for (int64_t i = 0; i < count; ++i) words.push_back("w" + std::to_string(i));
  return words;
}

bool empty_somewhere(const Tree& tree) {
  return !tree.is_leaf() &&
         (tree.children.empty() || std::ranges::any_of(tree.children, empty_somewhere));
}

/// The model's favourites: after any prefix `favourite` is nearly certain.
struct Stubborn : Model {
  int32_t favourite;
  int64_t vocabulary;
  Stubborn(int32_t f, int64_t v) : favourite(f), vocabulary(v) {}
  std::vector<float> log_probs(int64_t, const Tokens&) const override {
    std::vector<double> logits(static_cast<size_t>(vocabulary), 0.0);
    logits[static_cast<size_t>(favourite)] = 30.0;
    return log_softmax(logits);
  }
};

std::vector<std::vector<Hypothesis>> constrained(const Model& model, const Tokenizer& tokenizer,
                                                 TreeForm form, const std::vector<int64_t>& words,
                                                 const SearchConfig& config) {
  const TreeVocabulary vocabulary(tokenizer, form);
  std::vector<int64_t> limits;
  for (const int64_t count : words) limits.push_back(output_limit(count, config));
  TreeConstraint constraint(vocabulary, words, limits);
  PrefixDecoder decoder(model, &constraint, kBos, kEos);
  return beam_search(decoder, words, config, kBos, kEos);
}

const std::string kTags = "S NP /S /NP =NP DT NN X /Y";
const std::string kXx = "(S (NP )S )NP XX";

/// All outputs of at most `limit` tokens that are trees, with their scores.
void enumerate_trees(const Model& model, const Tokenizer& tokenizer, TreeForm form,
                     const SearchConfig& config, int64_t words, int64_t limit,
                     const Hypothesis& prefix, std::vector<Hypothesis>& out) {
  const auto log_probs = model.log_probs(0, prefix.tokens);
  const auto length = static_cast<int64_t>(prefix.tokens.size()) + 1;
  const auto tree = delinearize(pieces(tokenizer, prefix.tokens), some_words(words), form, {"S"});
  if (tree && !empty_somewhere(*tree)) {
    out.push_back({prefix.tokens, prefix.log_prob + log_probs[kEos], 0.0, true});
    out.back().score = out.back().log_prob / length_penalty(config, length);
  }
  if (length >= limit) return;
  for (int32_t token = 3; token < tokenizer.size(); ++token) {
    Hypothesis next = prefix;
    next.log_prob += log_probs[static_cast<size_t>(token)];
    next.tokens.push_back(token);
    enumerate_trees(model, tokenizer, form, config, words, limit, next, out);
  }
}

}  // namespace

TEST_CASE("random models write well-formed trees over exactly the words") {
  for (const TreeForm form : {TreeForm::tags, TreeForm::xx, TreeForm::in_order}) {
    const auto tokenizer = word_tokenizer(form == TreeForm::xx ? kXx : kTags);
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      const std::vector<int64_t> words = {1, 2, 3, 7, 15};
      RandomModel model({seed, seed + 1, seed + 2, seed + 3, seed + 4});
      model.vocabulary = tokenizer->size();
      model.sharpness = 6.0;
      model.eos_bonus = seed % 3 == 0 ? 5.0 : 0.0;
      const SearchConfig config{.beam = 1 + static_cast<int64_t>(seed % 5),
                                .extra_length = 3 + static_cast<int64_t>(seed % 40)};
      const auto found = constrained(model, *tokenizer, form, words, config);
      for (size_t i = 0; i < words.size(); ++i) {
        REQUIRE_FALSE(found[i].empty());
        for (const Hypothesis& hypothesis : found[i]) {
          const auto tree = delinearize(pieces(*tokenizer, hypothesis.tokens), some_words(words[i]),
                                        form, {"S", "NP"});
          REQUIRE(hypothesis.finished);
          REQUIRE(tree);
          REQUIRE_FALSE(empty_somewhere(*tree));
          REQUIRE(static_cast<int64_t>(hypothesis.tokens.size()) + 1 <=
                  output_limit(words[i], config));
        }
      }
    }
  }
}

TEST_CASE("a model that always prefers one symbol still ends with a tree") {
  const auto tokenizer = word_tokenizer(kTags);
  const TreeForm form = GENERATE(TreeForm::tags, TreeForm::in_order);
  for (int32_t favourite = 0; favourite < tokenizer->size(); ++favourite) {
    const Stubborn model(favourite, tokenizer->size());
    for (const int64_t words : {1, 2, 40}) {
      for (const int64_t extra : {3, 4, 5, 50, 300}) {
        CAPTURE(tokenizer->piece(favourite), words, extra);
        const SearchConfig config{.beam = 2, .extra_length = extra};
        const auto found = constrained(model, *tokenizer, form, {words}, config);
        REQUIRE(found[0].front().finished);
        REQUIRE(delinearize(pieces(*tokenizer, found[0].front().tokens), some_words(words), form));
      }
    }
  }
}

TEST_CASE("no constituent is opened if the length limit leaves no room") {
  const auto tokenizer = word_tokenizer(kTags);
  const int32_t open = 3;
  REQUIRE(tokenizer->piece(open) == "S");
  const auto run = TreeConstraint::max_opened;
  const Stubborn model(open, tokenizer->size());
  const auto found = constrained(model, *tokenizer, TreeForm::tags, {1},
                                 {.beam = 1, .alpha = 0.0, .extra_length = 300});
  // As many as may be opened, a leaf, as many closings.
  CHECK(static_cast<int64_t>(found[0].front().tokens.size()) == 2 * run + 1);
}

TEST_CASE("a wide constrained beam finds the best of all trees", "[slow]") {
  const TreeForm form = GENERATE(TreeForm::xx, TreeForm::in_order);
  const auto tokenizer = word_tokenizer(form == TreeForm::xx ? kXx : "S /S NN");
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    RandomModel model({seed});
    model.vocabulary = tokenizer->size();
    for (const int64_t words : {1, 2, 3}) {
      const SearchConfig config{.beam = 4000, .alpha = 0.3, .extra_length = 4, .nbest = 5};
      const auto found = constrained(model, *tokenizer, form, {words}, config);
      std::vector<Hypothesis> all;
      enumerate_trees(model, *tokenizer, form, config, words, words + 4, {}, all);
      sort_by_score(all);
      CAPTURE(seed, words);
      all.resize(std::min<size_t>(all.size(), 5));
      check_equal(found[0], all, 1e-5);
    }
  }
}

TEST_CASE("a vocabulary without tree symbols and a too small limit are rejected") {
  CHECK_THROWS_AS(TreeVocabulary(*word_tokenizer("the dog barks"), TreeForm::tags), DataError);
  CHECK_THROWS_AS(TreeVocabulary(*word_tokenizer(kTags), TreeForm::xx), DataError);
  CHECK_THROWS_AS(TreeVocabulary(*word_tokenizer("S /NP NN"), TreeForm::tags), DataError);
  CHECK_THROWS_AS(TreeVocabulary(*word_tokenizer("(S )S"), TreeForm::xx), DataError);
  const auto tokenizer = word_tokenizer(kXx);
  const TreeVocabulary vocabulary(*tokenizer, TreeForm::xx);
  CHECK_THROWS_AS(TreeConstraint(vocabulary, {5}, {7}), std::invalid_argument);
  CHECK_THROWS_AS(TreeConstraint(vocabulary, {0}, {7}), std::invalid_argument);
  CHECK_NOTHROW(TreeConstraint(vocabulary, {5}, {8}));
}

TEST_CASE("tokens without a counterpart and special tokens are never allowed") {
  const auto tokenizer = word_tokenizer(kTags);  // nothing closes X but as a tag, nothing opens Y
  const TreeVocabulary vocabulary(*tokenizer, TreeForm::tags);
  const auto everywhere = [&](int32_t token) {
    return std::pair(vocabulary.kind(token).has_value(),
                     (vocabulary.mask(true, true, -1)[0] >> token & 1) != 0);
  };
  for (int32_t token = 0; token < 3; ++token) CHECK(everywhere(token) == std::pair(false, false));
  CHECK(everywhere(tokenizer->encode("X").front()) == std::pair(true, true));
  CHECK(vocabulary.labels() == LabelSet{"NP", "S", "Y"});
}

TEST_CASE("words can be restricted to given leaves") {
  const auto tokenizer = word_tokenizer("S /S DT NN VB");
  const TreeVocabulary vocabulary(*tokenizer, TreeForm::tags);
  CHECK(vocabulary.leaf_mask(std::vector<std::string>{"JJ"}).empty());
  const auto only = [&](const std::string& leaf) {
    return vocabulary.leaf_mask(std::vector<std::string>{leaf, "JJ"});
  };
  const Stubborn model(tokenizer->encode("NN").front(), tokenizer->size());
  const SearchConfig config{.beam = 3, .extra_length = 20};
  const std::vector<int64_t> words = {4};
  TreeConstraint constraint(vocabulary, words, {output_limit(4, config)},
                            {{only("DT"), {}, only("VB"), only("NN")}});
  PrefixDecoder decoder(model, &constraint, kBos, kEos);
  const auto found = beam_search(decoder, words, config, kBos, kEos);
  std::vector<std::string> tags = pieces(*tokenizer, found[0][0].tokens);
  REQUIRE(delinearize(tags, some_words(4), TreeForm::tags));
  std::erase_if(tags, [](const std::string& symbol) { return symbol == "S" || symbol == "/S"; });
  CHECK(tags == std::vector<std::string>{"DT", "NN", "VB", "NN"});
}

TEST_CASE("the probability of masked tokens of a group is redistributed within the group") {
  std::vector<float> logits = {0.5F, 1.0F, -2.0F, 3.0F, 0.0F};
  const std::vector<float> before = logits;
  const uint64_t group = 0b01110, allowed = 0b10111;  // token 3 is forbidden, 1 and 2 take its mass
  renormalize(logits, &allowed, &group);
  CHECK(logits[0] == before[0]);
  CHECK(logits[4] == before[4]);
  CHECK(logits[1] - logits[2] == Approx(before[1] - before[2]));
  double sum_before = 0, sum = 0;
  for (size_t t = 0; t < logits.size(); ++t) {
    sum_before += std::exp(before[t]);
    sum += std::exp(logits[t]);
  }
  CHECK(sum == Approx(sum_before).epsilon(1e-5));
  CHECK(std::isinf(logits[3]));
  // Nothing of the group allowed: nothing to move to.
  std::vector<float> same = before;
  const uint64_t others = 0b10001;
  renormalize(same, &others, &group);
  CHECK(same == before);
}
