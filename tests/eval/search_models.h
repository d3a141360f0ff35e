// Hand-made distributions for the tests of beam search, a decoder over them, and two slow searches
// to compare with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "eval/search/beam_search.h"
#include "eval/search/token_constraint.h"
#include "tests/support/catch.h"

namespace attn::testing {

constexpr int32_t bos = 100;
constexpr int32_t eos = 0;
using Tokens = std::vector<int32_t>;

/// Log-probabilities of the tokens 0 (eos) .. vocabulary - 1 after a prefix: any function of the
/// two.
struct Model {
  virtual ~Model() = default;
  virtual std::vector<float> log_probs(int64_t sentence, const Tokens& prefix) const = 0;
};

inline std::vector<float> log_softmax(const std::vector<double>& logits) {
  double sum = 0.0;
  for (const double logit : logits) sum += std::exp(logit);
  std::vector<float> out;
  for (const double logit : logits) out.push_back(static_cast<float>(logit - std::log(sum)));
  return out;
}

/// Differs by the whole prefix; `seeds` has one number a sentence.
struct RandomModel : Model {
  std::vector<uint64_t> seeds;
  int64_t vocabulary = 4;
  double sharpness = 3.0;
  double eos_bonus = 0.0;

  explicit RandomModel(std::vector<uint64_t> s) : seeds(std::move(s)) {}
  std::vector<float> log_probs(int64_t sentence, const Tokens& prefix) const override {
    uint64_t hash = mix64(seeds[sentence] + 1);
    for (const int32_t token : prefix) hash = mix64(hash * 31 + static_cast<uint64_t>(token));
    Random random(hash);
    std::vector<double> logits;
    for (int64_t i = 0; i < vocabulary; ++i) logits.push_back(sharpness * random.uniform());
    logits[eos] += eos_bonus;
    return log_softmax(logits);
  }
};

struct FunctionModel : Model {
  std::function<std::vector<float>(int64_t, const Tokens&)> function;
  explicit FunctionModel(std::function<std::vector<float>(int64_t, const Tokens&)> f)
      : function(std::move(f)) {}
  std::vector<float> log_probs(int64_t sentence, const Tokens& prefix) const override {
    return function(sentence, prefix);
  }
};

/// Keeps the rows' prefixes, as a real decoder keeps its cache, and checks what search promises it.
/// With a constraint, tokens that it does not allow have no probability.
class PrefixDecoder : public StepDecoder {
 public:
  explicit PrefixDecoder(const Model& model, TokenConstraint* constraint = nullptr,
                         int32_t first = bos, int32_t end = eos)
      : model_(model), constraint_(constraint), first_(first), end_(end) {}
  void step(const StepRows& rows, int64_t candidates, Candidates& out) override {
    const auto& [parents, tokens, sentences] = rows;
    REQUIRE(parents.size() == tokens.size());
    REQUIRE(parents.size() == sentences.size());
    REQUIRE(std::is_sorted(sentences.begin(), sentences.end()));
    std::vector<Tokens> prefixes;
    for (size_t i = 0; i < parents.size(); ++i) {
      if (rows_per_step.empty()) {
        REQUIRE(parents[i] == static_cast<int64_t>(i));
        REQUIRE(sentences[i] == static_cast<int64_t>(i));
        REQUIRE(tokens[i] == first_);
        prefixes.emplace_back();
        continue;
      }
      REQUIRE(sentences[i] == sentences_.at(parents[i]));
      REQUIRE(tokens[i] != end_);
      prefixes.push_back(prefixes_.at(parents[i]));
      prefixes.back().push_back(tokens[i]);
    }
    prefixes_ = std::move(prefixes);
    sentences_.assign(sentences.begin(), sentences.end());
    rows_per_step.push_back(static_cast<int64_t>(parents.size()));
    std::span<const uint64_t* const> masks;
    if (constraint_ != nullptr) masks = constraint_->step(rows);
    fill(candidates, masks, out);
  }
  std::vector<int64_t> rows_per_step;

