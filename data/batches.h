// Batching: shuffled every epoch, bucketed by length, deterministic given the seed, and resumable
// at any batch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/batch.h"
#include "data/corpus.h"
#include "data/tokenizer.h"

namespace attn {

/// Unknown-word dropout: rare words of the training text are replaced by their unknown token at
/// random, so that the model also learns to read unknown words. Not in the paper.
class WordDropout {
 public:
  /// A word of count c is replaced with probability z / (z + c). Throws DataError if the vocabulary
  /// has no counts.
  WordDropout(const Tokenizer& source, double z);

  /// Replaces tokens of the source; features stay. A function of the seed and the position in the
  /// batch alone.
  void apply(Batch& batch, uint64_t seed) const;

 private:
  struct Replacement {
    double probability = 0.0;
    int32_t token = 0;
  };
  std::vector<Replacement> replacements_;  // by token
};

/// Position of a stream: its next batch. The pairs of an epoch are shuffled and cut into chunks;
/// the pairs of a chunk are sorted by length and cut into batches, which are shuffled.
struct StreamPosition {
  int64_t epoch = 0;
  int64_t chunk = 0;
  int64_t batch = 0;
  bool operator==(const StreamPosition&) const = default;
};

struct StreamOptions {
  /// Limit of sentences × longest side in tokens, EOS included. A longer pair is its own batch.
  int64_t batch_tokens = 4096;
  uint64_t seed = 1;
  /// Pairs sorted together (Marian's maxi-batch). Smaller chunks are more random, larger ones need
  /// less padding.
  int64_t chunk_pairs = 1'000'000;
  /// Applied to each batch, at random by seed and position; null: none.
  std::shared_ptr<const WordDropout> word_dropout = nullptr;
};

/// Infinite stream of batches; each pair occurs exactly once per epoch.
class BatchStream {
 public:
  /// The corpus must outlive the stream. Throws DataError if it is empty or has 2^32 or more pairs.
  BatchStream(const EncodedCorpus& corpus, const StreamOptions& options);

  Batch next();
  const EncodedCorpus& corpus() const { return *corpus_; }

  /// The epoch, from 0, of the last batch.
  int64_t epoch() const { return position_.epoch; }
  /// Position for `restore` in a stream of the same corpus and options.
  StreamPosition position() const { return position_; }
  /// Throws DataError for an invalid position.
  void restore(const StreamPosition& position);

  int64_t chunks() const;
  /// Number of batches in the current chunk.
  int64_t chunk_batches() const { return static_cast<int64_t>(batches_.size()); }
  /// Number of batches per epoch; with several chunks an estimate.
  int64_t epoch_batches() const { return chunk_batches() * chunks(); }
  /// The share of padding that padded batches of the current chunk would have.
  double chunk_padding() const;

 private:
  struct Range {
    size_t begin, end;
  };
  Range chunk_range(int64_t chunk) const;
  void shuffle_epoch();
  void plan_chunk();
  uint64_t place_seed() const;

  const EncodedCorpus* corpus_;
  StreamOptions options_;
  StreamPosition position_;
  std::vector<uint32_t> order_;   // pairs of the epoch, shuffled
  std::vector<uint32_t> sorted_;  // pairs of the chunk, by length
  std::vector<Range> batches_;    // ranges of sorted_, in batch order
};

/// Every pair exactly once, shortest first, for validation. Throws like BatchStream.
std::vector<Batch> sequential_batches(const EncodedCorpus& corpus, int64_t batch_tokens);

/// The batch of `sequential_batches` with the most target tokens (then source tokens). Activations
/// and logits are largest for it; attention scores that are kept (attention with dropout on a GPU,
/// runtime.kernels=off, additive attention) may be larger for a batch of long sentences.
Batch largest_batch(const EncodedCorpus& corpus, int64_t batch_tokens);

}  // namespace attn
