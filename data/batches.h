// The order in which a corpus is trained on: shuffled anew each epoch, pairs of like length
// together, the same for the same seed, and resumable at any batch.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch.h"
#include "data/corpus.h"

namespace attn {

/// Where a stream stands: its next batch. An epoch's pairs are shuffled and cut into chunks; a
/// chunk's pairs are sorted by length and cut into batches, which come in random order.
struct StreamPosition {
  int64_t epoch = 0;
  int64_t chunk = 0;
  int64_t batch = 0;
  bool operator==(const StreamPosition&) const = default;
};

struct StreamOptions {
  /// Limit of sentences × longest side with its end sign. A single longer pair is a batch of its
  /// own.
  int64_t batch_tokens = 4096;
  uint64_t seed = 1;
  /// Pairs sorted together, at most: few make random batches, many waste little.
  int64_t chunk_pairs = 1'000'000;
};

/// Endless batches of a corpus, each pair exactly once an epoch.
class BatchStream {
 public:
  /// The corpus must outlive the stream. Throws DataError when it is empty or has 2^32 pairs and
  /// more.
  BatchStream(const EncodedCorpus& corpus, const StreamOptions& options);

  Batch next();
  const EncodedCorpus& corpus() const { return *corpus_; }

  /// The epoch, from 0, of the batch that `next` returned last.
  int64_t epoch() const { return position_.epoch; }
  /// Continues exactly here after `restore`, in a stream of the same corpus and options.
  StreamPosition position() const { return position_; }
  /// Throws DataError for a position that this stream doesn't have.
  void restore(const StreamPosition& position);

  int64_t chunks() const;
  /// Batches of the current chunk; with one chunk, of the epoch.
  int64_t chunk_batches() const { return static_cast<int64_t>(batches_.size()); }
  /// Batches of an epoch; exact with one chunk, else as if all chunks were like the current one.
  int64_t epoch_batches() const { return chunk_batches() * chunks(); }
  /// The share of positions in the current chunk that would be padding if its batches were padded.
  double chunk_padding() const;

 private:
  struct Range {
    size_t begin, end;
  };
  Range chunk_range(int64_t chunk) const;
  void shuffle_epoch();
  void plan_chunk();

  const EncodedCorpus* corpus_;
  StreamOptions options_;
  StreamPosition position_;
  std::vector<uint32_t> order_;   // of the epoch
  std::vector<uint32_t> sorted_;  // of the chunk
  std::vector<Range> batches_;    // in sorted_, in the order they come
};

/// Every pair exactly once, shortest first, always the same: for validation. Throws DataError like
/// the stream.
std::vector<Batch> sequential_batches(const EncodedCorpus& corpus, int64_t batch_tokens);

/// The batch with the most target tokens, and of these the most source tokens, that
/// `sequential_batches` would make: what fits into memory with it fits with all. One pair beyond
/// `batch_tokens` counts like any other batch.
Batch largest_batch(const EncodedCorpus& corpus, int64_t batch_tokens);

}  // namespace attn
