#include "eval/tasks/translator.h"

#include <algorithm>

#include "eval/search/batched_search.h"

namespace attn {
namespace {

/// Replaces line breaks, which a byte-level vocabulary can produce.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

Translator::Translator(Seq2SeqModel& model, Tokenizers tokenizers, SearchConfig search,
                       TranslatorLimits limits)
    : model_(model), tokenizers_(std::move(tokenizers)), search_(search), limits_(limits) {
  search_.validate();
  if (const auto positions = model_.max_length()) {
    limits_.max_source = std::min(limits_.max_source, *positions - 1);
  }
  inference_ = model_.inference(search_.backend());
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
  const std::vector<std::vector<int32_t>> sources = encode(lines);
  auto found = batched_search(
      model_, tokenizers_, sources,
      {.search = search_, .inference = inference_, .batch_tokens = limits_.batch_tokens});
  std::vector<std::vector<Translation>> out(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    if (sources[i].empty()) found[i] = {Hypothesis{.finished = true}};
    fill_nbest(found[i], search_.nbest);
    for (const Hypothesis& hypothesis : found[i]) {
      out[i].push_back({.text = on_one_line(tokenizers_.target->decode(hypothesis.tokens)),
                        .score = hypothesis.score,
                        .log_prob = hypothesis.log_prob,
                        .finished = hypothesis.finished});
    }
  }
  return out;
}

}  // namespace attn
