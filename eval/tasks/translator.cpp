#include "eval/tasks/translator.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/stop_signal.h"
#include "eval/search/batched_search.h"

namespace attn {
namespace {

/// Forces the first tokens of each sentence's outputs. Their log-probabilities are part of the
/// output's, as those of tokens that search chose.
class PrefixConstraint : public TokenConstraint {
 public:
  /// `prefixes`: of each sentence of the batch, without BOS; may be empty. `classes`: size of the
  /// vocabulary.
  PrefixConstraint(std::vector<std::vector<int32_t>> prefixes, int64_t classes)
      : prefixes_(std::move(prefixes)),
        none_(static_cast<size_t>((classes + 63) / 64), 0),
        all_(none_.size(), ~uint64_t{0}) {}

  std::span<const uint64_t* const> step(const StepRows& rows) override {
    rows_.clear();
    forced_.assign(rows.sentences.size(), {});
    for (size_t row = 0; row < forced_.size(); ++row) {
      const std::vector<int32_t>& prefix = prefixes_[static_cast<size_t>(rows.sentences[row])];
      if (length_ < prefix.size()) {
        forced_[row] = none_;
        allow(forced_[row], prefix[length_]);
      }
      rows_.push_back(length_ < prefix.size() ? forced_[row].data() : all_.data());
    }
    ++length_;
    return rows_;
  }

 private:
  std::vector<std::vector<int32_t>> prefixes_;
  TokenMask none_, all_;
  std::vector<TokenMask> forced_;  // of each row at the current step, within its prefix
  std::vector<const uint64_t*> rows_;
  size_t length_ = 0;  // of the outputs before the next step
};

/// Replaces line breaks, which a byte-level vocabulary can produce.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

Translator::Translator(Ensemble models, Tokenizers tokenizers, SearchConfig search,
                       TranslatorLimits limits)
    : models_(std::move(models)),
      tokenizers_(std::move(tokenizers)),
      search_(search),
      limits_(limits) {
  search_.validate();
  if (const auto positions = models_.max_length()) {
    limits_.max_source = std::min(limits_.max_source, *positions - 1);
  }
  inference_ = models_.inference(search_);
}

std::vector<std::vector<int32_t>> Translator::encode(std::span<const std::string> lines,
                                                     BatchedSearch& how) {
  std::vector<std::vector<int32_t>> sources;
  for (const std::string& line : lines) {
    throw_if_stopped();
    SourceSentence source = encode_source(tokenizers_, line, limits_.max_source);
    unknown_.add(*tokenizers_.source, source.tokens);
    sources.push_back(std::move(source.tokens));
    if (tokenizers_.features) how.features.push_back(std::move(source.features));
    const auto number = lines_ + static_cast<int64_t>(sources.size());
    if (source.truncated && cut_lines_++ == 0) first_cut_line_ = number;
  }
  return sources;
}

/// The nbest best of the hypotheses found, by score or by expected utility.
std::vector<Translation> Translator::chosen(std::vector<Hypothesis> found) const {
  fill_nbest(found, search_.nbest);
  std::vector<Translation> out;
  for (const Hypothesis& hypothesis : found) {
    out.push_back({.text = on_one_line(tokenizers_.target->decode(hypothesis.tokens)),
                   .score = hypothesis.score,
                   .log_prob = hypothesis.log_prob,
                   .finished = hypothesis.finished});
  }
  if (search_.mbr != RiskUtility::none) rank_by_expected_utility(out, search_.mbr);
  out.resize(static_cast<size_t>(search_.nbest));
  return out;
}

// Constrains the search to outputs with these beginnings.
void Translator::force(std::span<const std::string> prefixes, BatchedSearch& how) const {
  std::vector<std::vector<int32_t>> forced;
  for (const std::string& prefix : prefixes) {
    forced.push_back(tokenizers_.target->encode(prefix));
    const auto length = static_cast<int64_t>(forced.back().size()) + 1;
    if (const auto positions = models_.max_length(); positions && length > *positions) {
      throw DataError("the prefix of line " +
                      std::to_string(lines_ + static_cast<int64_t>(forced.size())) + " has " +
                      std::to_string(length - 1) + " tokens; the model has " +
                      std::to_string(*positions) + " positions");
    }
    how.min_limits.push_back(length);
  }
  how.constraint = [forced = std::move(forced),
                    classes = tokenizers_.target->size()](const SearchBatch& batch) {
    std::vector<std::vector<int32_t>> own;
    for (const size_t i : batch.members) own.push_back(forced.at(i));
    return std::make_unique<PrefixConstraint>(std::move(own), classes);
  };
}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> lines,
                                                            std::span<const std::string> prefixes) {
  SearchConfig search = search_;
  if (search.mbr != RiskUtility::none) search.nbest = search.hypotheses();
  BatchedSearch how{.search = search,
                    .inference = inference_,
                    .batch_tokens = limits_.batch_tokens,
                    .first_sentence = lines_};
  const std::vector<std::vector<int32_t>> sources = encode(lines, how);
  if (!prefixes.empty()) force(prefixes, how);
  auto found = batched_search(models_, tokenizers_, sources, how);
  lines_ += static_cast<int64_t>(lines.size());
  std::vector<std::vector<Translation>> out(lines.size());
  const auto choose = [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      if (sources[i].empty()) found[i] = {Hypothesis{.finished = true}};
      out[i] = chosen(std::move(found[i]));
    }
  };
  // The utilities of all pairs take as long as search.
  const bool parallel = search_.mbr != RiskUtility::none;
  const auto count = static_cast<int64_t>(lines.size());
  parallel ? at::parallel_for(0, count, 4, choose) : choose(0, count);
  // A missing translation, of score -inf, is not one that was cut.
  unfinished_ += std::ranges::count_if(out, [](const std::vector<Translation>& nbest) {
    return !nbest.front().finished && std::isfinite(nbest.front().score);
  });
  return out;
}

}  // namespace attn
