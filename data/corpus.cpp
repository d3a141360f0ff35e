#include "data/corpus.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <future>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "data/corpus_file.h"
#include "data/source_features.h"

namespace attn {
namespace {

constexpr size_t chunk_pairs = 2048;

struct EncodedPair {
  std::vector<int32_t> source;
  std::vector<int32_t> target;
  std::vector<int32_t> features;
  int64_t line;
};

/// A pair of lines, and its tag if the request has a file of tags.
struct TaggedPair : TextPair {
  std::string tag;
};

/// A chunk of pairs, encoded by one thread.
struct EncodedChunk {
  std::vector<EncodedPair> pairs;
  CorpusReport notes;
};

EncodedChunk encode_chunk(const std::vector<TaggedPair>& texts, const CorpusRequest& request) {
  EncodedChunk chunk;
  const auto overlong = [&](const std::vector<int32_t>& tokens) {
    return request.max_length > 0 && static_cast<int64_t>(tokens.size()) + 1 > request.max_length;
  };
  const SourceFeatures* features = request.tokenizers.features.get();
  for (const TaggedPair& text : texts) {
    ++chunk.notes.lines;
    if (record_problem(text, chunk.notes)) continue;
    EncodedPair pair{.source = request.tokenizers.source->encode(text.source),
                     .target = request.tokenizers.target->encode(text.target),
                     .features = {},
                     .line = text.line};
    // A line of invisible characters may yield no tokens.
    if (chunk.notes.note(PairProblem::empty, pair.line, pair.source.empty(), pair.target.empty()) ||
        chunk.notes.note(PairProblem::overlong, pair.line, overlong(pair.source),
                         overlong(pair.target))) {
      continue;
    }
    if (features != nullptr) {
      pair.features =
          features->encode(text.source, static_cast<int64_t>(pair.source.size()), text.tag);
    }
    chunk.pairs.push_back(std::move(pair));
  }
  return chunk;
}

void merge(CorpusReport& into, const CorpusReport& from) {
  into.lines += from.lines;
  for (size_t i = 0; i < into.dropped.size(); ++i) {
    const int64_t count = into.dropped[i].count + from.dropped[i].count;
    for (const auto& place : from.dropped[i].first) into.dropped[i].add(place);
    into.dropped[i].count = count;
  }
}

/// Reads the lines of both texts and of the file of tags, if there is one.
class TaggedReader {
 public:
  explicit TaggedReader(const CorpusRequest& request) : pairs_(request.source, request.target) {
    if (!request.tags.empty()) tags_.emplace(request.tags);
  }

  std::vector<TaggedPair> read_chunk() {
    std::vector<TaggedPair> texts;
    for (TaggedPair pair; texts.size() < chunk_pairs && pairs_.next(pair);) {
      if (tags_ && !tags_->next(pair.tag)) fail();
      texts.push_back(std::move(pair));
    }
    std::string further;
    if (tags_ && texts.size() < chunk_pairs && tags_->next(further)) fail();
    return texts;
  }
  const PairReader& pairs() const { return pairs_; }

 private:
  [[noreturn]] void fail() const {
    throw DataError(tags_->path().string() + ": has not as many lines as the training text");
  }

  PairReader pairs_;
  std::optional<LineReader> tags_;
};

/// Encodes chunks in parallel and writes them in order. Throws DataError if the texts have changed
/// since they were hashed.
CorpusReport encode_texts(const CorpusRequest& request, const PairHashes& hashes, NewFile& file,
                          CorpusWriter& writer) {
  const int64_t wanted =
      request.threads > 0 ? request.threads : std::max(1u, std::thread::hardware_concurrency());
  CorpusReport report;
  report.source = request.source;
  report.target = request.target;
  report.max_length = request.max_length;
  TaggedReader reader(request);
  int64_t read = 0;
  std::deque<std::future<EncodedChunk>> under_way;
  while (true) {
    auto texts = reader.read_chunk();
    const bool ended = texts.empty();
    read += static_cast<int64_t>(texts.size());
    if (request.progress) request.progress(read);
    if (!ended) {
      under_way.push_back(std::async(std::launch::async, [&request, texts = std::move(texts)] {
        return encode_chunk(texts, request);
      }));
    }
    while (!under_way.empty() && (ended || static_cast<int64_t>(under_way.size()) > wanted)) {
      const EncodedChunk chunk = under_way.front().get();
      under_way.pop_front();
      for (const auto& pair : chunk.pairs) {
        writer.add(pair.source, pair.target, pair.line, pair.features);
      }
      merge(report, chunk.notes);
      file.check();  // reports a full disk at once
    }
    if (ended) break;
  }
  reader.pairs().require_same_hashes(hashes);
  return report;
}

uint64_t corpus_key(const CorpusRequest& request, const PairHashes& hashes) {
  Hasher hasher;
  hasher.update(CorpusHeader::right_version);
  for (const uint64_t hash : hashes) hasher.update(hash);
  hasher.update(request.tokenizers.source->fingerprint());
  hasher.update(request.tokenizers.target->fingerprint());
  hasher.update(static_cast<uint64_t>(request.max_length));
  if (request.tokenizers.features) hasher.update(request.tokenizers.features->fingerprint());
  if (!request.tags.empty()) hasher.update(hash_file(request.tags));
  return hasher.digest();
}

void build(const CorpusRequest& request, const PairHashes& hashes,
           const std::filesystem::path& path, uint64_t key) {
  check_texts(request.source, request.target);
  if (request.log) {
    request.log("encoding " + request.source.string() + " and " + request.target.string());
  }
  make_directories(path.parent_path());
  NewFile file(path);
  CorpusWriter writer(file.stream(), vocabularies_of(request.tokenizers), key);
  const CorpusReport report = encode_texts(request, hashes, file, writer);
  if (report.kept() == 0) {
    throw DataError("'" + request.source.string() + "' and '" + request.target.string() +
                    "': no usable pair; " +
                    (2 * report[PairProblem::overlong].count > report.lines
                         ? "most are longer than data.max_length (" +
                               std::to_string(request.max_length) + " tokens)"
                         : "many have an empty side, no tokens or invalid UTF-8"));
  }
  writer.finish(report);
  file.commit();
}

/// The existing cache, if it is valid.
std::optional<EncodedCorpus> open_cache(const std::filesystem::path& path, uint64_t key,
                                        const Tokenizers& tokenizers, const Log& log) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  try {
    EncodedCorpus corpus(path);
    // A stranger's may have any key.
    if (corpus.key() == key && corpus.vocabularies() == vocabularies_of(tokenizers)) return corpus;
    if (log) log(path.string() + ": stale cache (the texts or the vocabulary changed); rebuilding");
  } catch (const DataError& error) {
    if (log) log(std::string(error.what()) + "; rebuilding");
  }
  return {};
}

}  // namespace

