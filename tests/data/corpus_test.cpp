#include "data/corpus.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/random.h"
#include "data/corpus_file.h"
#include "data/word_vocabulary.h"
#include "tests/support/catch.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

using namespace attn;
using namespace attn::testing;
namespace fs = std::filesystem;

namespace {

/// Two texts with their word lists.
struct Texts {
  TemporaryDirectory directory;
  std::vector<std::string> source_lines, target_lines;
  CorpusRequest request;
  std::string said;

  explicit Texts(size_t count) {
    source_lines = made_up_lines(count, 1);
    target_lines = made_up_lines(count, 2);
    request.source = directory / "train.en";
    request.target = directory / "train.de";
    request.cache_directory = directory / "cache";
    request.log = [this](const std::string& line) { said += line + "\n"; };
    write();
    const std::array<fs::path, 2> texts = {request.source, request.target};
    request.tokenizers.source = parse_word_vocabulary(learn_word_vocabulary(texts, 100, 1), "xx");
    request.tokenizers.target = request.tokenizers.source;
  }
  void write() const {
    write_text(request.source, join_lines(source_lines));
    write_text(request.target, join_lines(target_lines));
  }
  /// Whether texts had to be encoded.
  bool built() {
    const bool was = said.find("encoding ") != std::string::npos;
    said.clear();
    return was;
  }
  std::vector<fs::path> cache_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(request.cache_directory)) {
      files.push_back(entry.path());
    }
    return files;
  }
};

using Pairs = std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>>;

Pairs content(const EncodedCorpus& corpus) {
  Pairs pairs;
  for (int64_t i = 0; i < corpus.size(); ++i) {
    pairs.emplace_back(corpus.source(i).to_vector(), corpus.target(i).to_vector());
  }
  return pairs;
}

}  // namespace

TEST_CASE("a corpus holds the tokens of each line, in order") {
  Texts texts(5000);  // several chunks
  const EncodedCorpus corpus = load_corpus(texts.request);
  REQUIRE(corpus.size() == 5000);
  const auto& tokenizer = *texts.request.tokenizers.source;
  for (int64_t i = 0; i < corpus.size(); ++i) {
    const auto source = tokenizer.encode(texts.source_lines[static_cast<size_t>(i)]);
    const auto target = tokenizer.encode(texts.target_lines[static_cast<size_t>(i)]);
    REQUIRE(corpus.source(i).to_vector() == source);
    REQUIRE(corpus.target(i).to_vector() == target);
    REQUIRE(corpus.source_length(i) == static_cast<int64_t>(source.size()));
    REQUIRE(corpus.target_length(i) == static_cast<int64_t>(target.size()));
    REQUIRE(corpus.line(i) == i + 1);
  }
  CHECK(corpus.vocabularies() == vocabularies_of(texts.request.tokenizers));
}

TEST_CASE("the share of unknown tokens of each side is logged, with a cache, too") {
  Texts texts(200);
  texts.request.tokenizers.source = parse_word_vocabulary(
      learn_word_vocabulary(std::vector{texts.request.source}, 40, 1, true), "classes");
  texts.target_lines[3] = "漢 漢";
  texts.write();
  for (const bool cached : {false, true}) {
    const EncodedCorpus corpus = load_corpus(texts.request);
    CHECK((texts.said.find("encoding ") == std::string::npos) == cached);
    const Tokenizer& source = *texts.request.tokenizers.source;
    double unknown = 0, all = 0;
    for (const std::string& line : texts.source_lines) {
      for (const int32_t token : source.encode(line)) {
        unknown += source.piece(token).starts_with("<unk"), ++all;
      }
    }
    CHECK_THAT(texts.said, contains("warning: " + format("%.2f", 100.0 * unknown / all) +
                                    " % of the source tokens are unknown (<unk>)\n"));
    CHECK(corpus.unknown(Side::target, *texts.request.tokenizers.target).unknown == 2);
    CHECK_THAT(texts.said, contains("\n0.1") && contains(" % of the target tokens are unknown"));
    texts.said.clear();
  }
}

TEST_CASE("any number of threads encodes to the same bytes") {
  Texts texts(9000);
  std::string first;
  for (const int64_t threads : {1, 2, 5}) {
    texts.request.threads = threads;
    texts.request.cache_directory = texts.directory / ("cache" + std::to_string(threads));
    load_corpus(texts.request);
    const auto files = texts.cache_files();
    REQUIRE(files.size() == 1);
    const std::string bytes = read_file(files[0]);
    if (first.empty()) first = bytes;
    CHECK(bytes == first);
  }
}

TEST_CASE("the second start opens the cache with the same content") {
  Texts texts(300);
  texts.source_lines[7] = "";
  texts.target_lines[9] = "lak lak lak lak lak lak lak lak lak lak lak lak lak";
  texts.request.max_length = 13;
  texts.write();
  const EncodedCorpus first = load_corpus(texts.request);
  const std::string said_first = texts.said;
  CHECK(texts.built());
  const EncodedCorpus second = load_corpus(texts.request);
  CHECK_THAT(said_first, contains(texts.said));
  CHECK_FALSE(texts.built());
  CHECK(content(first) == content(second));
  CHECK(first.report() == second.report());
  CHECK(second.report().kept() == second.size());
  CHECK(second.report().lines == 300);
}

