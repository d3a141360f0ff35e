// Labelled bracketing F1 of constituency trees, identical to EVALB (Sekine and Collins), and a
// strict F1 that does not skip any sentence. Parameters: eval/metrics/evalb_parameters.h.
//
// Intended differences from EVALB (the release with "FMeasure" and QUOTE_LABEL):
//   - no limit on words and brackets, no stop at MAX_ERROR;
//   - rows of errors and skipped sentences show the number of gold words, as in EVALB's sample.rsl;
//     the release itself shows 0. The row of a malformed prediction shows no brackets, EVALB's
//     those it could read;
//   - F1 without any brackets is 0, not "nan", and the row of totals is always complete;
//   - white space in a leaf, "(NN dog )", is not an error, and "(NP )" is an empty bracket, not a
//     word.
//
//   const ParseScore score = score_parses(gold_trees, predicted_trees, collins_parameters());
//   score.all.f1(); score.strict.f1(); score.all.errors; score.sentences[i].recall();
//   score.signature
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/parsing/tree.h"
#include "eval/metrics/bootstrap.h"
#include "eval/metrics/evalb_parameters.h"

namespace attn {

/// Bracket counts, with matched brackets counted on the gold and on the predicted side. They differ
/// only in tables by label if EQ_LABEL matches two different labels.
struct BracketCounts {
  int64_t gold = 0, test = 0;
  int64_t matched_gold = 0, matched_test = 0;

  double recall() const;     ///< percent; 0 without gold brackets
  double precision() const;  ///< percent; 0 without predicted brackets
  double f1() const;         ///< percent; 0 when nothing matches
  BracketCounts& operator+=(const BracketCounts& other);
  bool operator==(const BracketCounts&) const = default;
};

/// A row of a table, named by a label, or by a range "11-20" of sentence lengths or span lengths.
struct BracketTableRow {
  std::string name;
  int64_t sentences = 0;  ///< by sentence length only: the valid ones
  BracketCounts counts;
};

/// EVALB's "Stat." column.
enum class ParseStatus : int {
  valid = 0,
  error = 1,    ///< words differ from the gold words (mismatched), or the prediction was malformed
  skipped = 2,  ///< no predicted word is left
};

/// One sentence, as a row of EVALB's table. Unless valid, all counts but length and words are 0.
struct ParseSentenceScore : BracketCounts {
  ParseStatus status = ParseStatus::valid;
  bool malformed = false;    ///< an error for this reason
  std::string problem;       ///< error message: "word 2 is 'was', in gold 'is'"
  int64_t length = 0;        ///< gold words except those of DELETE_LABEL_FOR_LENGTH
  int64_t crossing = 0;      ///< predicted brackets that cross a gold one
  int64_t words = 0;         ///< gold words except those of DELETE_LABEL
  int64_t correct_tags = 0;  ///< correctly tagged ones among these words
  /// Number of brackets for the strict F1, whatever the status; 0 for a malformed prediction.
  int64_t all_gold = 0, all_test = 0;

  double tagging() const;  ///< percent; 0 without words
};

/// EVALB's summary: sums over the valid sentences, and the number of sentences by status. Rates are
/// 0 where EVALB prints nan.
struct ParseTotals : BracketCounts {
  int64_t sentences = 0, errors = 0, skipped = 0;
  int64_t complete = 0;  ///< sentences without a wrong or missing bracket
  int64_t crossing = 0;  ///< brackets
  int64_t no_crossing = 0, two_or_less_crossing = 0;  ///< sentences
  int64_t words = 0, correct_tags = 0;

  int64_t valid() const { return sentences - errors - skipped; }
  double complete_match() const;              ///< percent of valid sentences
  double average_crossing() const;            ///< brackets a valid sentence, not percent
  double no_crossing_share() const;           ///< percent of valid sentences
  double two_or_less_crossing_share() const;  ///< percent of valid sentences
  double tagging() const;                     ///< percent of words
  void add(const ParseSentenceScore& sentence);
};

/// The score of a corpus and its components.
struct ParseScore {
  ParseTotals all;    ///< EVALB's "-- All --"
  ParseTotals up_to;  ///< EVALB's "-- len<=40 --": gold length up to `cutoff_length`
  int64_t cutoff_length = 40;
  int64_t mismatched = 0;  ///< errors because the words differ from the gold words
  int64_t malformed = 0;   ///< errors because the prediction was no tree; errors = the two together
  /// The strict score: sentences with an error and skipped ones, which EVALB ignores, count as
  /// without matches. Recall and precision are matched brackets of valid sentences / brackets of
  /// all sentences (predicted ones as far as they could be read). Equal to EVALB without such
  /// sentences.
  BracketCounts strict;
  std::vector<ParseSentenceScore> sentences;  ///< in their order
  // Over valid sentences only, so that each table sums to `all`.
  std::vector<BracketTableRow> by_label;   ///< most gold brackets first
  std::vector<BracketTableRow> by_length;  ///< sentence length as in EVALB's column, tens
  std::vector<BracketTableRow> by_span;    ///< words below the bracket: 1, 2 … 5, 6-10, 11-20 …
  std::string signature;
};

/// A line of a treebank file: usually one tree; none if the parser failed; several if it returned
/// fragments without a common root; or a malformed line.
struct ParseLine {
  std::vector<Tree> trees;
  std::string malformed;  ///< why the line could not be read; empty if it could
};

/// Scores trees against the gold trees, one by one. They need no preparation: labels are cut at '-'
/// and '=' here, and deleted labels are in the parameters; an unlabelled outer bracket counts as a
/// bracket. An empty `Tree{}` is a prediction without words: skipped by EVALB, without matches in
/// the strict score. Throws DataError if the numbers differ.
ParseScore score_parses(std::span<const Tree> gold, std::span<const Tree> predicted,
                        const EvalbParameters& parameters);

/// The same for lines. Predicted lines may be malformed. Throws DataError if the numbers differ or
/// a gold line is malformed.
ParseScore score_parses(std::span<const ParseLine> gold, std::span<const ParseLine> predicted,
                        const EvalbParameters& parameters);

/// F1 on resamples of the sentences. Those that EVALB skips count as without brackets.
ResampledSystem resampled_f1(const ParseScore& score);

/// "params:default|labelled:yes|cutoff:40|version:attn-0.1.0". A parameter file is identified by
/// its name and a hash of the parameters: "params:new.prm[5ad1c0de]".
std::string parse_score_signature(const EvalbParameters& parameters);

/// The table of sentences in EVALB's format, with header and row of totals.
std::string format_parse_table(const ParseScore& score);

/// The two summaries in EVALB's format, starting with "=== Summary ===".
std::string format_parse_summary(const ParseScore& score);

}  // namespace attn