EncodedCorpus::EncodedCorpus(const std::filesystem::path& cache) : storage_(MappedFile(cache)) {
  index(cache.string());
}

EncodedCorpus::EncodedCorpus(
    std::span<const std::pair<std::vector<int32_t>, std::vector<int32_t>>> pairs,
    const Vocabularies& vocabularies) {
  std::ostringstream out;
  CorpusWriter writer(out, vocabularies, 0);
  CorpusReport report;
  for (const auto& [source, target] : pairs) writer.add(source, target, ++report.lines);
  writer.finish(report);
  const std::string bytes = std::move(out).str();
  auto& words = storage_.emplace<std::vector<uint64_t>>(bytes.size() / sizeof(uint64_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  index("a corpus in memory");
}

std::span<const std::byte> EncodedCorpus::bytes() const {
  if (const auto* file = std::get_if<MappedFile>(&storage_)) return file->bytes();
  return std::as_bytes(std::span(std::get<std::vector<uint64_t>>(storage_)));
}

void EncodedCorpus::index(const std::string& name) {
  const CorpusParts parts = parse_corpus(bytes(), name);
  tokens_ = parts.tokens;
  offsets_ = parts.offsets;
  lines_ = parts.lines;
  pairs_ = static_cast<int64_t>(parts.header.pairs);
  sequences_ = static_cast<int64_t>(parts.header.sequences());
  wide_ = parts.header.token_bytes == 4;
  vocabularies_ = parts.header.vocabularies();
  report_ = parts.header.report();
  key_ = parts.header.key;
}

int64_t EncodedCorpus::target_tokens() const {
  int64_t tokens = size();
  for (int64_t i = 0; i < size(); ++i) tokens += target_length(i);
  return tokens;
}

UnknownTokens EncodedCorpus::unknown(Side side, const Tokenizer& tokenizer) const {
  UnknownTokens count;
  for (int64_t i = 0; i < pairs_; ++i) {
    count.add(tokenizer, (side == Side::source ? source(i) : target(i)).to_vector());
  }
  return count;
}

std::vector<std::string> EncodedCorpus::places(std::span<const int64_t> pairs) const {
  std::vector<int64_t> lines;
  for (const int64_t pair : pairs) lines.push_back(line(pair));
  std::sort(lines.begin(), lines.end());
  const std::string before = report_.source.empty() ? "line " : report_.source.string() + ":";
  std::vector<std::string> places;
  for (const int64_t number : lines) places.push_back(before + std::to_string(number));
  return places;
}

EncodedCorpus load_corpus(const CorpusRequest& request) {
  const PairHashes hashes{hash_file(request.source), hash_file(request.target)};
  const uint64_t key = corpus_key(request, hashes);
  const auto path = request.cache_directory / ("corpus-" + to_hex(key) + ".bin");
  auto corpus = open_cache(path, key, request.tokenizers, request.log);
  if (!corpus) {
    build(request, hashes, path, key);
    corpus.emplace(path);
  }
  corpus->report_.source = request.source;
  corpus->report_.target = request.target;
  if (request.log) {
    for (const auto& line : corpus->report_.text()) request.log(line);
    request.log(unknown_note(corpus->unknown(Side::source, *request.tokenizers.source), "source"));
    request.log(unknown_note(corpus->unknown(Side::target, *request.tokenizers.target), "target"));
  }
  return std::move(*corpus);
}

}  // namespace attn
