// Source features: what a sentence's rows have, how batches carry them, and the stored vocabulary.
#include "data/source_features.h"
#include "data/lines.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/utf8.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "data/mixture.h"
#include "data/parsing/treebank.h"
#include "data/sentencepiece.h"
#include "data/word_vocabulary.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

using namespace attn;
using namespace attn::testing;

namespace {

using Ids = std::vector<int32_t>;

/// A text, its config with all features, and what is made of it.
struct Text {
  TemporaryDirectory directory;
  std::vector<std::string> lines = made_up_lines(300, 1), others = made_up_lines(200, 2);
  DataConfig config;
  Tokenizers tokenizers;

  Text() {
    for (const char* side : {".a", ".b"}) {
      write_text((directory / "train").string() + side, join_lines(lines));
      write_text((directory / "other").string() + side, join_lines(others));
    }
    config.train = (directory / "train").string();
    config.source = "a";
    config.target = "b";
    config.tokenizer = TokenizerKind::words;
    config.min_frequency = 3;
    config.unknown_classes = config.word_classes = true;
    config.word_pieces = 100;
    config.word_dropout = 0.8;
    config.tag = "news";
    config.sources = {{.text = (directory / "other").string(), .tag = "talks", .ratio = 3.0}};
    config.validate();
    tokenizers = with_tag(make_tokenizers(with_vocabulary_text(config, directory / "cache")),
                          "news", "data.tag");
  }
  const SourceFeatures& features() const { return *tokenizers.features; }
  /// Of a mixture of the texts.
  CorpusRequest request(const DataConfig& mixed) const {
    return {.source = text_path(mixed.train, "a"),
            .target = text_path(mixed.train, "b"),
            .tags = tags_file(mixed),
            .tokenizers = tokenizers,
            .cache_directory = directory / "cache"};
  }
};

/// The features of each row of encode's output.
std::vector<std::multiset<int32_t>> rows_of(const Ids& encoded) {
  std::vector<std::multiset<int32_t>> rows(1);
  for (const int32_t id : encoded) {
    id == 0 ? void(rows.emplace_back()) : void(rows.back().insert(id - 1));
  }
  REQUIRE(rows.back().empty());
  rows.pop_back();
  return rows;
}

}  // namespace

TEST_CASE("a word has its classes, its pieces and the sentence's tag, EOS the tag alone") {
  const Text text;
  const SourceFeatures& features = text.features();
  const auto& classes = features.names().classes;
  const auto pieces = static_cast<int32_t>(classes.size());
  const int32_t news = pieces + static_cast<int32_t>(features.pieces()->size());
  REQUIRE(features.names().tags == std::vector<std::string>{"news", "talks"});
  REQUIRE(features.size() == news + 2);
  for (const std::string& line : {text.lines[0], std::string("Neverseenings 12.5 x")}) {
    std::vector<std::multiset<int32_t>> wanted;
    for_each_word(line, [&](std::string_view word) {
      auto& row = wanted.emplace_back(std::multiset<int32_t>{news + 1});
      for (const std::string& name : unknown_word_classes(word)) {
        const auto found = std::ranges::find(classes, name);
        if (found != classes.end()) row.insert(static_cast<int32_t>(found - classes.begin()));
      }
      for (const int32_t piece : features.pieces()->encode(word)) row.insert(pieces + piece);
    });
    wanted.push_back({news + 1});
    const auto words = static_cast<int64_t>(wanted.size()) - 1;
    CHECK(rows_of(features.encode(line, words, "talks")) == wanted);
    CHECK(features.encode(line, words) == features.encode(line, words, "news"));
    CHECK_THROWS_AS(features.encode(line, words + 1), std::invalid_argument);
    const auto cut = rows_of(cut_features(features.encode(line, words, "talks"), 1));
    CHECK(cut == std::vector{wanted.front(), wanted.back()});
    CHECK(cut_features(features.encode(line, words), words + 5) == features.encode(line, words));
  }
}

TEST_CASE("pieces that are too few for the characters are an error that names their option") {
  const TemporaryDirectory directory;
  std::string characters;
  for (char32_t c = 0x4E00; c < 0x4E00 + 300; ++c) append_utf8(characters, c);
  for (const char* side : {".a", ".b"}) {
    write_text((directory / "t").string() + side, characters + "\n");
  }
  DataConfig config{.train = (directory / "t").string(), .source = "a", .target = "b"};
  config.tokenizer = TokenizerKind::words;
  config.word_pieces = 100;
  CHECK_THROWS_WITH(make_tokenizers(config), contains("data.word_pieces: 100: ") &&
                                                 !contains("vocab_size") && !contains("coverage"));
}

TEST_CASE("tags alone need no words: every token of any tokenizer has the tag") {
  const auto tags =
      SourceFeatures({.classes = {}, .tags = {"a", "b"}}, nullptr, "f").with_tag("b", "o");
  CHECK(tags->encode("three words here", 5) == Ids{2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0});
}

