#include "eval/tasks/parser.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/format.h"
#include "data/parsing/tag_dictionary.h"
#include "data/parsing/treebank.h"
#include "eval/tasks/tree_fusion.h"

namespace attn {
namespace {

// The tree of highest expected F1 under the list's distribution.
Parse fused(std::vector<Parse> nbest, SearchMethod method) {
  const auto likeliest = std::ranges::max_element(nbest, {}, &Parse::log_prob);
  if (!std::isfinite(likeliest->log_prob)) return std::move(nbest.front());
  std::vector<Tree> trees;
  std::vector<double> log_probs;
  for (Parse& parse : nbest) {
    trees.push_back(std::move(parse.tree));
    log_probs.push_back(parse.log_prob);
  }
  FusedTree best =
      fuse_trees(trees, method == SearchMethod::sample ? sample_probabilities(log_probs)
                                                       : probabilities_of(log_probs));
  return {.tree = with_root(std::move(best.tree)),
          .score = 100 * best.expected_f1,
          .log_prob = likeliest->log_prob,
          .repaired = nbest.front().repaired,
          .finished = nbest.front().finished};
}

}  // namespace

void require_known_tags(const SearchConfig& search, const Tokenizers& tokenizers) {
  if (!search.constrained || search.known_tags == 0 || tokenizers.tags) return;
  throw DataError("search.known_tags: " + std::to_string(search.known_tags) +
                  ": the run has no tags.txt (tags seen in training); set it to 0");
}

Parser::Parser(Ensemble models, Tokenizers tokenizers, TreeForm form, const SearchConfig& search,
               ParserLimits limits)
    : models_(std::move(models)),
      tokenizers_(std::move(tokenizers)),
      vocabulary_(*tokenizers_.target, form),
      search_(search),
      limits_(limits) {
  search_.validate();
  if (const auto positions = models_.max_length()) {
    limits_.max_source = std::min(limits_.max_source, *positions - 1);
    limits_.max_words = std::clamp<int64_t>(*positions - 3, 1, limits_.max_words);
  }
  require_known_tags(search_, tokenizers_);
  inference_ = models_.inference(search_);
}

Parser::Input Parser::prepare(const std::vector<std::string>& sentence, int64_t number) {
  Input input;
  const auto kept = std::min(sentence.size(), static_cast<size_t>(limits_.max_words));
  input.words.assign(sentence.begin(), sentence.begin() + static_cast<int64_t>(kept));
  input.rest.assign(sentence.begin() + static_cast<int64_t>(kept), sentence.end());
  input.source = encode_source(tokenizers_, joined(input.words), limits_.max_source);
  counts_.unknown.add(*tokenizers_.source, input.source.tokens);
  counts_.cut += input.source.truncated || !input.rest.empty();
  if (!input.rest.empty() && counts_.cut_words++ == 0) counts_.first_cut_words = number;
  if (input.source.truncated && counts_.cut_tokens++ == 0) counts_.first_cut_tokens = number;
  return input;
}

std::vector<TokenMask> Parser::known_leaves(const std::vector<std::string>& words) const {
  std::vector<TokenMask> masks;
  for (const std::string& word : words) {
    masks.push_back(vocabulary_.leaf_mask(tokenizers_.tags->symbols(word, search_.known_tags)));
  }
  return masks;
}

Parse Parser::build(const Input& input, const Hypothesis& hypothesis) const {
  std::vector<std::string> symbols;
  for (const int32_t id : hypothesis.tokens) symbols.push_back(tokenizers_.target->piece(id));
  RebuiltTree built = rebuild_tree(symbols, input.words, vocabulary_.form(), vocabulary_.labels());
  Tree tree = std::move(built.tree);
  if (!input.rest.empty() && tree.is_leaf()) tree = with_root(std::move(tree));
  for (const std::string& word : input.rest) tree.children.push_back(tree_leaf(kNoTag, word));
  return {.tree = with_root(tag_punctuation(std::move(tree))),
          .score = hypothesis.score,
          .log_prob = hypothesis.log_prob,
          .repaired = built.repaired,
          .finished = hypothesis.finished || !std::isfinite(hypothesis.score)};
}

std::vector<std::vector<Parse>> Parser::parse(std::span<const std::vector<std::string>> sentences) {
  std::vector<Input> inputs;
  std::vector<std::vector<int32_t>> sources;
  const bool fuses = search_.mbr == RiskUtility::f1;
  SearchConfig search = search_;
  if (fuses) {
    search.nbest = search.hypotheses();
    search.mbr = RiskUtility::none;
  }
  BatchedSearch how{.search = search,
                    .inference = inference_,
                    .batch_tokens = limits_.batch_tokens,
                    .first_sentence = counts_.sentences};
  for (const auto& sentence : sentences) {
    const auto number = counts_.sentences + static_cast<int64_t>(inputs.size()) + 1;
    inputs.push_back(prepare(sentence, number));
    sources.push_back(std::move(inputs.back().source.tokens));
    if (tokenizers_.features) how.features.push_back(std::move(inputs.back().source.features));
    how.min_limits.push_back(shortest_tree(static_cast<int64_t>(inputs.back().words.size())));
  }
  std::vector<int64_t> limits(sentences.size());
  if (search_.constrained) {
    const bool knows_tags =
        search_.known_tags > 0 && tokenizers_.tags && vocabulary_.form() != TreeForm::xx;
    how.constraint = [&, knows_tags](const SearchBatch& batch) -> std::unique_ptr<TokenConstraint> {
      std::vector<int64_t> words;
      std::vector<std::vector<TokenMask>> leaves;
      for (size_t member = 0; member < batch.members.size(); ++member) {
        const size_t i = batch.members[member];
        limits[i] = batch.limits[member];
        words.push_back(static_cast<int64_t>(inputs[i].words.size()));
        if (knows_tags) leaves.push_back(known_leaves(inputs[i].words));
      }
      return std::make_unique<TreeConstraint>(vocabulary_, std::move(words), batch.limits,
                                              std::move(leaves));
    };
  }
  auto found = batched_search(models_, tokenizers_, sources, how);
  std::vector<std::vector<Parse>> out(sentences.size());
  for (size_t i = 0; i < sentences.size(); ++i) {
    // The source was empty: no words, or words without tokens.
    if (found[i].empty()) found[i] = {Hypothesis{.finished = true}};
    fill_nbest(found[i], search.nbest);
    for (Hypothesis& one : found[i]) {
      // Without room for another constituent, the constraint has closed the brackets in time.
      one.finished &= limits[i] == 0 || std::ssize(one.tokens) + 2 < limits[i];
      out[i].push_back(build(inputs[i], one));
    }
    if (fuses && !inputs[i].words.empty()) out[i] = {fused(std::move(out[i]), search.method)};
    if (fuses) out[i].resize(1);
    ++counts_.sentences;
    counts_.repaired += out[i].front().repaired;
    counts_.unfinished += !out[i].front().finished;
  }
  return out;
}

}  // namespace attn
