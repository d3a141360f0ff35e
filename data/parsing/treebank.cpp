#include "data/parsing/treebank.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "data/corpus_check.h"
#include "data/mixture.h"
#include "data/word_vocabulary.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Maximum size of one tree, so that an unclosed bracket does not exhaust the memory.
constexpr size_t kMaxTreeBytes = size_t{1} << 24;
constexpr uint64_t kTreeTextVersion = 3;

/// Writes the text files, with tags if there are any; they get their final names when all are
/// complete.
class TreeTextWriter {
 public:
  TreeTextWriter(const std::string& prefix, TreeForm form, const LabelSet& labels, bool tagged)
      : form_(form),
        labels_(labels),
        words_(text_path(prefix, kWordsSuffix)),
        symbols_(text_path(prefix, kSymbolsSuffix)) {
    if (tagged) tags_.emplace(text_path(prefix, kTagsSuffix));
  }

  void add(const MixturePart& part, uint64_t hash, const TreeOptions& options, CopyCounts& counts) {
    TreeReader reader(part.text, options);
    for (Tree tree; reader.next(tree);) {
      const int64_t copies = counts.next(part);
      tree = bare_tree(std::move(tree));
      const auto words = tree_words(tree);
      if (words.empty() || copies == 0) continue;
      const std::string word_line = joined(words) + "\n",
                        symbol_line = joined(linearize(tree, form_, labels_)) + "\n";
      for (int64_t i = 0; i < copies; ++i) {
        words_.stream() << word_line;
        symbols_.stream() << symbol_line;
        if (tags_) tags_->stream() << part.tag << '\n';
      }
    }
    require_same_hash(part.text, hash, reader.hash());
    words_.check();
    symbols_.check();
  }

  void commit() {
    if (tags_) tags_->commit();
    words_.commit();
    symbols_.commit();
  }

 private:
  TreeForm form_;
  const LabelSet& labels_;
  NewFile words_, symbols_;
  std::optional<NewFile> tags_;
};

/// Writes the text.
std::string make_text(const std::vector<MixturePart>& parts, const DataConfig& data,
                      const LabelSet& labels, const fs::path& cache, uint64_t seed, bool tagged) {
  CopyCounts counts(parts, seed);
  Hasher key;
  key.update(kTreeTextVersion);
  key.update(counts.seed());
  key.update(static_cast<uint64_t>(data.tree_form));
  key.update(static_cast<uint64_t>(data.drop_traces) * 2 +
             static_cast<uint64_t>(data.drop_functions));
  for (const std::string& label : labels) key.update(hash_text(label));
  std::vector<uint64_t> hashes;
  for (const MixturePart& part : parts) {
    hashes.push_back(hash_file(part.text));
    key.update(hashes.back());
    key.update(static_cast<uint64_t>(std::llround(part.times * 1e6)));
    if (tagged) key.update(hash_text(part.tag));
  }
  std::string prefix = (cache / "trees-").string();
  prefix += to_hex(key.digest());
  make_directories(cache);
  TreeTextWriter writer(prefix, data.tree_form, labels, tagged);
  for (size_t i = 0; i < parts.size(); ++i) {
    writer.add(parts[i], hashes[i], tree_options(data), counts);
  }
  writer.commit();
  return prefix;
}

/// Adds the labels of a file; returns the number of its trees that have words.
int64_t survey(const fs::path& path, const TreeOptions& options, LabelSet& labels, const Log& log) {
  require_regular_file(path);
  int64_t used = 0, wordless = 0, broken = 0, first_broken = 0;
  TreeReader reader(path, options);
  for (Tree tree; reader.next(tree);) {
    tree = bare_tree(std::move(tree));
    const std::vector<std::string> words = tree_words(tree);
    if (words.empty()) {
      ++wordless;
      continue;
    }
    ++used;
    if (find_invalid_utf8(write_tree(tree)) && broken++ == 0) first_broken = reader.line();
    collect_labels(tree, labels);
  }
  if (used == 0) throw DataError(path.string() + ": contains no tree with words");
  if (broken * 100 > used) {  // fewer are dropped with a message, as in other texts
    throw DataError(path.string() + ":" + std::to_string(first_broken) + ": not valid UTF-8, as " +
                    std::to_string(broken) + " of " + std::to_string(used) +
                    " trees; convert the treebank, for example with iconv");
  }
  if (log) {
    std::string line = path.string() + ": " + std::to_string(used) + " trees";
    if (wordless > 0) line += "; dropped: " + std::to_string(wordless) + " without words";
    log(line);
  }
  return used;
}

/// The treebanks of the config with their numbers of trees, and all their labels.
struct Mixture {
  std::vector<MixturePart> parts;
  LabelSet labels;
};

Mixture survey(const DataConfig& data, const Log& log) {
  Mixture mixture{mixture_parts(data), {}};
  for (MixturePart& part : mixture.parts) {
    part.sentences = survey(part.text, tree_options(data), mixture.labels, log);
  }
  return mixture;
}

/// The config with `train` changed to the text of the mixture.
DataConfig with_text(const DataConfig& data, const Mixture& mixture, const fs::path& cache,
                     uint64_t seed, bool tagged) {
  DataConfig text = data;
  text.train = make_text(mixture.parts, data, mixture.labels, cache, seed, tagged);
  text.source = kWordsSuffix;
  text.target = kSymbolsSuffix;
  return text;
}

}  // namespace

TreeReader::TreeReader(const fs::path& path, const TreeOptions& options)
    : lines_(path), options_(options) {}

