#include "eval/tasks/parse_evaluator.h"

#include "base/format.h"
#include "data/parsing/treebank.h"
#include "eval/metrics/evalb_parameters.h"
#include "eval/metrics/parse_score.h"
#include "eval/tasks/evaluator.h"
#include "eval/tasks/parser.h"
#include "model/seq2seq.h"

namespace attn {
namespace {

// Checked first: reading everything before would wait at a pipe.
std::vector<Tree> checked_trees(const std::filesystem::path& path, const TreeOptions& options) {
  check_treebank(path, options);
  return read_trees(path, options);
}

class ParseEvaluator final : public Evaluator {
 public:
  ParseEvaluator(const EvaluatorInput& input, const ParseEvaluation& options)
      : Evaluator(input),
        tokenizers_(input.tokenizers),
        search_(input.search),
        tree_form_(input.data.tree_form),
        gold_trees_(checked_trees(input.text, tree_options(input.data))),
        parameters_(read_evalb_parameters(options.params)) {
    for (Tree& tree : gold_trees_) tree = as_parsed(std::move(tree));
    // Throws here instead of in search.
    TreeVocabulary(*tokenizers_.target, tree_form_);
  }

  void check(const Seq2SeqModel& model) const override {
    require_known_tags(search_, tokenizers_);
    model.require_weight_type(search_.weights);
  }

  EvaluationResult run(const Ensemble& models, const std::filesystem::path& output) const override {
    std::vector<std::vector<std::string>> sentences;
    for (const Tree& tree : gold_trees_) sentences.push_back(tree_words(tree));
    Parser parser(models, tokenizers_, tree_form_, search_);
    std::vector<Tree> trees;
    std::string text;
    for (auto& nbest : parser.parse(sentences)) {
      trees.push_back(std::move(nbest.front().tree));
      text += write_tree(trees.back()) + "\n";
    }
    write_evaluation_output(output, text);
    return score(trees, parser.counts());
  }

 private:
  // Both sides in the model's convention: the outer bracket of the treebank does not matter.
  EvaluationResult score(const std::vector<Tree>& trees, const ParserCounts& counts) const {
    const ParseScore score = score_parses(gold_trees_, trees, parameters_);
    const auto repaired = static_cast<double>(counts.repaired);
    return {
        .values = {{"f1", score.all.f1()},
                   {"recall", score.all.recall()},
                   {"precision", score.all.precision()},
                   {"strict_f1", score.strict.f1()},
                   {"complete", score.all.complete_match()},
                   {"tagging", score.all.tagging()},
                   {"errors", static_cast<double>(score.all.errors)},
                   {"repaired", repaired},
                   {"cut", static_cast<double>(counts.cut)},
                   {"unfinished", static_cast<double>(counts.unfinished)}},
        .line = format("F1 %.2f (recall %.2f, precision %.2f)  strict F1 %.2f  complete %.2f %%"
                       "  mismatched %ld  malformed (repaired) %.0f of %zu",
                       score.all.f1(), score.all.recall(), score.all.precision(), score.strict.f1(),
                       score.all.complete_match(), score.mismatched, repaired, trees.size()) +
                truncation_note(counts.cut) + unfinished_note(counts.unfinished, "output") +
                unknown_suffix(counts.unknown, "source"),
        .signature = score.signature,
        .selection_metric = score.strict.f1()};
  }

  Tokenizers tokenizers_;
  SearchConfig search_;
  TreeForm tree_form_;
  std::vector<Tree> gold_trees_;  // as_parsed()
  EvalbParameters parameters_;
};

}  // namespace

std::unique_ptr<Evaluator> ParseEvaluation::make(const EvaluatorInput& input) const {
  return std::make_unique<ParseEvaluator>(input, *this);
}

}  // namespace attn
