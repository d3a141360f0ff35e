// Parsing pipeline: tokenizer, encoder, search, tree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/parsing/tree.h"
#include "data/tokenizer.h"
#include "eval/search/batched_search.h"
#include "eval/search/beam_search.h"
#include "eval/search/config.h"
#include "eval/search/ensemble.h"
#include "eval/search/tree_constraint.h"

namespace attn {

/// One tree of a sentence: its leaves are exactly the sentence's words.
struct Parse {
  Tree tree;           ///< under an outer bracket TOP; "()" for a sentence without words
  double score = 0.0;  ///< length-penalized log-probability; with search.mbr=f1 expected F1 (0-100)
  double log_prob = 0.0;  ///< with search.mbr=f1 that of the likeliest hypothesis
  bool repaired = false;  ///< the output was not a well-formed tree over the words
  bool finished = true;   ///< false: it ends at the length limit, or has no room for a constituent
};

/// Limits of batches and inputs.
struct ParserLimits {
  int64_t batch_tokens = 1024;  ///< maximum of sentences × longest source × hypotheses per batch
  int64_t max_source = 1024;    ///< tokens that the encoder reads of a sentence
  int64_t max_words = 512;      ///< further words are attached to the root, tagged XX
};

/// Counts of sentences so far.
struct ParserCounts {
  int64_t sentences = 0;
  int64_t repaired = 0;    ///< with a malformed best output, repaired by rebuild_tree
  int64_t cut = 0;         ///< truncated in either way
  int64_t cut_words = 0;   ///< sentences of more than max_words words
  int64_t cut_tokens = 0;  ///< sentences whose parsed words are more than max_source tokens
  int64_t first_cut_words = 0, first_cut_tokens = 0;  ///< the first of these, from 1; 0: none
  int64_t unfinished = 0;                             ///< whose best output is not finished
  UnknownTokens unknown;                              ///< of the source
};

/// Throws DataError if search.known_tags is set but the run has no tag dictionary.
void require_known_tags(const SearchConfig& search, const Tokenizers& tokenizers);

class Parser {
 public:
  /// Uses the current weights of the models, which must outlive this. `form` is the linearization
  /// of the training trees. Throws ConfigError for an invalid search config and DataError for a
  /// target vocabulary without tree symbols.
  Parser(Ensemble models, Tokenizers tokenizers, TreeForm form, const SearchConfig& search,
         ParserLimits limits = {});

  /// Exactly search.nbest trees per sentence, in order; missing ones are flat, with score -inf.
  /// Round brackets in words must be escaped.
  std::vector<std::vector<Parse>> parse(std::span<const std::vector<std::string>> sentences);

  const ParserLimits& limits() const { return limits_; }
  const ParserCounts& counts() const { return counts_; }

 private:
  /// A truncated sentence.
  struct Input {
    std::vector<std::string> words, rest;
    SourceSentence source;  ///< the words; moved into the search by parse()
  };
  /// `number`: among all sentences so far, from 1.
  Input prepare(const std::vector<std::string>& sentence, int64_t number);
  /// For each word the leaves seen with it in training; empty if it was not seen often enough.
  std::vector<TokenMask> known_leaves(const std::vector<std::string>& words) const;
  Parse build(const Input& input, const Hypothesis& hypothesis) const;

  Ensemble models_;
  Tokenizers tokenizers_;
  TreeVocabulary vocabulary_;
  SearchConfig search_;
  ParserLimits limits_;
  std::shared_ptr<const InferenceModel> inference_;
  ParserCounts counts_;
};

}  // namespace attn
