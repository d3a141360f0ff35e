#include "data/batches.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace attn {
namespace {

void check_size(const EncodedCorpus& corpus) {
  if (corpus.size() == 0) throw DataError("the corpus has no usable pair");
  if (corpus.size() > std::numeric_limits<uint32_t>::max()) {
    throw DataError("the corpus has " + std::to_string(corpus.size()) +
                    " pairs; at most 2^32 - 1 are supported: split it");
  }
}

/// Sort key: first the longer side, which counts against batch_tokens. Within a length, alternately
/// from longer source to longer target and back, so that neighbours are similar on both sides.
uint64_t shape_key(const EncodedCorpus& corpus, uint32_t id) {
  const int64_t source = corpus.source_length(id);
  const int64_t target = corpus.target_length(id);
  const int64_t longer = std::max(source, target);
  const int64_t slant = longer % 2 == 0 ? source - target : target - source;
  constexpr int64_t middle = int64_t{1} << 31;  // lengths are below it
  return static_cast<uint64_t>(longer) << 32 | static_cast<uint64_t>(slant + middle);
}

/// Stable sort. Keys are computed once, to avoid random access to the mapped file.
std::vector<uint32_t> sort_by_shape(const EncodedCorpus& corpus, std::span<const uint32_t> ids) {
  std::vector<std::pair<uint64_t, uint32_t>> keyed;
  keyed.reserve(ids.size());
  for (const uint32_t id : ids) keyed.emplace_back(shape_key(corpus, id), id);
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<uint32_t> sorted;
  sorted.reserve(ids.size());
  for (const auto& [key, id] : keyed) sorted.push_back(id);
  return sorted;
}

int64_t longer_side(const EncodedCorpus& corpus, uint32_t id) {
  return std::max(corpus.source_length(id), corpus.target_length(id)) + 1;
}

/// Cuts `sorted` greedily into non-empty batches with sentences × longest side within the budget.
template <class Take>
void cut_batches(const EncodedCorpus& corpus, std::span<const uint32_t> sorted,
                 int64_t batch_tokens, Take&& take) {
  size_t begin = 0;
  int64_t longest = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const int64_t grown = std::max(longest, longer_side(corpus, sorted[i]));
    const auto sentences = static_cast<int64_t>(i - begin + 1);
    if (i > begin && grown > batch_tokens / sentences) {
      take(begin, i);
      begin = i;
      longest = longer_side(corpus, sorted[i]);
    } else {
      longest = grown;
    }
  }
  take(begin, sorted.size());
}

std::vector<uint32_t> all_sorted(const EncodedCorpus& corpus) {
  check_size(corpus);
  std::vector<uint32_t> ids(static_cast<size_t>(corpus.size()));
  std::iota(ids.begin(), ids.end(), uint32_t{0});
  return sort_by_shape(corpus, ids);
}

}  // namespace

WordDropout::WordDropout(const Tokenizer& source, double z) {
  bool counted = false;
  for (int64_t id = 0; id < source.size(); ++id) {
    const int64_t count = source.count(id);
    const int32_t unknown = source.unknown_form(id);
    Replacement replacement{0.0, unknown};
    if (count > 0 && unknown != id) {
      replacement.probability = z / (z + static_cast<double>(count));
      counted = true;
    }
    replacements_.push_back(replacement);
  }
  if (!counted) {
    throw DataError(
        "data.word_dropout: the source vocabulary has no counts; use a word list with lines "
        "\"word<TAB>count\", or set it to 0");
  }
}

void WordDropout::apply(Batch& batch, uint64_t seed) const {
  std::vector<int64_t>& tokens = batch.source.tokens;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Replacement& replacement = replacements_.at(static_cast<size_t>(tokens[i]));
    if (Random(seed, i).uniform() < replacement.probability) tokens[i] = replacement.token;
  }
}

BatchStream::BatchStream(const EncodedCorpus& corpus, const StreamOptions& options)
    : corpus_(&corpus), options_(options) {
  check_size(corpus);
  shuffle_epoch();
  plan_chunk();
}

int64_t BatchStream::chunks() const {
  return (corpus_->size() - 1) / std::max<int64_t>(options_.chunk_pairs, 1) + 1;
}

BatchStream::Range BatchStream::chunk_range(int64_t chunk) const {
  // Chunks of similar size: batches of a small last chunk would be mostly padding.
  const int64_t each = corpus_->size() / chunks();
  const int64_t rest = corpus_->size() % chunks();
  const auto start = [&](int64_t w) { return static_cast<size_t>(w * each + std::min(w, rest)); };
  return {start(chunk), start(chunk + 1)};
}