TEST_CASE("other content makes another cache file: text, tokenizer, limit; another name does not") {
  Texts texts(100);
  load_corpus(texts.request);
  CHECK(texts.built());
  const auto moved = texts.directory / "moved.en";
  fs::rename(texts.request.source, moved);
  texts.request.source = moved;
  load_corpus(texts.request);
  CHECK_THAT(texts.said, contains("moved.en"));
  CHECK_FALSE(texts.built());
  SECTION("one letter") {
    write_text(texts.request.target, "x" + read_file(texts.request.target));
  }
  SECTION("the limit") {
    texts.request.max_length = 200;
  }
  SECTION("the tokenizer") {
    texts.request.tokenizers.source = parse_word_vocabulary("lak\nmor\n", "xx");
  }
  load_corpus(texts.request);
  CHECK(texts.built());
  CHECK(texts.cache_files().size() == 2);
}

TEST_CASE("a text that changes while it is encoded leaves no cache under the old one's key") {
  Texts texts(50);
  const auto request = texts.request;
  const std::vector<std::string> first = texts.source_lines;
  for (const bool source : {true, false}) {
    // The texts have been hashed and checked when this is said.
    texts.request.log = [&](const std::string& line) {
      if (!line.starts_with("encoding ")) return;
      auto& lines = source ? texts.source_lines : texts.target_lines;
      std::swap(lines[3], lines[7]);
      texts.write();
    };
    CHECK_THROWS_WITH(load_corpus(texts.request),
                      contains(source ? "train.en: changed" : "train.de: changed"));
    CHECK(texts.cache_files().empty());
  }
  texts.source_lines = first;
  texts.write();
  texts.request = request;
  CHECK(content(load_corpus(texts.request))[3].first ==
        texts.request.tokenizers.source->encode(first[3]));
}

TEST_CASE("invalid pairs are dropped and reported, and line numbers stay correct") {
  Texts texts(300);
  texts.source_lines[4] = "";
  texts.target_lines[10] = "\xff";
  std::string wide;
  for (int i = 0; i < 50; ++i) wide += "lak ";
  texts.source_lines[20] = wide;
  texts.request.max_length = 50;
  texts.write();
  const EncodedCorpus corpus = load_corpus(texts.request);
  CHECK(corpus.size() == 297);
  CHECK(corpus.line(3) == 4);
  CHECK(corpus.line(4) == 6);
  CHECK(corpus.line(296) == 300);
  const std::vector<int64_t> pairs{4, 3};
  const std::string file = texts.request.source.string();
  CHECK(corpus.places(pairs) == std::vector{file + ":4", file + ":6"});
  const CorpusReport& report = corpus.report();
  CHECK(report[PairProblem::empty].first == std::vector<Dropped::Place>{{5, Side::source}});
  CHECK(report[PairProblem::invalid_utf8].first == std::vector<Dropped::Place>{{11, Side::target}});
  CHECK(report[PairProblem::overlong].first == std::vector<Dropped::Place>{{21, Side::source}});
  CHECK_THAT(texts.said, contains("train.en:21") && contains("more than 50 tokens"));
}

TEST_CASE("the length limit includes EOS; 0 is no limit") {
  Texts texts(10);
  texts.source_lines[0] = "lak lak lak lak lak lak lak lak lak lak lak lak lak lak lak lak";
  texts.write();
  texts.request.max_length = 17;
  CHECK(load_corpus(texts.request).size() == 10);
  texts.request.max_length = 16;
  CHECK(load_corpus(texts.request).size() == 9);
  texts.request.max_length = 0;
  CHECK(load_corpus(texts.request).size() == 10);
  texts.request.max_length = 1;
  CHECK_THROWS_WITH(load_corpus(texts.request), contains("data.max_length"));
}

