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

// The symbols of a tree, which a parser has on its target side.
std::string symbols_of(const LoadedModel& loaded, const Tree& tree) {
  const TreeForm form = loaded.experiment.data.tree_form;
  return joined(
      linearize(bare_tree(tree), form, vocabulary_labels(*loaded.tokenizers.target, form)));
}

// The target side as text: lines, or for a parser the symbols of trees over the source's words.
std::vector<std::string> target_lines(const LoadedModel& loaded,
                                      std::span<const std::string> source,
                                      const std::filesystem::path& path) {
  std::vector<std::string> lines;
  if (!is_parser(loaded)) {
    lines = read_utf8_lines(path);
  } else {
    for (const Tree& tree : read_trees(path, tree_options(loaded.experiment.data))) {
      const size_t i = lines.size();
      if (i < source.size() && tree_words(tree) != tokenized_words(source[i])) {
        throw DataError(path.string() + ": tree " + std::to_string(i + 1) +
                        " does not match the words of its source line");
      }
      lines.push_back(symbols_of(loaded, tree));
    }
  }
  if (lines.size() == source.size()) return lines;
  throw DataError(path.string() + ": has " + counted(std::ssize(lines), "sentence") +
                  ", the source " + std::to_string(source.size()));
}

// Adds a pair, or counts it as left out.
void select(SelectedPairs& selected, size_t line, ScoredPair pair, PairTexts texts,
            const LoadedModel& loaded, const PairLimits& limits) {
  const int64_t positions = loaded.model->max_length().value_or(limits.max_tokens + 1);
  const auto limit = static_cast<size_t>(std::min(limits.max_tokens, positions - 1));
  if (pair.source.empty() || pair.source.size() > limit || pair.target.size() > limit) {
    ++selected.left_out;
    return;
  }
  selected.pairs.push_back(std::move(pair));
  selected.texts.push_back(std::move(texts));
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
    targets.push_back(loaded.tokenizers.target->encode(symbols_of(loaded, nbest.front().tree)));
  }
  return targets;
}

}  // namespace

SelectedPairs reference_pairs(const LoadedModel& loaded, std::span<const std::string> source,
                              const std::filesystem::path& target, const PairLimits& limits) {
  const std::vector<std::string> targets = target_lines(loaded, source, target);
  SelectedPairs selected;
  for (size_t i = 0; i < std::min(source.size(), static_cast<size_t>(limits.lines)); ++i) {
    const PairTexts texts{read_as_input(loaded, source[i]), targets[i]};
    select(selected, i, scored_pair(loaded.tokenizers, texts.source, texts.target), texts, loaded,
           limits);
  }
  return selected;
}

SelectedPairs decoded_pairs(LoadedModel& loaded, std::span<const std::string> source,
                            const PairLimits& limits) {
  SelectedPairs sources;  // long sentences are not searched
  for (size_t i = 0; i < std::min(source.size(), static_cast<size_t>(limits.lines)); ++i) {
    const PairTexts texts{read_as_input(loaded, source[i]), ""};
    select(sources, i, scored_pair(loaded.tokenizers, texts.source, ""), texts, loaded, limits);
  }
  std::vector<std::string> lines;
  for (const size_t line : sources.lines) lines.push_back(source[line]);
  auto targets = is_parser(loaded) ? parsed(loaded, lines) : translated(loaded, sources.pairs);
  SelectedPairs selected{.pairs = {}, .texts = {}, .lines = {}, .left_out = sources.left_out};
  for (size_t i = 0; i < targets.size(); ++i) {
    sources.pairs[i].target = std::move(targets[i]);
    select(selected, sources.lines[i], std::move(sources.pairs[i]), sources.texts[i], loaded,
           limits);
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
