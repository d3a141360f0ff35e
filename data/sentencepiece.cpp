#include "data/sentencepiece.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <exception>
#include <regex>
#include <stdexcept>
#include <thread>
#include <unordered_map>

#include "base/error.h"
#include "base/format.h"
#include "base/random.h"
#include "base/utf8.h"
#include "data/lines.h"
#include "data/word_vocabulary.h"

namespace attn {
namespace {

namespace sp = ::sentencepiece;

/// Tabs and other white space separate words like spaces; the library would keep them, as unknown
/// characters.
std::string with_spaces(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace_if(spaced, is_ascii_space, ' ');
  return spaced;
}

class SentencePiece : public Tokenizer {
 public:
  SentencePiece(std::string bytes, const std::string& name) : bytes_(std::move(bytes)) {
    check_sentencepiece_bytes(bytes_, name);
    std::string why;
    try {
      const auto status = processor_.LoadFromSerializedProto(bytes_);
      if (!status.ok()) why = status.message();
    } catch (const std::exception& error) {  // of the library's trie
      why = error.what();
    }
    if (!why.empty()) {
      throw DataError(name + ": not a SentencePiece model, or corrupt (" + why + ")");
    }
    if (eos() < 0) {
      throw DataError(name + ": the model has no EOS token </s>; train it with --eos_id=2");
    }
  }

  int64_t size() const override { return processor_.GetPieceSize(); }

  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int> tokens;
    require_ok(processor_.Encode(with_spaces(text), &tokens), "encode");
    return tokens;
  }

  std::string decode(std::span<const int32_t> tokens) const override {
    for (const int32_t token : tokens) check(token);
    std::string text;
    require_ok(processor_.Decode(std::vector<int>(tokens.begin(), tokens.end()), &text), "decode");
    return text;
  }

  std::string piece(int64_t id) const override {
    check(id);
    return processor_.IdToPiece(static_cast<int>(id));
  }

  int32_t bos() const override {
    const int start = processor_.bos_id();
    return start >= 0 ? start : eos();
  }
  int32_t eos() const override { return processor_.eos_id(); }
  int32_t unk() const override { return processor_.unk_id(); }
  const std::string& serialized() const override { return bytes_; }

 private:
  static void require_ok(const sp::util::Status& status, const std::string& what) {
    if (status.ok()) return;
    throw DataError("the SentencePiece model cannot " + what + " a sentence: " + status.ToString());
  }

  void check(int64_t id) const {
    if (id >= 0 && id < size()) return;
    throw std::out_of_range("token " + std::to_string(id) + " of a vocabulary of " +
                            std::to_string(size()));
  }