void BatchStream::shuffle_epoch() {
  order_.resize(static_cast<size_t>(corpus_->size()));
  std::iota(order_.begin(), order_.end(), uint32_t{0});
  Random(options_.seed, static_cast<uint64_t>(position_.epoch)).shuffle(std::span(order_));
}

void BatchStream::plan_chunk() {
  const Range range = chunk_range(position_.chunk);
  sorted_ =
      sort_by_shape(*corpus_, std::span(order_).subspan(range.begin, range.end - range.begin));
  batches_.clear();
  cut_batches(*corpus_, sorted_, options_.batch_tokens, [&](size_t begin, size_t end) {
    batches_.push_back({begin, end});
  });
  const auto chunk = static_cast<uint64_t>(position_.chunk);
  Random(mix64(options_.seed) + static_cast<uint64_t>(position_.epoch), chunk)
      .shuffle(std::span(batches_));
}

// A function of the seed and the position, so that a restored stream draws the same numbers.
uint64_t BatchStream::place_seed() const {
  uint64_t seed = mix64(options_.seed ^ 0x776f726473);  // "words"
  for (const int64_t part : {position_.epoch, position_.chunk, position_.batch}) {
    seed = mix64(seed + static_cast<uint64_t>(part) + 1);
  }
  return seed;
}

Batch BatchStream::next() {
  if (position_.batch == chunk_batches()) {
    position_.batch = 0;
    if (++position_.chunk == chunks()) {
      position_.chunk = 0;
      ++position_.epoch;
      shuffle_epoch();
    }
    plan_chunk();
  }
  const Range range = batches_[static_cast<size_t>(position_.batch++)];
  Batch batch =
      make_batch(*corpus_, std::span(sorted_).subspan(range.begin, range.end - range.begin));
  if (options_.word_dropout) options_.word_dropout->apply(batch, place_seed());
  return batch;
}

void BatchStream::restore(const StreamPosition& position) {
  const StreamPosition before = position_;
  const auto go_to = [&](const StreamPosition& there) {
    position_ = there;
    shuffle_epoch();
    plan_chunk();
    return there.batch >= 0 && there.batch <= chunk_batches();
  };
  if (position.epoch >= 0 && position.chunk >= 0 && position.chunk < chunks()) {
    if (go_to(position)) return;
    go_to(before);
  }
  throw DataError("the saved position in the training text (epoch " +
                  std::to_string(position.epoch) + ", chunk " + std::to_string(position.chunk) +
                  ", batch " + std::to_string(position.batch) +
                  ") is out of range: the text or data.batch_tokens has changed");
}

double BatchStream::chunk_padding() const {
  int64_t real = 0;
  int64_t filled = 0;
  for (const Range& range : batches_) {
    int64_t source = 0;
    int64_t target = 0;
    for (size_t i = range.begin; i < range.end; ++i) {
      const int64_t source_length = corpus_->source_length(sorted_[i]) + 1;
      const int64_t target_length = corpus_->target_length(sorted_[i]) + 1;
      source = std::max(source, source_length);
      target = std::max(target, target_length);
      real += source_length + target_length;
    }
    filled += static_cast<int64_t>(range.end - range.begin) * (source + target);
  }
  return 1 - static_cast<double>(real) / static_cast<double>(filled);
}

std::vector<Batch> sequential_batches(const EncodedCorpus& corpus, int64_t batch_tokens) {
  const auto sorted = all_sorted(corpus);
  std::vector<Batch> batches;
  cut_batches(corpus, sorted, batch_tokens, [&](size_t begin, size_t end) {
    batches.push_back(make_batch(corpus, std::span(sorted).subspan(begin, end - begin)));
  });
  return batches;
}

Batch largest_batch(const EncodedCorpus& corpus, int64_t batch_tokens) {
  const auto sorted = all_sorted(corpus);
  std::pair<int64_t, int64_t> max_tokens{-1, -1};
  std::span<const uint32_t> largest;
  cut_batches(corpus, sorted, batch_tokens, [&](size_t begin, size_t end) {
    const auto ids = std::span(sorted).subspan(begin, end - begin);
    std::pair<int64_t, int64_t> tokens{0, 0};
    for (const uint32_t id : ids) {
      tokens.first += corpus.target_length(id) + 1;
      tokens.second += corpus.source_length(id) + 1;
    }
    if (tokens <= max_tokens) return;
    max_tokens = tokens;
    largest = ids;
  });
  return make_batch(corpus, largest);
}

}  // namespace attn