TEST_CASE("a full disk and bad texts are errors and leave no cache file behind") {
  Texts texts(5000);
  {
    const FileSizeLimit limit(40'000);
    CHECK_THROWS_WITH(load_corpus(texts.request),
                      contains("cannot write '") && contains("File too large"));
  }
  texts.request.max_length = 1;
  CHECK_THROWS_AS(load_corpus(texts.request), DataError);
  texts.request.max_length = 256;
  texts.target_lines.pop_back();
  texts.write();
  CHECK_THROWS_AS(load_corpus(texts.request), DataError);
  CHECK(texts.cache_files().empty());
  texts.target_lines.push_back("lak");
  texts.write();
  write_text(texts.directory / "file", "");
  texts.request.cache_directory = texts.directory / "file" / "cache";
  CHECK_THROWS_WITH(load_corpus(texts.request), contains("file/cache"));
  texts.request.cache_directory = texts.directory / "cache";
  CHECK(load_corpus(texts.request).size() == 5000);
}

TEST_CASE("a truncated cache is rejected and rebuilt") {
  Texts texts(200);
  const auto before = content(load_corpus(texts.request));
  const auto path = texts.cache_files().at(0);
  const std::string good = read_file(path);
  for (size_t size = 0; size < good.size(); size += 1 + good.size() / 41) {
    CAPTURE(size);
    write_text(path, good.substr(0, size));
    CHECK_THROWS_AS(EncodedCorpus(path), DataError);
  }
  write_text(path, good + "x");
  CHECK_THROWS_AS(EncodedCorpus(path), DataError);
  write_text(path, good.substr(0, good.size() - 8));
  texts.said.clear();
  CHECK(content(load_corpus(texts.request)) == before);
  CHECK_THAT(texts.said, contains("truncated corpus cache; rebuilding"));
  CHECK(read_file(path) == good);
}

TEST_CASE("a changed bit anywhere in a cache is found") {
  Texts texts(60);
  load_corpus(texts.request);
  const auto path = texts.cache_files().at(0);
  const std::string good = read_file(path);
  const auto other = texts.directory / "changed.bin";
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    const size_t at = i < 40 ? static_cast<size_t>(i) * 8 : random.below(good.size());
    bad[at] = static_cast<char>(bad[at] ^ (1 << random.below(8)));
    write_text(other, bad);
    CHECK_THROWS_AS(EncodedCorpus(other), DataError);
  }
}

TEST_CASE("a cache with correct hashes and invalid content is rejected") {
  Texts texts(60);
  load_corpus(texts.request);
  const std::string good = read_file(texts.cache_files().at(0));
  const auto forged = [&](auto change) {
    std::vector<uint64_t> words(good.size() / 8);
    std::memcpy(words.data(), good.data(), good.size());
    CorpusHeader header;
    std::memcpy(static_cast<void*>(&header), words.data(), sizeof header);
    change(header, words);
    const auto bytes = std::as_bytes(std::span(words));
    header.body_hash = hash_bytes(bytes.subspan(sizeof header));
    header.header_hash = header.hash();
    std::memcpy(words.data(), &header, sizeof header);
    parse_corpus(bytes, "forged");
  };
  using Words = std::vector<uint64_t>;
  using Change = std::function<void(CorpusHeader&, Words&)>;
  CHECK_NOTHROW(forged([](auto&, auto&) {}));
  const auto offsets_at = [](const CorpusHeader& h, const Words& w) {
    return w.size() - h.pairs - (2 * h.pairs + 1);
  };
  const std::vector<Change> changes = {
      [](auto&, auto& w) { w[sizeof(CorpusHeader) / 8] = ~0ULL; },
      [](auto& h, auto&) { h.source_size = h.target_size = 5; },
      [](auto& h, auto&) { h.target_bos = h.target_size; },
      [](auto& h, auto&) { h.source_size = uint64_t{1} << 40; },
      [](auto& h, auto&) { h.dropped[1][0] = ~uint64_t{0}; },
      [](auto& h, auto&) { h.pairs = ~uint64_t{0} / 8; },
      [](auto& h, auto&) { h.tokens = ~uint64_t{0} - 3; },
      [](auto& h, auto&) { h.token_bytes = 4; },
      [](auto& h, auto&) { h.token_bytes = 0; },
      [&](auto& h, auto& w) { std::swap(w[offsets_at(h, w) + 3], w[offsets_at(h, w) + 9]); },
      [&](auto& h, auto& w) { w[offsets_at(h, w) + 2 * h.pairs] = uint64_t{1} << 50; }};
  for (const Change& change : changes) CHECK_THROWS_AS(forged(change), DataError);
}

TEST_CASE("a cache file of other texts under the expected name is not used") {
  Texts texts(50);
  load_corpus(texts.request);
  const auto path = texts.cache_files().at(0);
  const auto kept = texts.directory / "kept.bin";
  fs::rename(path, kept);
  texts.request.max_length = 99;
  load_corpus(texts.request);
  const auto right = texts.cache_files().at(0);
  fs::rename(kept, right);
  texts.said.clear();
  CHECK(load_corpus(texts.request).report().max_length == 99);
  CHECK_THAT(texts.said, contains("stale cache"));
}

TEST_CASE("vocabularies beyond 16 bits keep their tokens, and none takes tokens outside") {
  const Pairs pairs = {{{0, 65535, 65536, 99'999}, {3}}, {{70'000}, {1, 2}}};
  CHECK(content(EncodedCorpus(pairs, {100'000, 100'000, 2, 1, 2})) == pairs);
  const Pairs small = {{{0, 65535}, {3}}};
  CHECK(content(EncodedCorpus(small, {65536, 65536, 2, 1, 2})) == small);
  CHECK(content(EncodedCorpus(Pairs{}, {10, 10, 2, 1, 2})).empty());
  const Vocabularies vocabularies{10, 20, 2, 1, 2};
  CHECK_NOTHROW(EncodedCorpus(Pairs{{{9}, {19}}}, vocabularies));
  for (const Pairs& outside : {Pairs{{{10}, {1}}}, Pairs{{{1}, {20}}}, Pairs{{{-1}, {1}}}}) {
    CHECK_THROWS_AS(EncodedCorpus(outside, vocabularies), DataError);
  }
}