  std::string bytes_;
  sp::SentencePieceProcessor processor_;
};

/// Passes the prepared training lines to the library.
class Lines : public sp::SentenceIterator {
 public:
  explicit Lines(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  bool done() const override { return at_ >= lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sp::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> lines_;
  size_t at_ = 0;
};

/// UTF-8 in parts of at most `longest` characters. Names of special tokens are split after "<": the
/// library would remove them, and their characters would be unknown if they occur nowhere else.
std::vector<std::string> parts_of(std::string_view word, size_t longest) {
  std::vector<std::string> parts;
  size_t begin = 0, characters = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    const bool starts_character = (word[i] & 0xc0) != 0x80;
    if (!starts_character) continue;
    const std::string_view rest = word.substr(i);
    const bool in_name =
        i > begin && word[i - 1] == '<' &&
        (rest.starts_with("s>") || rest.starts_with("/s>") || rest.starts_with("unk>"));
    if (++characters <= longest && !in_name) continue;
    parts.emplace_back(word.substr(begin, i - begin));
    begin = i;
    characters = 1;
  }
  parts.emplace_back(word.substr(begin));
  return parts;
}

/// Adds the characters of the texts that are not in `words`, with their counts, so that the
/// coverage is that of the text. A special token before each one keeps the library from merging it.
void add_characters_left_out(std::span<const std::filesystem::path> texts,
                             std::span<const WordCount> words, std::vector<std::string>& lines,
                             const Log& log) {
  std::vector<int64_t> left_out(0x110000);  // by code point
  int64_t all = 0, missing = 0;
  for (const auto& path : texts) {
    LineReader reader(path);
    for (std::string line; reader.next(line);) {
      if (reader.cut() || find_invalid_utf8(line)) continue;  // as count_words
      for_each_word(line, [&](std::string_view word) {
        for (const char32_t c : decode_utf8(word)) ++left_out[c], ++all;
      });
    }
  }
  for (const auto& [word, count] : words) {
    for (const char32_t c : decode_utf8(word)) left_out[c] -= count;
  }
  for (size_t c = 0; c < left_out.size(); ++c) {
    if (left_out[c] <= 0) continue;
    missing += left_out[c];
    lines.emplace_back("<s>");
    append_utf8(lines.back(), static_cast<char32_t>(c));
    lines.back().append("\t").append(std::to_string(left_out[c]));
  }
  if (log && missing > 0) {
    log(
        format("the BPE merges are learnt from the %zu most frequent words; %.2f %% of the "
               "characters are in others",
               words.size(), 100.0 * static_cast<double>(missing) / static_cast<double>(all)));
  }
}

/// Words with their counts, for BPE. BPE merges only within words, so that counts are equivalent to
/// the full text and need far less memory: a few hundred bytes per distinct word. Longer words than
/// `kLongestWord` are split.
std::vector<std::string> counted_words(std::span<const std::filesystem::path> texts,
                                       size_t max_words, const Log& log) {
  constexpr size_t kLongestWord = 1 << 14;  // characters; the library fails at about 40,000
  std::vector<std::string> lines;
  const auto words = count_words(texts, max_words);
  for (const auto& [word, count] : words) {
    for (const std::string& part : parts_of(word, kLongestWord)) {
      lines.push_back(part + "\t" + std::to_string(count));
    }
  }
  if (words.size() == max_words) add_characters_left_out(texts, words, lines, log);
  return lines;
}

/// Whether a character survives every normalization: not a control, space or zero-width character,
/// nor one of the two characters that the library reserves.
bool is_visible(char32_t c) {
  const bool control = c <= 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad;
  const bool blank = c == 0x1680 || c == 0x180e || (c >= 0x2000 && c <= 0x200f) ||
                     (c >= 0x2028 && c <= 0x202f) || (c >= 0x205f && c <= 0x206f) || c == 0x3000;
  const bool sign = c == 0x2581 || c == 0x2585 || c == 0xfeff || c >= 0xfff0;
  return !control && !blank && (!sign || c >= 0x10000);
}

/// Whether a line has a visible character. Without any in the text, the library aborts.
bool has_visible(const std::string& line) {
  return std::ranges::any_of(decode_utf8(line), is_visible);
}

/// Lines for the unigram model, which extracts its seed pieces from running text and needs about 25
/// bytes per character. Large texts are subsampled evenly and deterministically.
std::vector<std::string> sampled_lines(std::span<const std::filesystem::path> texts) {
  constexpr double max_bytes = 40e6;
  double bytes = 0;
  for (const auto& path : texts) bytes += static_cast<double>(std::filesystem::file_size(path));
  Random random(1);
  std::vector<std::string> lines;
  for (const auto& path : texts) {
    LineReader reader(path);
    for (std::string line; reader.next(line);) {
      const bool taken = random.uniform() * bytes < max_bytes;
      if (!taken || reader.cut() || !has_visible(line) || find_invalid_utf8(line)) continue;
      replace_all(line, "\u2585", " ");  // reserved: the library would leave out the whole line
      for (std::string& part : parts_of(with_spaces(line), line.size())) {
        lines.push_back(std::move(part));
      }
    }
  }
  return lines;
}

// `longest`: bytes of the longest line of the text.
std::unordered_map<std::string, std::string> trainer_options(const DataConfig& config,
                                                             size_t longest) {
  constexpr size_t kDefaultLongest = 4192;  // the library leaves out longer lines
  const bool counted = config.tokenizer == TokenizerKind::bpe;
  std::unordered_map<std::string, std::string> options = {
      {"model_type", std::string(enum_name(config.tokenizer))},
      {"vocab_size", std::to_string(config.vocab_size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", std::to_string(config.character_coverage)},
      {"normalization_rule_name", std::string(enum_name(config.normalization))},
      {"input_format", counted ? "tsv" : "text"},
      {"unk_id", "0"},
      {"bos_id", "1"},
      {"eos_id", "2"},
      {"pad_id", "-1"},
      // Sums of the unigram model depend on it: constant, so that all machines give the same model.
      {"num_threads", "8"},
      {"minloglevel", "3"}};
  // The model contains it: not set without need, since models are compared by their bytes.
  if (longest > kDefaultLongest) options["max_sentence_length"] = std::to_string(longest);
  return options;
}

}  // namespace

std::string learn_sentencepiece(std::span<const std::filesystem::path> texts,
                                const DataConfig& config, const VocabularyOptions& options,
                                const Log& log) {
  std::string model;
  sp::util::Status status;
  std::exception_ptr error;
  // The library has one random generator per thread; a new thread starts from its seed.
  std::thread([&] {
    try {
      sp::SetRandomGeneratorSeed(1);
      std::vector<std::string> sentences = config.tokenizer == TokenizerKind::bpe
                                               ? counted_words(texts, options.max_words, log)
                                               : sampled_lines(texts);
      size_t longest = 0;
      for (const std::string& line : sentences) longest = std::max(longest, line.size());
      Lines lines(std::move(sentences));
      if (lines.done()) throw DataError(texts.front().string() + ": no text to train on");
      status = sp::SentencePieceTrainer::Train(trainer_options(config, longest), &lines, &model);
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  if (!status.ok()) {
    const std::string reason = status.message();
    std::smatch sizes;
    if (!std::regex_search(reason, sizes, std::regex("required_chars. \\d+ vs (\\d+)"))) {
      throw DataError(texts.front().string() + ": SentencePiece training failed: " + reason);
    }
    throw ConfigError(std::string(options.size) + ": " + std::to_string(config.vocab_size) +
                      ": the text's characters and the special tokens need " + sizes.str(1) +
                      "; increase it");
  }
  return model;
}

bool looks_like_sentencepiece(std::string_view bytes) {
  // A model starts with the tag of its first piece, 0x0a, which in a word list would be an empty
  // first line. Zero bytes are no criterion, since words may contain them.
  return bytes.starts_with('\n');
}

std::unique_ptr<Tokenizer> parse_sentencepiece(std::string bytes, const std::string& name) {
  return std::make_unique<SentencePiece>(std::move(bytes), name);
}

}  // namespace attn