 private:
  void fill(int64_t candidates, std::span<const uint64_t* const> masks, Candidates& out) const {
    out.tokens.clear();
    out.log_probs.clear();
    for (size_t row = 0; row < prefixes_.size(); ++row) {
      auto log_probs = model_.log_probs(sentences_[row], prefixes_[row]);
      for (size_t t = 0; !masks.empty() && t < log_probs.size(); ++t) {
        const bool allowed = (masks[row][t / 64] >> (t % 64) & 1) != 0;
        if (!allowed) log_probs[t] = -std::numeric_limits<float>::infinity();
      }
      Tokens order;
      for (size_t i = 0; i < log_probs.size(); ++i) order.push_back(static_cast<int32_t>(i));
      // NaN first, where a top-k puts it.
      const auto key = [&](int32_t token) {
        return std::isnan(log_probs[token]) ? 1.0F : log_probs[token];
      };
      std::stable_sort(order.begin(), order.end(),
                       [&](int32_t a, int32_t b) { return key(a) > key(b); });
      out.per_row = std::min<int64_t>(candidates, static_cast<int64_t>(order.size()));
      for (int64_t k = 0; k < out.per_row; ++k) {
        out.tokens.push_back(order[k]);
        out.log_probs.push_back(log_probs[order[k]]);
      }
    }
  }

  const Model& model_;
  TokenConstraint* constraint_;
  int32_t first_, end_;
  std::vector<Tokens> prefixes_;
  std::vector<int64_t> sentences_;
};

inline std::vector<std::vector<Hypothesis>> search(const Model& model,
                                                   const std::vector<int64_t>& lengths,
                                                   const SearchConfig& config) {
  PrefixDecoder decoder(model);
  return beam_search(decoder, lengths, config, bos, eos);
}

/// The same hypotheses, with sums up to `tolerance`.
inline void check_equal(const std::vector<Hypothesis>& found,
                        const std::vector<Hypothesis>& expected, double tolerance = 0.0) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].tokens == expected[i].tokens);
    CHECK(std::abs(found[i].log_prob - expected[i].log_prob) <= tolerance);
    CHECK(std::abs(found[i].score - expected[i].score) <= tolerance);
    CHECK(found[i].finished == expected[i].finished);
  }
}

inline void sort_by_score(std::vector<Hypothesis>& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
}

/// Every output of at most `limit` tokens that ends by eos or at the limit.
inline void enumerate(const Model& model, const SearchConfig& config, int64_t sentence,
                      int64_t limit, const Hypothesis& prefix, std::vector<Hypothesis>& out) {
  const auto log_probs = model.log_probs(sentence, prefix.tokens);
  const auto length = static_cast<int64_t>(prefix.tokens.size()) + 1;
  for (size_t token = 0; token < log_probs.size(); ++token) {
    Hypothesis next = prefix;
    next.log_prob += log_probs[token];
    if (static_cast<int32_t>(token) == eos) {
      next.score = next.log_prob / length_penalty(config, length);
      next.finished = true;
      out.push_back(next);
      continue;
    }
    next.tokens.push_back(static_cast<int32_t>(token));
    if (length < limit) {
      enumerate(model, config, sentence, limit, next, out);
    } else {
      next.score = next.log_prob / length_penalty(config, length);
      out.push_back(next);
    }
  }
}

inline std::vector<Hypothesis> all_outputs(const Model& model, const SearchConfig& config,
                                           int64_t sentence, int64_t limit) {
  std::vector<Hypothesis> out;
  enumerate(model, config, sentence, limit, {}, out);
  sort_by_score(out);
  return out;
}

/// Textbook beam search without early stopping and with copies of whole prefixes, for comparison.
inline std::vector<Hypothesis> unhurried_search(const Model& model, const SearchConfig& config,
                                                int64_t sentence, int64_t limit) {
  std::vector<Hypothesis> live(1), finished;
  for (int64_t length = 1; length <= limit; ++length) {
    std::vector<Hypothesis> options;
    for (const Hypothesis& prefix : live) {
      const auto log_probs = model.log_probs(sentence, prefix.tokens);
      for (size_t token = 0; token < log_probs.size(); ++token) {
        Hypothesis next = prefix;
        next.tokens.push_back(static_cast<int32_t>(token));
        next.log_prob += log_probs[token];
        options.push_back(next);
      }
    }
    std::stable_sort(options.begin(), options.end(), [](const Hypothesis& a, const Hypothesis& b) {
      return a.log_prob > b.log_prob;
    });
    options.resize(std::min(options.size(), static_cast<size_t>(2 * config.beam)));
    live.clear();
    for (Hypothesis& option : options) {
      option.score = option.log_prob / length_penalty(config, length);
      if (option.tokens.back() == eos) {
        option.tokens.pop_back();
        option.finished = true;
        finished.push_back(option);
      } else if (static_cast<int64_t>(live.size()) < config.beam) {
        live.push_back(option);
      }
    }
  }
  finished.insert(finished.end(), live.begin(), live.end());
  sort_by_score(finished);
  return finished;
}

}  // namespace attn::testing
