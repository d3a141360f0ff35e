#include "app/inspect/pairs.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "data/lines.h"
#include "data/parsing/penn_tokenize.h"
#include "data/parsing/treebank.h"
#include "eval/search/batched_search.h"
#include "eval/tasks/parser.h"

namespace attn {
namespace {

bool is_parser(const LoadedModel& loaded) {
  return loaded.experiment.data.task == Task::parsing;
}

// A line as attn translate and attn parse read it.
std::string read_as_input(const LoadedModel& loaded, const std::string& line) {
  return is_parser(loaded) ? joined(tokenized_words(line)) : line;
}

ScoredPair source_of(const LoadedModel& loaded, const std::string& line) {
  return scored_pair(loaded.tokenizers, read_as_input(loaded, line), "");
}

std::vector<int32_t> tree_tokens(const LoadedModel& loaded, const Tree& tree) {
  const Tokenizer& symbols = *loaded.tokenizers.target;
  const TreeForm form = loaded.experiment.data.tree_form;
  return symbols.encode(joined(linearize(bare_tree(tree), form, vocabulary_labels(symbols, form))));
}

// The target side of a parser: trees over the words of the lines.
std::vector<std::vector<int32_t>> read_tree_targets(const LoadedModel& loaded,
                                                    std::span<const std::string> source,
                                                    const std::filesystem::path& path) {
  std::vector<std::vector<int32_t>> targets;
  for (const Tree& tree : read_trees(path, tree_options(loaded.experiment.data))) {
    if (targets.size() < source.size() &&
        tree_words(tree) != tokenized_words(source[targets.size()])) {
      throw DataError(path.string() + ": tree " + std::to_string(targets.size() + 1) +
                      " does not match the words of its source line");
    }
    targets.push_back(tree_tokens(loaded, tree));
  }
  return targets;
}

struct Targets {
  std::vector<std::vector<int32_t>> tokens;
  std::vector<std::string> lines;  // empty for a parser
};

Targets read_targets(const LoadedModel& loaded, std::span<const std::string> source,
                     const std::filesystem::path& path) {
  Targets targets;
  if (is_parser(loaded)) {
    targets.tokens = read_tree_targets(loaded, source, path);
  } else {
    targets.lines = read_utf8_lines(path);
    for (const std::string& line : targets.lines) {
      targets.tokens.push_back(loaded.tokenizers.target->encode(line));
    }
  }
  if (targets.tokens.size() == source.size()) return targets;
  throw DataError(path.string() + ": has " + counted(std::ssize(targets.tokens), "sentence") +
                  ", the source " + std::to_string(source.size()));
}

// Adds a pair, or counts it as left out.
void select(SelectedPairs& selected, size_t line, ScoredPair pair, const LoadedModel& loaded,
            const PairLimits& limits) {
  const int64_t positions = loaded.model->max_length().value_or(limits.max_tokens + 1);
  const auto limit = static_cast<size_t>(std::min(limits.max_tokens, positions - 1));
  if (pair.source.empty() || pair.source.size() > limit || pair.target.size() > limit) {
    ++selected.left_out;
    return;
  }
  selected.pairs.push_back(std::move(pair));
  selected.lines.push_back(line);
}

std::vector<std::vector<int32_t>> translated(LoadedModel& loaded,
                                             std::span<const ScoredPair> pairs) {
  SearchConfig search = loaded.experiment.search;
  search.nbest = 1;
  BatchedSearch how{.search = search, .inference = loaded.model->inference(search.weights)};
  std::vector<std::vector<int32_t>> sources, targets;
  for (const ScoredPair& pair : pairs) {
    sources.push_back(pair.source);
    if (loaded.tokenizers.features) how.features.push_back(pair.features);
  }
  for (const auto& nbest : batched_search(*loaded.model, loaded.tokenizers, sources, how)) {
    targets.push_back(nbest.empty() ? std::vector<int32_t>() : nbest.front().tokens);
  }
  return targets;
}

std::vector<std::vector<int32_t>> parsed(LoadedModel& loaded, std::span<const std::string> lines) {
  SearchConfig search = loaded.experiment.search;
  search.nbest = 1;
  Parser parser(*loaded.model, loaded.tokenizers, loaded.experiment.data.tree_form, search);
  std::vector<std::vector<std::string>> sentences;
  for (const std::string& line : lines) sentences.push_back(tokenized_words(line));
  std::vector<std::vector<int32_t>> targets;
  for (const auto& nbest : parser.parse(sentences)) {
    targets.push_back(tree_tokens(loaded, nbest.front().tree));
  }
  return targets;
}

}  // namespace

SelectedPairs reference_pairs(const LoadedModel& loaded, std::span<const std::string> source,
                              const std::filesystem::path& target, const PairLimits& limits) {
  Targets targets = read_targets(loaded, source, target);
  SelectedPairs selected;
  const size_t lines = std::min(source.size(), static_cast<size_t>(limits.lines));
  for (size_t i = 0; i < lines; ++i) {
    ScoredPair pair = source_of(loaded, source[i]);
    pair.target = std::move(targets.tokens[i]);
    select(selected, i, std::move(pair), loaded, limits);
  }
  for (const size_t line : selected.lines) {
    selected.texts.push_back({read_as_input(loaded, source[line]),
                              targets.lines.empty() ? "" : std::move(targets.lines[line])});
  }
  return selected;
}

SelectedPairs decoded_pairs(LoadedModel& loaded, std::span<const std::string> source,
                            const PairLimits& limits) {
  source = source.first(std::min(source.size(), static_cast<size_t>(limits.lines)));
  // Long sentences are not searched.
  SelectedPairs sources;
  for (size_t i = 0; i < source.size(); ++i) {
    select(sources, i, source_of(loaded, source[i]), loaded, limits);
  }
  std::vector<std::string> lines;
  for (const size_t line : sources.lines) lines.push_back(source[line]);
  auto targets = is_parser(loaded) ? parsed(loaded, lines) : translated(loaded, sources.pairs);
  SelectedPairs selected{.pairs = {}, .texts = {}, .lines = {}, .left_out = sources.left_out};
  for (size_t i = 0; i < targets.size(); ++i) {
    sources.pairs[i].target = std::move(targets[i]);
    select(selected, sources.lines[i], std::move(sources.pairs[i]), loaded, limits);
  }
  for (const size_t line : selected.lines) {
    selected.texts.push_back({read_as_input(loaded, source[line]), ""});
  }
  return selected;
}

std::vector<std::string> source_lines(const LoadedModel& loaded, const std::string& data) {
  const DataConfig& config = loaded.experiment.data;
  require_text("--data", data, config);
  if (!is_parser(loaded)) return read_utf8_lines(text_path(data, config.source));
  std::vector<std::string> lines;
  for (const Tree& tree : read_trees(data, tree_options(config))) {
    lines.push_back(joined(tree_words(tree)));
  }
  return lines;
}

std::filesystem::path target_path(const LoadedModel& loaded, const std::string& data) {
  return is_parser(loaded) ? data : text_path(data, loaded.experiment.data.target);
}

}  // namespace attn