TEST_CASE("an unknown tag is an error that lists the tags; more tags keep all other ids") {
  const Text text;
  CHECK_THROWS_WITH(with_tag(text.tokenizers, "genia", "--tag"),
                    contains("--tag: \"genia\": not a tag of the model; it has news, talks"));
  CHECK_THROWS_AS(with_tag(text.tokenizers, "", "data.tag"), ConfigError);
  Tokenizers plain = text.tokenizers;
  plain.features = nullptr;
  CHECK_THROWS_AS(with_tag(plain, "news", "--tag"), ConfigError);
  CHECK_FALSE(with_tag(plain, "", "data.tag").features);
  const std::vector<std::string> more = {"talks", "web"};
  const auto grown = text.features().with_more_tags(more);
  CHECK(grown->size() == text.features().size() + 1);
  CHECK(grown->with_tag("news", "")
            ->encode(text.lines[0], 0 + std::ranges::count(text.lines[0], ' ') + 1) ==
        text.features().encode(text.lines[0], std::ranges::count(text.lines[0], ' ') + 1));
}

TEST_CASE("the stored names give the same features, and broken ones are one clear error") {
  const Text text;
  const SourceFeatures& features = text.features();
  const SourceFeatures back(parse_feature_names(features.serialized(), "features.txt"),
                            parse_sentencepiece(features.pieces()->serialized(), "pieces"), "f");
  CHECK(back.with_tag("news", "")->fingerprint() == features.fingerprint());
  for (const char* broken : {"clas\tx\n", "tag", "tag news\n", "\n", "tag\t\xff\n"}) {
    CHECK_THROWS_WITH(parse_feature_names(broken, "features.txt"), contains("features.txt:1: "));
  }
  CHECK_THROWS_AS(SourceFeatures({.classes = {}, .tags = {"a", "a"}}, nullptr, "f"), DataError);
  CHECK_THROWS_AS(SourceFeatures({.classes = {""}, .tags = {}}, nullptr, "f"), DataError);
}

TEST_CASE("batches and their parts have the features of every line, under its text's tag") {
  Text text;
  const DataConfig mixed = with_training_text(text.config, text.directory / "cache", 1);
  const EncodedCorpus corpus = load_corpus(text.request(mixed));
  const auto sources = read_lines(text_path(mixed.train, "a")), tags = read_lines(tags_file(mixed));
  CHECK(std::ranges::count(tags, "news") == 300);  // and 3 times as many of the 200 others
  CHECK(std::abs(std::ranges::count(tags, "talks") - 900) < 60);
  std::set<std::string> seen;
  BatchStream stream(corpus, {.batch_tokens = 300, .seed = 5});
  for (int i = 0; i < 40; ++i) {
    const Batch batch = stream.next();
    for (const Batch& part : split(batch, 1 + i % 4)) {
      TokenRows wanted;
      for (const int64_t id : part.ids) {
        const auto line = static_cast<size_t>(corpus.line(id)) - 1;
        seen.insert(tags[line]);
        append_features(text.features().encode(sources[line], corpus.source_length(id), tags[line]),
                        wanted);
      }
      CHECK(part.source.features == wanted.features);
      CHECK(part.source.feature_ends == wanted.feature_ends);
      CHECK(part.source.feature_ends.size() == part.source.tokens.size());
    }
  }
  CHECK(seen == std::set<std::string>{"news", "talks"});
  // Another default tag is another corpus only where the lines have no tags of their own.
  CorpusRequest untagged = text.request(mixed);
  untagged.tags.clear();
  const EncodedCorpus plain = load_corpus(untagged);  // with the tag of the first text
  const int64_t last = corpus.size() - 1;
  CHECK(plain.features(0).to_vector() == corpus.features(0).to_vector());
  CHECK(plain.features(last).to_vector() != corpus.features(last).to_vector());
}

TEST_CASE(
    "rare words become unknown with probability z / (z + count), by seed and position alone") {
  const Text text;
  const Tokenizer& source = *text.tokenizers.source;
  const DataConfig mixed = with_training_text(text.config, text.directory / "cache", 1);
  const EncodedCorpus corpus = load_corpus(text.request(mixed));
  const auto dropout = std::make_shared<const WordDropout>(source, 40.0);
  BatchStream plain(corpus, {.batch_tokens = 500, .seed = 5}),
      stream(corpus, {.batch_tokens = 500, .seed = 5, .word_dropout = dropout});
  double expected = 0, replaced = 0;
  for (int i = 0; i < 100; ++i) {
    const StreamPosition before = stream.position();
    const Batch batch = stream.next(), original = plain.next();
    CHECK(batch.source.features == original.source.features);
    CHECK(batch.target_in == original.target_in);
    for (size_t t = 0; t < batch.source.tokens.size(); ++t) {
      const int64_t was = original.source.tokens[t], is = batch.source.tokens[t];
      if (is != was) CHECK(is == source.unknown_form(was));
      if (is != was) ++replaced;
      if (source.unknown_form(was) != was) {
        expected += 40.0 / (40.0 + static_cast<double>(source.count(was)));
      }
    }
    BatchStream resumed(corpus, {.batch_tokens = 500, .seed = 5, .word_dropout = dropout});
    resumed.restore(before);
    CHECK(resumed.next() == batch);
  }
  REQUIRE(expected > 1000);
  CHECK(replaced == Approx(expected).epsilon(0.1));
  const auto uncounted = parse_word_vocabulary("a\nb\n", "list");
  CHECK_THROWS_WITH(WordDropout(*uncounted, 0.8), contains("no counts"));
}
