#include "data/batch.h"

#include <algorithm>
#include <optional>

namespace attn {
namespace {

void append(TokenRows& rows, const TokenView& tokens, std::optional<int64_t> start,
            std::optional<int64_t> end) {
  if (start) rows.tokens.push_back(*start);
  tokens.append_to(rows.tokens);
  if (end) rows.tokens.push_back(*end);
  rows.lengths.push_back(tokens.size() + 1);
}

void copy_features(const TokenRows& from, int64_t begin, int64_t length, TokenRows& to) {
  const auto end_of = [&](int64_t row) {
    return row < 0 ? 0 : from.feature_ends[static_cast<size_t>(row)];
  };
  const int64_t first = end_of(begin - 1);
  const auto there = static_cast<int64_t>(to.features.size());
  to.features.insert(to.features.end(), from.features.begin() + first,
                     from.features.begin() + end_of(begin + length - 1));
  for (int64_t row = begin; row < begin + length; ++row) {
    to.feature_ends.push_back(end_of(row) - first + there);
  }
}

void copy(const TokenRows& from, int64_t begin, int64_t length, TokenRows& to) {
  const auto first = from.tokens.begin() + begin;
  to.tokens.insert(to.tokens.end(), first, first + length);
  if (!from.feature_ends.empty()) copy_features(from, begin, length, to);
  to.lengths.push_back(length);
}

}  // namespace

void append_features(std::span<const int32_t> features, TokenRows& rows) {
  for (const int32_t id : features) {
    if (id > 0) {
      rows.features.push_back(id - 1);
    } else {
      rows.feature_ends.push_back(static_cast<int64_t>(rows.features.size()));
    }
  }
}

void append_source(std::span<const int32_t> tokens, int64_t eos, std::span<const int32_t> features,
                   TokenRows& rows) {
  rows.tokens.insert(rows.tokens.end(), tokens.begin(), tokens.end());
  rows.tokens.push_back(eos);
  rows.lengths.push_back(static_cast<int64_t>(tokens.size()) + 1);
  append_features(features, rows);
}

int64_t TokenRows::longest() const {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

std::vector<Batch> split(const Batch& batch, int64_t parts) {
  const int64_t tokens = batch.source_tokens + batch.target_tokens;
  std::vector<Batch> out;
  int64_t source = 0, target = 0;  // tokens before the sentence
  for (int64_t i = 0; i < batch.sentences; ++i) {
    // Starts a new part once the previous ones have their share of tokens.
    const bool next = (source + target) * parts >= static_cast<int64_t>(out.size()) * tokens;
    if (next) out.emplace_back();
    Batch& part = out.back();
    const int64_t source_length = batch.source.lengths[i],
                  target_length = batch.target_in.lengths[i];
    copy(batch.source, source, source_length, part.source);
    copy(batch.target_in, target, target_length, part.target_in);
    copy(batch.target_out, target, target_length, part.target_out);
    part.ids.push_back(batch.ids[i]);
    ++part.sentences;
    part.source_tokens += source_length;
    part.target_tokens += target_length;
    source += source_length;
    target += target_length;
  }
  return out;
}

Batch make_batch(const EncodedCorpus& corpus, std::span<const uint32_t> ids) {
  const Vocabularies& vocabularies = corpus.vocabularies();
  Batch batch;
  for (const uint32_t id : ids) {
    append(batch.source, corpus.source(id), {}, vocabularies.source_eos);
    if (vocabularies.source_features > 0) {
      append_features(corpus.features(id).to_vector(), batch.source);
    }
    append(batch.target_in, corpus.target(id), vocabularies.target_bos, {});
    append(batch.target_out, corpus.target(id), {}, vocabularies.target_eos);
    batch.ids.push_back(id);
  }
  batch.sentences = static_cast<int64_t>(ids.size());
  batch.source_tokens = static_cast<int64_t>(batch.source.tokens.size());
  batch.target_tokens = static_cast<int64_t>(batch.target_out.tokens.size());
  return batch;
}

}  // namespace attn
