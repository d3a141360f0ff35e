#include "eval/translator.h"

#include <algorithm>
#include <numeric>

#include "eval/transformer_decoder.h"

namespace attn {

Translator::Translator(Transformer model, Tokenizers tokenizers, SearchConfig search,
                       TranslatorLimits limits)
    : model_(model), tokenizers_(std::move(tokenizers)), search_(search), limits_(limits) {
  search_.validate();
  // A learned position table ends somewhere; sinusoids don't.
  const ModelConfig& config = model_->config();
  if (config.position == Position::learned) {
    limits_.max_source = std::min(limits_.max_source, config.max_positions - 1);
  }
}

std::vector<std::vector<int32_t>> Translator::encode(std::span<const std::string> lines) {
  std::vector<std::vector<int32_t>> sources;
  for (const std::string& line : lines) {
    sources.push_back(tokenizers_.source->encode(line));
    auto& tokens = sources.back();
    if (static_cast<int64_t>(tokens.size()) > limits_.max_source) {
      tokens.resize(static_cast<size_t>(limits_.max_source));
      ++cut_lines_;
    }
  }
  return sources;
}

std::vector<std::vector<Translation>> Translator::translate(std::span<const std::string> lines) {
  const torch::NoGradGuard no_grad;
  model_->eval();
  const std::vector<std::vector<int32_t>> sources = encode(lines);
  std::vector<std::vector<Translation>> out(lines.size());
  std::vector<size_t> order;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].empty()) {
      out[i] = {Translation{.finished = true}};
    } else {
      order.push_back(i);
    }
  }
  // Longest first: neighbours in length end at about the same time.
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].size() > sources[b].size(); });
  for (size_t begin = 0; begin < order.size();) {
    const auto longest = static_cast<int64_t>(sources[order[begin]].size()) + 1;
    const int64_t fit = std::max<int64_t>(1, limits_.batch_tokens / (longest * search_.beam));
    const size_t end = std::min(order.size(), begin + static_cast<size_t>(fit));
    translate_batch(sources, std::span(order).subspan(begin, end - begin), out);
    begin = end;
  }
  return out;
}

void Translator::translate_batch(std::span<const std::vector<int32_t>> sources,
                                 std::span<const size_t> members,
                                 std::vector<std::vector<Translation>>& out) {
  const Tokenizer& target = *tokenizers_.target;
  std::vector<int64_t> tokens, lengths, inputs;
  for (const size_t i : members) {
    tokens.insert(tokens.end(), sources[i].begin(), sources[i].end());
    tokens.push_back(tokenizers_.source->eos());
    lengths.push_back(static_cast<int64_t>(sources[i].size()) + 1);
    inputs.push_back(static_cast<int64_t>(sources[i].size()));
  }
  SearchConfig search = search_;
  if (model_->config().position == Position::learned) {
    const int64_t longest = *std::max_element(inputs.begin(), inputs.end());
    search.extra_length = std::min(search.extra_length, model_->config().max_positions - longest);
  }
  TransformerStepDecoder decoder(model_, token_sequences(tokens, lengths, model_->device()));
  const auto found = beam_search(decoder, inputs, search, target.bos(), target.eos());
  for (size_t b = 0; b < members.size(); ++b) {
    for (const Hypothesis& hypothesis : found[b]) {
      out[members[b]].push_back({.text = target.decode(hypothesis.tokens),
                                 .score = hypothesis.score,
                                 .log_prob = hypothesis.log_prob,
                                 .finished = hypothesis.finished});
    }
  }
}

}  // namespace attn
