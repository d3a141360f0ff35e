// From words to trees: tokenizer, encoder, beam search, and the tree that its symbols describe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/parsing/tree.h"
#include "data/tokenizer.h"
#include "eval/search/beam_search.h"
#include "eval/search/config.h"
#include "eval/search/tree_constraint.h"
#include "model/seq2seq.h"

namespace attn {

/// One tree of a sentence: its leaves are exactly the sentence's words.
struct Parse {
  Tree tree;           ///< under an outer bracket TOP; "()" for a sentence without words
  double score = 0.0;  ///< length-penalised log-probability
  double log_prob = 0.0;
  bool repaired = false;  ///< the symbols were no well-formed tree over the words
};

/// What Parser does in one batch and with hopeless input.
struct ParserLimits {
  int64_t batch_tokens = 4096;  ///< sentences × longest source × beam, at most, in one batch
  int64_t max_source = 1024;    ///< of a longer sentence the model sees so many tokens
  int64_t max_words = 512;      ///< it parses so many words; further ones go to the root, tagged XX
};

/// What became of the sentences so far.
struct ParserCounts {
  int64_t sentences = 0;
  int64_t repaired = 0;  ///< whose best output was malformed: repaired by rebuild_tree's rule
  int64_t cut = 0;       ///< that were longer than the limits
};

/// Throws DataError where search.known_tags needs the tags of training and there are none.
void require_known_tags(const SearchConfig& search, const Tokenizers& tokenizers);

class Parser {
 public:
  /// Parses with the model's weights as they are now; the model must outlive this. `form` is that
  /// of the trees that the model was trained on. Throws ConfigError for a bad search config and
  /// DataError for a target vocabulary that is not of trees.
  Parser(Seq2SeqModel& model, Tokenizers tokenizers, TreeForm form, const SearchConfig& search,
         ParserLimits limits = {});

  /// Exactly search.nbest trees of every sentence, in their order; those that search did not find
  /// are flat, with score -inf. Words are taken as they are: round brackets in
  /// them must be escaped.
  std::vector<std::vector<Parse>> parse(std::span<const std::vector<std::string>> sentences);

  const ParserLimits& limits() const { return limits_; }
  const ParserCounts& counts() const { return counts_; }

 private:
  /// A sentence cut to the limits.
  struct Input {
    std::vector<std::string> words, rest;
    std::vector<int32_t> tokens;
  };
  Input prepare(const std::vector<std::string>& sentence);
  bool knows_tags() const;
  /// For each word the leaves that it had in training, empty where it was not seen often enough.
  std::vector<TokenMask> known_leaves(const std::vector<std::string>& words) const;
  Parse build(const Input& input, const Hypothesis& hypothesis) const;

  Seq2SeqModel& model_;
  Tokenizers tokenizers_;
  TreeVocabulary vocabulary_;
  SearchConfig search_;
  ParserLimits limits_;
  std::shared_ptr<const InferenceModel> inference_;
  ParserCounts counts_;
};

}  // namespace attn
