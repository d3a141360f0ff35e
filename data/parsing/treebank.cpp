#include "data/parsing/treebank.h"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "data/corpus_file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Maximum size of one tree, so that an unclosed bracket does not exhaust the memory.
constexpr size_t kMostTreeBytes = size_t{1} << 24;
constexpr uint64_t kVersion = 2;

std::string joined(const std::vector<std::string>& parts) {
  std::string line;
  for (const std::string& part : parts) {
    if (!line.empty()) line += ' ';
    line += part;
  }
  return line;
}

/// A file of trees and how often each tree is repeated.
struct Source {
  fs::path path;
  double times = 1.0;
  uint64_t hash = hash_file(path);
};

/// The seed, or 0 if no tree is repeated: the text then does not depend on it.
uint64_t copies_seed(const std::vector<Source>& sources, uint64_t seed) {
  return std::ranges::all_of(sources, [](const Source& one) { return one.times == 1.0; }) ? 0
                                                                                          : seed;
}

Random copies_random(const std::vector<Source>& sources, uint64_t seed) {
  return {copies_seed(sources, seed), 0x7472656573};  // "trees"
}

/// The number of copies of the next tree.
int64_t copies_of(const Source& source, Random& random) {
  return static_cast<int64_t>(source.times + random.uniform());
}

/// Writes the two text files; they get their final names when both are complete.
class TreeTextWriter {
 public:
  TreeTextWriter(const std::string& prefix, TreeForm form, const LabelSet& labels)
      : form_(form),
        labels_(labels),
        words_(text_path(prefix, kWordsSuffix)),
        symbols_(text_path(prefix, kSymbolsSuffix)) {}

  void add(const Source& source, const TreeOptions& options, Random& random) {
    TreeReader reader(source.path, options);
    for (Tree tree; reader.next(tree);) {
      const int64_t copies = copies_of(source, random);
      tree = bare_tree(std::move(tree));
      const auto words = tree_words(tree);
      if (words.empty() || copies == 0) continue;
      const std::string word_line = joined(words) + "\n",
                        symbol_line = joined(linearize(tree, form_, labels_)) + "\n";
      for (int64_t i = 0; i < copies; ++i) {
        words_.stream() << word_line;
        symbols_.stream() << symbol_line;
      }
    }
    require_same_hash(source.path, source.hash, reader.hash());
    words_.check();
    symbols_.check();
  }

  void commit() {
    words_.commit();
    symbols_.commit();
  }

 private:
  TreeForm form_;
  const LabelSet& labels_;
  NewFile words_, symbols_;
};

/// Writes the text unless it exists.
std::string make_text(const std::vector<Source>& sources, const DataConfig& data,
                      const LabelSet& labels, const fs::path& cache, uint64_t seed) {
  Hasher key;
  key.update(kVersion);
  key.update(copies_seed(sources, seed));
  key.update(static_cast<uint64_t>(data.tree_form));
  key.update(static_cast<uint64_t>(data.drop_traces) * 2 +
             static_cast<uint64_t>(data.drop_functions));
  for (const std::string& label : labels) key.update(hash_text(label));
  for (const Source& source : sources) {
    key.update(source.hash);
    key.update(static_cast<uint64_t>(std::llround(source.times * 1e6)));
  }
  std::string prefix = (cache / "trees-").string();
  prefix += to_hex(key.digest());
  if (fs::exists(text_path(prefix, kWordsSuffix)) && fs::exists(text_path(prefix, kSymbolsSuffix)))
    return prefix;
  std::error_code error;
  fs::create_directories(cache, error);
  if (error) throw DataError(cache.string() + ": cannot be created: " + error.message());
  TreeTextWriter writer(prefix, data.tree_form, labels);
  Random random = copies_random(sources, seed);
  for (const Source& source : sources) writer.add(source, tree_options(data), random);
  writer.commit();
  return prefix;
}

