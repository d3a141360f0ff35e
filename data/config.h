// What is trained on and how it is cut into tokens and batches: the "data" part of an experiment.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.h"

namespace attn {

/// What the model is to learn from: parallel text, or sentences and their constituency trees
/// (section 6.3).
enum class Task { translation, parsing };

template <>
struct EnumNames<Task> {
  static constexpr auto values = std::to_array<EnumName<Task>>({
      {Task::translation, "translation"},
      {Task::parsing, "parsing"},
  });
};

/// How a tree is written as a sequence: data/parsing/linearize.h.
enum class TreeForm { tags, xx };

template <>
struct EnumNames<TreeForm> {
  static constexpr auto values = std::to_array<EnumName<TreeForm>>({
      {TreeForm::tags, "tags"},
      {TreeForm::xx, "xx"},
  });
};

/// How text becomes tokens: SentencePiece with one of its two algorithms, or blank-separated words.
enum class TokenizerKind { bpe, unigram, words };

template <>
struct EnumNames<TokenizerKind> {
  static constexpr auto values = std::to_array<EnumName<TokenizerKind>>({
      {TokenizerKind::bpe, "bpe"},
      {TokenizerKind::unigram, "unigram"},
      {TokenizerKind::words, "words"},
  });
};

/// What SentencePiece does to characters first. `identity` keeps already tokenised text as it is.
enum class Normalization { identity, nmt_nfkc, nfkc };

template <>
struct EnumNames<Normalization> {
  static constexpr auto values = std::to_array<EnumName<Normalization>>({
      {Normalization::identity, "identity"},
      {Normalization::nmt_nfkc, "nmt_nfkc"},
      {Normalization::nfkc, "nfkc"},
  });
};

/// The "data" object of an experiment: a union tagged by `task` and by `tokenizer`. A text file's
/// name is prefix + "." + language; for parsing `train` and `valid` are files of bracketed trees,
/// named in full.
struct DataConfig {
  static constexpr std::array kTags = {"task", "tokenizer"};

  Task task = Task::translation;
  std::string train;
  std::string valid;
  std::string source;
  std::string target;
  TokenizerKind tokenizer = TokenizerKind::bpe;
  int64_t vocab_size = 37000;
  bool shared_vocabulary = true;
  std::string source_model;
  std::string target_model;
  double character_coverage = 1.0;
  Normalization normalization = Normalization::identity;
  int64_t min_frequency = 1;
  bool unknown_classes = false;
  int64_t max_length = 256;
  int64_t batch_tokens = 4096;
  std::string cache;
  TreeForm tree_form = TreeForm::tags;
  bool drop_traces = true;
  bool drop_functions = true;
  std::vector<std::string> silver;
  double silver_ratio = 0.0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("task", self.task, "translation of parallel text, or parsing into constituency trees");
    visit("train", self.train,
          "training text: path before \".<language>\", one sentence a line; parsing: a file of "
          "bracketed trees");
    visit("valid", self.valid, "validation text, named the same way");
    if (self.task == Task::translation) {
      visit("source", self.source, "language translated from: the suffix of its files");
      visit("target", self.target, "language translated into: the suffix of its files");
    }
    visit("tokenizer", self.tokenizer, "subwords by byte pairs or a unigram model, or whole words");
    visit("vocab_size", self.vocab_size, "tokens in a vocabulary, at most (section 5.1: 37,000)");
    visit("shared_vocabulary", self.shared_vocabulary, "one vocabulary learnt from both sides");
    visit("source_model", self.source_model,
          "a SentencePiece model or word list to use; empty: learn one from the training text");
    visit("target_model", self.target_model, "the same for the target; shared: leave empty");
    if (self.tokenizer == TokenizerKind::words) {
      visit("min_frequency", self.min_frequency, "rarer words become unknown");
      visit("unknown_classes", self.unknown_classes,
            "unknown words are told apart by their shape and ending");
    } else {
      visit("character_coverage", self.character_coverage,
            "share of all characters in the text that get a token of their own");
      visit("normalization", self.normalization, "Unicode normalization before the tokenizer");
    }
    visit("max_length", self.max_length,
          "training pairs with a side of more tokens, the end sign included, are left out");
    visit("batch_tokens", self.batch_tokens,
          "tokens in a batch, at most: sentences x longest side, the end sign included");
    visit("cache", self.cache, "directory of encoded texts; empty: in the run directory");
    if (self.task == Task::parsing) {
      visit("tree_form", self.tree_form,
            "trees with part-of-speech tags, or with XX for each (Vinyals et al. 2015)");
      visit("drop_traces", self.drop_traces, "leave out -NONE- leaves of the trees");
      visit("drop_functions", self.drop_functions, "NP-SBJ-1 becomes NP");
      visit("silver", self.silver, "files of automatic trees, mixed with data.train");
      visit("silver_ratio", self.silver_ratio,
            "silver trees for each gold one; the fewer are repeated (0: every tree once)");
    }
  }
  bool operator==(const DataConfig&) const = default;

  /// Throws ConfigError with the first field that cannot be right. Files are not looked at.
  void validate() const;
  /// Throws ConfigError unless the training text and, for translation, both languages are named (a
  /// config that is only looked at, or that is a base for others, need not), and DataError naming
  /// the first file that is not there.
  void require_texts() const;
};

/// The path of one side's text: `prefix` + "." + `language`.
std::string text_path(const std::string& prefix, const std::string& language);

}  // namespace attn
