// Beam search and sampling with a model's session.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/tokenizer.h"
#include "eval/search/beam_search.h"
#include "eval/search/token_constraint.h"
#include "model/seq2seq.h"

namespace attn {

/// The hypotheses of each sentence of a batch, by config.method: beam_search or sample_search with
/// the session's logits. With a constraint forbidden tokens get -inf; allowed ones keep the model's
/// log-probability or, within a group (TokenConstraint::groups), are renormalized; samples have no
/// groups. `streams` as in sample_search. Throws Stopped at the next step after a signal.
std::vector<std::vector<Hypothesis>> search_session(
    DecodeSession& session, TokenConstraint* constraint, std::span<const int64_t> source_lengths,
    std::span<const uint64_t> streams, const SearchConfig& config, const Tokenizer& target);

}  // namespace attn
