#include "data/synthetic/grammar.h"

#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "data/synthetic/grammar_english.h"
#include "data/synthetic/grammar_german.h"
#include "data/synthetic/grammar_sampler.h"

namespace attn {
namespace {

constexpr size_t kMinTokens = 4;
constexpr size_t kMaxTokens = 20;

void check_count(int64_t count, std::string_view what) {
  if (count < 0) {
    throw ConfigError("cannot generate " + std::to_string(count) + " pairs for " +
                      std::string(what) + "; give 0 or more");
  }
}

// Pairs of a separate random stream whose English sentence is not among `known`.
std::vector<GeneratedPair> new_pairs(uint64_t seed, uint64_t stream, int64_t count,
                                     std::unordered_set<std::string>& known) {
  constexpr int kPatience = 10000;
  PairGenerator generator(seed, stream);
  std::vector<GeneratedPair> pairs;
  int repeats = 0;
  while (static_cast<int64_t>(pairs.size()) < count) {
    GeneratedPair pair = generator.next();
    if (known.insert(pair.english).second) {
      pairs.push_back(std::move(pair));
      repeats = 0;
    } else if (++repeats == kPatience) {
      throw ConfigError("the built-in grammar yields too few new sentences after " +
                        std::to_string(known.size()) + "; generate fewer pairs");
    }
  }
  return pairs;
}

}  // namespace

PairGenerator::PairGenerator(uint64_t seed, uint64_t stream)
    : sampler_(std::make_unique<grammar::SentenceSampler>(seed, stream)) {}
PairGenerator::~PairGenerator() = default;
PairGenerator::PairGenerator(PairGenerator&&) noexcept = default;
PairGenerator& PairGenerator::operator=(PairGenerator&&) noexcept = default;

GeneratedPair PairGenerator::next() {
  while (true) {
    const grammar::Sentence sentence = sampler_->sentence();
    Tree tree = grammar::english_tree(sentence);
    const std::vector<std::string> english = tree_words(tree);
    if (english.size() < kMinTokens || english.size() > kMaxTokens) continue;
    return {joined(english), joined(grammar::german_words(sentence)), std::move(tree)};
  }
}

std::vector<GeneratedPair> generate_pairs(uint64_t seed, int64_t count) {
  check_count(count, "the corpus");
  PairGenerator generator(seed);
  std::vector<GeneratedPair> pairs;
  for (int64_t i = 0; i < count; ++i) pairs.push_back(generator.next());
  return pairs;
}

GeneratedCorpus generate_corpus(uint64_t seed, const GeneratedSizes& sizes) {
  check_count(sizes.train, "train");
  check_count(sizes.valid, "valid");
  check_count(sizes.test, "test");
  std::unordered_set<std::string> known;
  GeneratedCorpus corpus;
  corpus.test = new_pairs(seed, 3, sizes.test, known);
  corpus.valid = new_pairs(seed, 2, sizes.valid, known);
  corpus.train = new_pairs(seed, 1, sizes.train, known);
  return corpus;
}

}  // namespace attn
