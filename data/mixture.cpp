#include "data/mixture.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/hash.h"
#include "data/corpus_check.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMixtureVersion = 2;

// More sentences, for each one of the texts, are a mistake in a ratio: they fill the disk.
constexpr double kMaxCopies = 100.0;

PairReader reader_of(const MixturePart& part, const DataConfig& data) {
  return {text_path(part.text, data.source), text_path(part.text, data.target)};
}

/// The parts with their numbers of pairs and times.
std::vector<MixturePart> counted_parts(const DataConfig& data, bool repeated) {
  std::vector<MixturePart> parts = mixture_parts(data);
  for (MixturePart& part : parts) {
    for (const std::string& language : {data.source, data.target}) {
      require_regular_file(text_path(part.text, language));
    }
    PairReader reader = reader_of(part, data);
    for (TextPair pair; reader.next(pair);) ++part.sentences;
    if (part.sentences == 0) {
      throw DataError("'" + text_path(part.text, data.source) + "' is empty");
    }
  }
  if (repeated) set_times(parts);
  return parts;
}

// Keeps a line that was cut longer than LineReader::max_bytes, so that it is dropped as overlong.
constexpr const char* kBeyond = "-";

// The texts must still be those of which `hashes` were computed.
void write_mixture(const std::vector<MixturePart>& parts, const std::vector<PairHashes>& hashes,
                   const DataConfig& data, const std::string& prefix, uint64_t seed, bool tagged) {
  NewFile source(text_path(prefix, data.source)), target(text_path(prefix, data.target)),
      tags(text_path(prefix, kTagsSuffix));
  CopyCounts copies(parts, seed);
  for (size_t p = 0; p < parts.size(); ++p) {
    const MixturePart& part = parts[p];
    PairReader reader = reader_of(part, data);
    for (TextPair pair; reader.next(pair);) {
      for (int64_t i = copies.next(part); i > 0; --i) {
        source.stream() << pair.source << (pair.source_cut ? kBeyond : "") << '\n';
        target.stream() << pair.target << (pair.target_cut ? kBeyond : "") << '\n';
        tags.stream() << part.tag << '\n';
      }
    }
    reader.require_same_hashes(hashes[p]);
    source.check();
    target.check();
  }
  if (tagged) tags.commit();
  source.commit();
  target.commit();
}

// Throws ConfigError if the copies are too many.
void check_size(std::span<const MixturePart> parts) {
  double sentences = 0.0, copies = 0.0;
  for (const MixturePart& part : parts) {
    sentences += static_cast<double>(part.sentences);
    copies += part.times * static_cast<double>(part.sentences);
  }
  if (copies <= kMaxCopies * sentences) return;
  const MixturePart& most_repeated = *std::ranges::max_element(parts, {}, &MixturePart::times);
  throw ConfigError(format("the ratios of data.silver and data.sources repeat %.0f sentences to "
                           "%.3g, more than %.0f times as many: each one of ",
                           sentences, copies, kMaxCopies) +
                    most_repeated.text +
                    format(" would be used %.3g times; ", most_repeated.times) +
                    (most_repeated.group == 0 ? "raise the lowest ratio" : "lower its ratio"));
}

}  // namespace

std::vector<MixturePart> mixture_parts(const DataConfig& data) {
  std::vector<MixturePart> parts = {{.text = data.train, .tag = data.tag}};
  for (const std::string& path : data.silver) {
    parts.push_back({.text = path, .tag = data.tag, .group = 1, .ratio = data.silver_ratio});
  }
  for (const TextSource& source : data.sources) {
    parts.push_back({.text = source.text,
                     .tag = source.tag,
                     .group = parts.back().group + 2,
                     .ratio = source.ratio});
  }
  return parts;
}

void set_times(std::vector<MixturePart>& parts) {
  std::map<int64_t, double> sizes;
  for (const MixturePart& part : parts) sizes[part.group] += static_cast<double>(part.sentences);
  const double first = sizes[0];
  double times = 1.0;  // for group 0, so that no group is used less than once
  for (const MixturePart& part : parts) {
    if (part.ratio > 0) times = std::max(times, sizes[part.group] / (part.ratio * first));
  }
  for (MixturePart& part : parts) {
    if (part.group == 0) {
      part.times = times;
    } else if (part.ratio > 0) {
      const double wanted = times * part.ratio * first / sizes[part.group];
      part.times = wanted < 1.0 + 1e-9 ? 1.0 : wanted;  // but for rounding
    }
  }
  check_size(parts);
}

void log_times(std::span<const MixturePart> parts, const Log& log) {
  if (!log) return;
  for (const MixturePart& part : parts) {
    if (part.times == 1.0) continue;
    log("each sentence of " + part.text + " is used " + format("%.1f", part.times) +
        " times on average (ratios of data.silver and data.sources)");
  }
}

CopyCounts::CopyCounts(std::span<const MixturePart> parts, uint64_t seed)
    : seed_(std::ranges::all_of(parts, [](const MixturePart& one) { return one.times == 1.0; })
                ? 0
                : seed),
      random_(seed_, 0x7472656573) {}  // "trees"

fs::path tags_file(const DataConfig& text) {
  const bool mixed = text.task == Task::parsing || !text.sources.empty();
  return text.tag.empty() || !mixed ? "" : text_path(text.train, kTagsSuffix);
}

DataConfig mixed_pairs(const DataConfig& data, const fs::path& cache, uint64_t seed, bool repeated,
                       const Log& log) {
  if (data.sources.empty()) return data;
  const std::vector<MixturePart> parts = counted_parts(data, repeated);
  log_times(parts, log);
  const bool tagged = repeated && !data.tag.empty();
  Hasher key;
  key.update(kMixtureVersion);
  key.update(CopyCounts(parts, seed).seed());
  std::vector<PairHashes> hashes;
  for (const MixturePart& part : parts) {
    hashes.push_back({hash_file(text_path(part.text, data.source)),
                      hash_file(text_path(part.text, data.target))});
    for (const uint64_t hash : hashes.back()) key.update(hash);
    key.update(static_cast<uint64_t>(std::llround(part.times * 1e6)));
    if (tagged) key.update(hash_text(part.tag));
  }
  DataConfig text = data;
  text.train = (cache / "mixture-").string() + to_hex(key.digest());
  make_directories(cache);
  write_mixture(parts, hashes, data, text.train, seed, tagged);
  return text;
}

}  // namespace attn
