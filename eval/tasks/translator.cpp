#include "eval/tasks/translator.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/stop_signal.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "data/sentencepiece.h"
#include "eval/search/batched_search.h"

namespace attn {
namespace {

struct Prefix {
  std::vector<int32_t> tokens;  ///< without BOS
  bool ends_in_word = false;    ///< a subword could continue its last word
};

/// Whether a character can be inside a word, in a script that puts spaces between words: not those
/// of Thai to Burmese, Khmer, Tai, Balinese, Javanese, Chinese and Japanese, nor zero-width ones.
/// U+2581, SentencePiece's space, is a symbol.
bool is_of_word(char32_t c) {
  constexpr std::pair<char32_t, char32_t> kWithoutSpaces[] = {
      {0x0E00, 0x109F}, {0x1780, 0x17FF}, {0x1950, 0x1B7F},   {0x2000, 0x206F},  {0x2E80, 0x312F},
      {0x3190, 0x9FFF}, {0xA000, 0xA4CF}, {0xA980, 0xA9FF},   {0xAA60, 0xAADF},  {0xF900, 0xFAFF},
      {0xFE00, 0xFE0F}, {0xFF66, 0xFF9F}, {0x1B000, 0x1B16F}, {0x20000, 0x3FFFF}};
  return !is_space(c) && !is_symbol(c) && !is_punctuation(c) &&
         std::ranges::none_of(kWithoutSpaces, [c](const auto& range) {
           return c >= range.first && c <= range.second;
         });
}

/// Forces the first tokens of each sentence's outputs. Their log-probabilities are part of the
/// output's, as those of tokens that search chose.
class PrefixConstraint : public TokenConstraint {
 public:
  /// `prefixes`: of each sentence of the batch; may be empty. `next`: the tokens that continue no
  /// word, of the whole vocabulary.
  PrefixConstraint(std::vector<Prefix> prefixes, const TokenMask& next)
      : prefixes_(std::move(prefixes)),
        none_(next.size(), 0),
        all_(next.size(), ~uint64_t{0}),
        next_(next) {}

  std::span<const uint64_t* const> step(const StepRows& rows) override {
    rows_.clear();
    forced_.assign(rows.sentences.size(), {});
    for (size_t row = 0; row < forced_.size(); ++row) {
      const Prefix& prefix = prefixes_[static_cast<size_t>(rows.sentences[row])];
      if (length_ < prefix.tokens.size()) {
        forced_[row] = none_;
        allow(forced_[row], prefix.tokens[length_]);
        rows_.push_back(forced_[row].data());
      } else {
        const bool word_ends = length_ == prefix.tokens.size() && prefix.ends_in_word;
        rows_.push_back((word_ends ? next_ : all_).data());
      }
    }
    ++length_;
    return rows_;
  }

 private:
  std::vector<Prefix> prefixes_;
  TokenMask none_, all_, next_;
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
    counts_.unknown.add(*tokenizers_.source, source.tokens);
    sources.push_back(std::move(source.tokens));
    if (tokenizers_.features) how.features.push_back(std::move(source.features));
    const auto number = counts_.lines + static_cast<int64_t>(sources.size());
    if (source.truncated && counts_.cut++ == 0) counts_.first_cut = number;
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
void Translator::force(std::span<const std::string> prefixes, BatchedSearch& how) {
  const Tokenizer& target = *tokenizers_.target;
  const bool subwords = looks_like_sentencepiece(target.serialized());
  if (new_words_.empty()) {
    new_words_.resize(static_cast<size_t>((target.size() + 63) / 64), 0);
    for (int32_t id = 0; subwords && id < target.size(); ++id) {
      const bool continues = is_of_word(decode_utf8(target.piece(id) + " ").front());
      if (!continues || id == target.eos()) allow(new_words_, id);
    }
  }
  std::vector<Prefix> forced;
  for (const std::string& prefix : prefixes) {
    forced.push_back({.tokens = target.encode(prefix)});
    const auto& tokens = forced.back().tokens;
    const auto last = decode_utf8(subwords && !tokens.empty() ? target.piece(tokens.back()) : "");
    forced.back().ends_in_word = !last.empty() && is_of_word(last.back());
    const auto length = static_cast<int64_t>(forced.back().tokens.size()) + 1;
    if (const auto positions = models_.max_length(); positions && length > *positions) {
      throw DataError("the prefix of line " +
                      std::to_string(counts_.lines + static_cast<int64_t>(forced.size())) +
                      " has " + std::to_string(length - 1) + " tokens; the model has " +
                      std::to_string(*positions) + " positions");
    }
    how.min_limits.push_back(length);
  }
  how.constraint = [this, forced = std::move(forced)](const SearchBatch& batch) {
    std::vector<Prefix> own;
    for (const size_t i : batch.members) own.push_back(forced.at(i));
    return std::make_unique<PrefixConstraint>(std::move(own), new_words_);
  };
}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> lines,
                                                            std::span<const std::string> prefixes) {
  SearchConfig search = search_;
  if (search.mbr != RiskUtility::none) search.nbest = search.hypotheses();
  BatchedSearch how{.search = search,
                    .inference = inference_,
                    .batch_tokens = limits_.batch_tokens,
                    .first_sentence = counts_.lines};
  const std::vector<std::vector<int32_t>> sources = encode(lines, how);
  if (!prefixes.empty()) force(prefixes, how);
  auto found = batched_search(models_, tokenizers_, sources, how);
  counts_.lines += static_cast<int64_t>(lines.size());
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
  counts_.unfinished += std::ranges::count_if(out, [](const std::vector<Translation>& nbest) {
    return !nbest.front().finished && std::isfinite(nbest.front().score);
  });
  return out;
}

}  // namespace attn
