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

int64_t longest(const TokenRows& rows) {
  return rows.lengths.empty() ? 0 : *std::max_element(rows.lengths.begin(), rows.lengths.end());
}

}  // namespace

double Batch::padding() const {
  const int64_t filled = sentences * (longest(source) + longest(target_out));
  if (filled == 0) return 0;
  return 1 - static_cast<double>(source_tokens + target_tokens) / static_cast<double>(filled);
}

Batch make_batch(const EncodedCorpus& corpus, std::span<const uint32_t> ids) {
  const Vocabularies& signs = corpus.vocabularies();
  Batch batch;
  for (const uint32_t id : ids) {
    append(batch.source, corpus.source(id), {}, signs.source_eos);
    append(batch.target_in, corpus.target(id), signs.target_bos, {});
    append(batch.target_out, corpus.target(id), {}, signs.target_eos);
    batch.ids.push_back(id);
  }
  batch.sentences = static_cast<int64_t>(ids.size());
  batch.source_tokens = static_cast<int64_t>(batch.source.tokens.size());
  batch.target_tokens = static_cast<int64_t>(batch.target_out.tokens.size());
  return batch;
}

}  // namespace attn