/// Adds the labels of a file; returns the number of its trees that have words.
int64_t survey(const fs::path& path, const TreeOptions& options, LabelSet& labels, const Log& log) {
  int64_t used = 0, wordless = 0;
  TreeReader reader(path, options);
  for (Tree tree; reader.next(tree);) {
    tree = bare_tree(std::move(tree));
    if (tree_words(tree).empty()) {
      ++wordless;
      continue;
    }
    ++used;
    collect_labels(tree, labels);
  }
  if (used == 0) throw DataError(path.string() + ": contains no tree with words");
  if (log) {
    std::string line = path.string() + ": " + std::to_string(used) + " trees";
    if (wordless > 0) line += "; dropped: " + std::to_string(wordless) + " without words";
    log(line);
  }
  return used;
}

/// The trees of data.train and data.silver.
struct Trees {
  LabelSet labels;
  int64_t gold = 0, silver = 0;
};

Trees survey(const DataConfig& data, const Log& log) {
  Trees trees;
  trees.gold = survey(data.train, tree_options(data), trees.labels, log);
  for (const std::string& path : data.silver) {
    trees.silver += survey(path, tree_options(data), trees.labels, log);
  }
  return trees;
}

/// Mean number of copies of each gold tree and of each silver tree.
std::pair<double, double> times_of(const Trees& trees, const DataConfig& data) {
  if (trees.silver == 0 || data.silver_ratio <= 0) return {1.0, 1.0};
  const double wanted = data.silver_ratio * static_cast<double>(trees.gold);
  const double ratio = static_cast<double>(trees.silver) / wanted;
  if (ratio > 1) return {ratio, 1.0};
  return {1.0, 1 / ratio};
}

std::vector<Source> sources_of(const DataConfig& data, double gold_times, double silver_times) {
  std::vector<Source> sources = {{data.train, gold_times}};
  for (const std::string& path : data.silver) sources.push_back({path, silver_times});
  return sources;
}

/// The config with `train` changed to the text with these numbers of copies.
DataConfig with_text(const DataConfig& data, const LabelSet& labels, double gold_times,
                     double silver_times, const fs::path& cache, uint64_t seed) {
  DataConfig text = data;
  text.train = make_text(sources_of(data, gold_times, silver_times), data, labels, cache, seed);
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
    if (text.empty() && line.find_first_not_of(" \t\r\f\v") == std::string::npos) {
      first_line = lines_.number() + 1;
      continue;
    }
    text += line;
    text += '\n';
    open += std::ranges::count(line, '(') - std::ranges::count(line, ')');
    if (open <= 0) break;
    if (text.size() > kMostTreeBytes) {
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
  return {.drop_traces = data.drop_traces, .drop_functions = data.drop_functions};
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

DataConfig with_training_text(const DataConfig& data, const fs::path& cache, uint64_t seed,
                              const Log& log) {
  if (data.task == Task::translation) return data;
  const Trees trees = survey(data, log);
  const auto [gold_times, silver_times] = times_of(trees, data);
  if (log && trees.silver > 0 && data.silver_ratio > 0) {
    log("each gold tree is used " + std::to_string(gold_times) + " times, each silver one " +
        std::to_string(silver_times) + " times on average (data.silver_ratio)");
  }
  return with_text(data, trees.labels, gold_times, silver_times, cache, seed);
}

std::string training_tree_place(const DataConfig& data, uint64_t seed, int64_t line) {
  const auto [gold_times, silver_times] = times_of(survey(data, {}), data);
  const std::vector<Source> sources = sources_of(data, gold_times, silver_times);
  Random random = copies_random(sources, seed);
  int64_t at = 0;
  for (const Source& source : sources) {
    TreeReader reader(source.path, tree_options(data));
    for (Tree tree; reader.next(tree);) {
      const int64_t copies = copies_of(source, random);
      if (!tree_words(bare_tree(std::move(tree))).empty()) at += copies;
      if (at >= line) return source.path.string() + ":" + std::to_string(reader.line());
    }
  }
  throw DataError(data.train + ": the trees have changed since they were encoded");
}

DataConfig with_vocabulary_text(const DataConfig& data, const fs::path& cache) {
  if (data.task == Task::translation) return data;
  return with_text(data, survey(data, {}).labels, 1.0, 1.0, cache, 0);
}

std::string tree_text(const fs::path& trees, const DataConfig& data, const LabelSet& labels,
                      const fs::path& cache) {
  return make_text({{trees, 1.0}}, data, labels, cache, 0);
}

}  // namespace attn