bool TreeReader::fill() {
  std::string text, line;
  int64_t open = 0, first_line = lines_.number() + 1;
  while (lines_.next(line)) {
    const std::string place = lines_.path().string() + ":" + std::to_string(lines_.number());
    if (lines_.cut()) throw DataError(place + ": a line of more than 1 MiB; expected a tree");
    if (text.empty() && std::ranges::all_of(line, is_ascii_space)) {
      first_line = lines_.number() + 1;
      continue;
    }
    text += line;
    text += '\n';
    open += std::ranges::count(line, '(') - std::ranges::count(line, ')');
    if (open <= 0) break;
    if (text.size() > kMaxTreeBytes) {
      throw DataError(lines_.path().string() + ":" + std::to_string(first_line) +
                      ": this bracket is not closed within 16 MiB");
    }
  }
  if (text.empty()) return false;
  line_ = first_line;
  trees_ = parse_trees(text, lines_.path().string(), options_, first_line);
  std::ranges::reverse(trees_);
  return true;
}

bool TreeReader::next(Tree& tree) {
  while (trees_.empty()) {
    if (!fill()) return false;
  }
  tree = std::move(trees_.back());
  trees_.pop_back();
  return true;
}

TreeOptions tree_options(const DataConfig& data) {
  return {.drop_traces = data.drop_traces,
          .drop_functions = data.drop_functions,
          .require_words = true};
}

Tree bare_tree(Tree tree) {
  tree = strip_root(drop_empty(std::move(tree)));
  if (tree.children.size() > 1 && is_root_label(tree.label)) tree.label = "TOP";
  return tree;
}

Tree with_root(Tree tree) {
  if (!tree.is_leaf() && tree.children.empty()) return tree;
  if (!tree.is_leaf() && is_root_label(tree.label)) {
    tree.label = "TOP";
    return tree;
  }
  std::vector<Tree> children;
  children.push_back(std::move(tree));
  return tree_node("TOP", std::move(children));
}

Tree as_parsed(Tree gold) {
  return with_root(bare_tree(std::move(gold)));
}

LabelSet vocabulary_labels(const Tokenizer& symbols, TreeForm form) {
  std::vector<std::string> pieces;
  for (int64_t id = 0; id < symbols.size(); ++id) {
    if (id != symbols.unk() && id != symbols.bos() && id != symbols.eos()) {
      pieces.push_back(symbols.piece(id));
    }
  }
  return closed_labels(pieces, form);
}

std::vector<std::optional<TreeSymbol>> vocabulary_symbols(const Tokenizer& symbols, TreeForm form) {
  const LabelSet labels = vocabulary_labels(symbols, form);
  std::vector<std::optional<TreeSymbol>> meanings(static_cast<size_t>(symbols.size()));
  for (int64_t id = 0; id < symbols.size(); ++id) {
    if (id == symbols.unk() || id == symbols.bos() || id == symbols.eos()) continue;
    meanings[static_cast<size_t>(id)] = read_symbol(symbols.piece(id), form, labels);
  }
  return meanings;
}

std::vector<int32_t> leaf_tokens(const Tokenizer& symbols, TreeForm form) {
  const auto meanings = vocabulary_symbols(symbols, form);
  std::vector<int32_t> leaves;
  for (size_t id = 0; id < meanings.size(); ++id) {
    if (meanings[id] && meanings[id]->kind == TreeSymbol::Kind::leaf) {
      leaves.push_back(static_cast<int32_t>(id));
    }
  }
  return leaves;
}

void require_known_symbols(const fs::path& text, const Tokenizer& symbols) {
  LineReader reader(text);
  for (std::string line; reader.next(line);) {
    if (reader.cut()) continue;  // nor is it trained on
    for_each_word(line, [&](std::string_view symbol) {
      if (symbols.encode(symbol) != std::vector<int32_t>{symbols.unk()}) return;
      throw DataError("the vocabulary of tree symbols lacks '" + std::string(symbol) +
                      "' of the training trees (data.target_model, train.init_from); use a "
                      "vocabulary that was built from these trees as well");
    });
  }
}

DataConfig with_training_text(const DataConfig& data, const fs::path& cache, uint64_t seed,
                              const Log& log) {
  if (data.task == Task::translation) return mixed_pairs(data, cache, seed, true, log);
  Mixture mixture = survey(data, log);
  set_times(mixture.parts);
  log_times(mixture.parts, log);
  return with_text(data, mixture, cache, seed, !data.tag.empty());
}

DataConfig with_vocabulary_text(const DataConfig& data, const fs::path& cache) {
  if (data.task == Task::translation) return mixed_pairs(data, cache, 0, false);
  return with_text(data, survey(data, {}), cache, 0, false);
}

void check_treebank(const fs::path& trees, const TreeOptions& options) {
  LabelSet ignored;
  survey(trees, options, ignored, {});
}

void check_validation_text(const DataConfig& data, const std::string& text) {
  if (data.task == Task::parsing) {
    Tree first;
    TreeReader(text, tree_options(data)).next(first);
    return;
  }
  PairReader pairs(text_path(text, data.source), text_path(text, data.target));
  for (TextPair pair; pairs.next(pair);) continue;
}

std::string tree_text(const fs::path& trees, const DataConfig& data, const LabelSet& labels,
                      const fs::path& cache) {
  check_treebank(trees, tree_options(data));
  return make_text({{.text = trees.string()}}, data, labels, cache, 0, false);
}

}  // namespace attn
