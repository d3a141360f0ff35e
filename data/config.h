// Corpora, tokenizer and batching: the "data" section of an experiment.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/enum_names.h"

namespace attn {

/// Translation of parallel text, or constituency parsing (section 6.3).
enum class Task { translation, parsing };

template <>
struct EnumNames<Task> {
  static constexpr auto values = std::to_array<EnumName<Task>>({
      {Task::translation, "translation"},
      {Task::parsing, "parsing"},
  });
};

/// Linearization of trees: data/parsing/linearize.h.
enum class TreeForm { tags, xx, in_order };

template <>
struct EnumNames<TreeForm> {
  static constexpr auto values = std::to_array<EnumName<TreeForm>>({
      {TreeForm::tags, "tags"},
      {TreeForm::xx, "xx"},
      {TreeForm::in_order, "in_order"},
  });
};

/// SentencePiece with one of its two algorithms, or words separated by white space.
enum class TokenizerKind { bpe, unigram, words };

template <>
struct EnumNames<TokenizerKind> {
  static constexpr auto values = std::to_array<EnumName<TokenizerKind>>({
      {TokenizerKind::bpe, "bpe"},
      {TokenizerKind::unigram, "unigram"},
      {TokenizerKind::words, "words"},
  });
};

/// Normalization in SentencePiece; `identity` for tokenized text.
enum class Normalization { identity, nmt_nfkc, nfkc };

template <>
struct EnumNames<Normalization> {
  static constexpr auto values = std::to_array<EnumName<Normalization>>({
      {Normalization::identity, "identity"},
      {Normalization::nmt_nfkc, "nmt_nfkc"},
      {Normalization::nfkc, "nfkc"},
  });
};

/// A further training text: a treebank, or parallel text.
struct TextSource {
  std::string text;
  std::string tag;
  double ratio = 0.0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("text", self.text, "the text, in the same form as data.train");
    visit("tag", self.tag, "tag of its sentences; required if data.tag is set");
    visit("ratio", self.ratio,
          "sentences of this text per sentence of data.train, by repeating the smaller one; 0: "
          "every sentence once");
  }
  bool operator==(const TextSource&) const = default;
};

/// The "data" object of an experiment: a union tagged by `task` and `tokenizer`. The name of a text
/// file is prefix + "." + language; for parsing, `train` and `valid` are full paths of files of
/// bracketed trees.
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
  std::vector<TextSource> sources;
  std::string tag;
  bool word_classes = false;
  int64_t word_pieces = 0;
  double word_dropout = 0.0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("task", self.task, "translation of parallel text, or constituency parsing");
    visit("train", self.train,
          "training text: the path without \".<language>\", one sentence per line; parsing: a file "
          "of bracketed trees");
    visit("valid", self.valid, "validation text, in the same form as train");
    if (self.task == Task::translation) {
      visit("source", self.source, "source language: the suffix of its files");
      visit("target", self.target, "target language: the suffix of its files");
    }
    visit("tokenizer", self.tokenizer, "SentencePiece BPE or unigram model, or whole words");
    visit("vocab_size", self.vocab_size, "maximum vocabulary size (section 5.1: 37,000)");
    visit("shared_vocabulary", self.shared_vocabulary, "joint vocabulary of source and target");
    visit("source_model", self.source_model,
          "existing SentencePiece model or word list; empty: trained on the training text");
    visit("target_model", self.target_model,
          "the same for the target; empty with shared_vocabulary");
    if (self.tokenizer == TokenizerKind::words) {
      visit("min_frequency", self.min_frequency, "words seen less often become <unk>");
      visit("unknown_classes", self.unknown_classes,
            "unknown words get one of several <unk> tokens, by word shape and suffix");
      visit("word_classes", self.word_classes,
            "not in the paper: add the embeddings of each word's shape and suffix classes to the "
            "encoder input");
      visit("word_pieces", self.word_pieces,
            "not in the paper: add the embeddings of each word's subword pieces to the encoder "
            "input, "
            "from a BPE vocabulary of this size (Suzuki et al. 2018: 1,000); 0: none");
      visit("word_dropout", self.word_dropout,
            "not in the paper: z > 0 replaces a source word of count c by its unknown token with "
            "probability z / (z + c) in training");
    } else {
      visit("character_coverage", self.character_coverage,
            "SentencePiece's character_coverage: share of the characters that get a token");
      visit("normalization", self.normalization, "Unicode normalization before tokenization");
    }
    visit("max_length", self.max_length,
          "training pairs with more tokens on either side, EOS included, are dropped");
    visit("batch_tokens", self.batch_tokens,
          "batch size in tokens: sentences × longest side, EOS included");
    visit("cache", self.cache, "directory of the encoded corpora; empty: the run directory");
    visit("sources", self.sources, "further training texts: a list of {text, tag, ratio}");
    visit("tag", self.tag,
          "tag of data.train, data.silver and, by default, of the text to evaluate or decode; its "
          "embedding is added to the encoder input. Empty: no tags");
    if (self.task == Task::parsing) {
      visit(
          "tree_form", self.tree_form,
          "linearization with part-of-speech tags, with XX for every tag (Vinyals et al. 2015), or "
          "with tags and each label after its first child (in_order)");
      visit("drop_traces", self.drop_traces, "remove traces (-NONE- leaves) from the trees");
      visit("drop_functions", self.drop_functions,
            "remove function tags and indices: NP-SBJ-1 becomes NP");
      visit("silver", self.silver, "files of automatically parsed trees, mixed with data.train");
      visit("silver_ratio", self.silver_ratio,
            "silver trees per gold tree, by repeating the smaller set; 0: every tree once");
    }
  }
  bool operator==(const DataConfig&) const = default;

  /// Throws ConfigError for the first invalid option. Does not access files.
  void validate() const;
  /// Whether the encoder input has embeddings besides the token's (data/source_features.h).
  bool has_features() const { return !tag.empty() || word_classes || word_pieces > 0; }
  /// For training: throws ConfigError unless the training text and, for translation, both languages
  /// are set, and DataError for the first missing or empty file.
  void require_texts() const;

 private:
  void require_sources() const;
};

/// File name suffix of the tags of a mixture's lines.
inline constexpr const char* kTagsSuffix = "tags";

/// The path of one side: `prefix` + "." + `language`.
std::string text_path(const std::string& prefix, const std::string& language);

/// The files of a text: source and target of a prefix, or the file of trees.
std::vector<std::filesystem::path> text_files(const DataConfig& config, const std::string& text);

/// Throws DataError unless both sides of a parallel text, or for parsing the file of trees, exist
/// and are not empty. `option` is named in the message.
void require_text(const std::string& option, const std::string& prefix, const DataConfig& config);

}  // namespace attn
