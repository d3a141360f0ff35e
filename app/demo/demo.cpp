#include "app/demo/demo.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "app/experiment/checkpoint.h"
#include "app/experiment/training_run.h"
#include "app/machine/signals.h"
#include "app/sweep/plan.h"
#include "app/sweep/prepare.h"
#include "app/sweep/report.h"
#include "app/sweep/status.h"
#include "app/sweep/sweep.h"
#include "base/error.h"
#include "base/file.h"
#include "data/parsing/tree.h"
#include "data/synthetic/corpus.h"
#include "eval/tasks/make_evaluator.h"
#include "report/tables.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

void log(const std::string& line) {
  std::cerr << line << std::endl;
}

constexpr size_t kSamples = 6;
constexpr size_t kTrees = 2;

void print_samples(const std::vector<std::string>& sources,
                   const std::vector<std::string>& hypotheses,
                   const std::vector<std::string>& references) {
  std::cout << "\nTranslations of held-out sentences:\n";
  for (size_t i = 0; i < std::min(kSamples, sources.size()); ++i) {
    const bool right = hypotheses[i] == references[i];
    std::cout << "\n  " << sources[i] << "\n  " << hypotheses[i]
              << (right ? "" : "\n  (reference: " + references[i] + ")") << "\n";
  }
}

void print_next_steps(const fs::path& run) {
  const std::string dir = run.string();
  std::cout << "\nNext steps:\n"
            << "  echo 'The old woman sees the dog .' | ./run translate " << dir << "\n"
            << "  echo 'The old woman sees the dog .' | ./run parse " << dir << "/parser --draw\n"
            << "  ./run train experiments/demo.json --set model.position=none --run runs/no_order\n"
            << "  ./run sweep experiments/demo_sweep.json --seeds 3     a row is one JSON object\n"
            << "  ./run config --explain             every option, its default and its meaning\n"
            << "  data/fetch multi30k                a real corpus; then\n"
            << "  ./run train experiments/multi30k/tiny.json\n";
}

void show_result(const fs::path& run, const Experiment& experiment, const Context& context) {
  LoadedModel loaded = load_model(run, context.device);
  const std::string prefix = (run / "corpus" / "test").string();
  const auto sources = read_lines(text_path(prefix, experiment.data.source));
  const auto references = read_lines(text_path(prefix, experiment.data.target));
  std::cerr << "translating " << sources.size() << " held-out sentences\n";
  // The generated text is tokenized.
  const EvaluatorConfig config{
      .name = "test",
      .data = prefix,
      .options = BleuEvaluation{.tokenize = BleuTokenizer::none, .search = experiment.search}};
  const fs::path output = RunDirectory(run).output(config.name);
  const EvaluationResult result =
      make_evaluator(config, experiment.data, loaded.tokenizers, RunDirectory(run).cache())
          ->run(*loaded.model, output);
  const auto hypotheses = read_lines(output);
  print_samples(sources, hypotheses, references);
  int64_t right = 0;
  for (size_t i = 0; i < sources.size(); ++i) right += hypotheses[i] == references[i];
  std::cout << "\n"
            << result.line << "\n"
            << right << " of " << sources.size() << " translations match the reference exactly.\n";
}

// Trees of medium size.
void print_trees(const std::vector<Tree>& trees, const std::vector<Tree>& gold) {
  std::cout << "\nThe same model trained to parse (section 6.3), on held-out sentences:\n";
  size_t shown = 0;
  for (size_t i = 0; i < trees.size() && shown < kTrees; ++i) {
    const size_t words = tree_words(trees[i]).size();
    if (words < 7 || words > 11) continue;
    std::cout << "\n" << draw_tree(strip_root(trees[i]));
    if (trees[i] != gold[i]) std::cout << "(gold: " << write_tree(gold[i]) << ")\n";
    ++shown;
  }
}

void show_parser(const fs::path& corpus, const fs::path& run, const Experiment& experiment,
                 const Context& context) {
  LoadedModel loaded = load_model(run, context.device);
  const std::string gold = (corpus / "test.ptb").string();
  std::cerr << "parsing held-out sentences\n";
  const EvaluatorConfig config{
      .name = "test", .data = gold, .options = ParseEvaluation{.search = experiment.search}};
  const fs::path output = RunDirectory(run).output(config.name);
  const EvaluationResult result =
      make_evaluator(config, experiment.data, loaded.tokenizers, RunDirectory(run).cache())
          ->run(*loaded.model, output);
  print_trees(read_trees(output), read_trees(gold));
  std::cout << "\n" << result.line << "\n" << result.signature << "\n";
}

// Trains or resumes the run unless it is finished; false if a signal stopped it.
bool train(const Experiment& experiment, const fs::path& run, const Context& context) {
  TrainingRun training(experiment, run, /*resume=*/true, context);
  if (training.finished() || training.run() == LoopEnd::finished) return true;
  std::cerr << "stopped at step " << training.step()
            << ", checkpoint saved; re-run ./run demo to resume\n";
  return false;
}

// Trains a sweep of two rows on the same corpus and prints its table; false if a signal stopped it.
bool show_sweep(const DemoOptions& options, const fs::path& corpus, const Context& context) {
  SweepRequest request;
  request.file = options.sweep;
  request.directory = options.run / "sweep";
  request.assignments = {"data.train=" + (corpus / "train").string(),
                         "data.valid=" + (corpus / "valid").string(),
                         "eval.1.data=" + (corpus / "test").string()};
  std::cerr << "an ablation of two rows: " << options.sweep.string() << "\n";
  SweepPlan plan = plan_sweep(request);
  check_unchanged(plan);
  prepare_sweep(plan, log);
  const SweepEnd end = run_sweep(plan, runner_of_machine(context, 1));
  if (end.interrupted) return false;
  if (!end.failed.empty()) throw DataError(end.failed.front().name + ": " + end.failed.front().why);
  const Report report(plan.directory);
  std::cout << "\nAn ablation (attn sweep): the model without position encodings\n\n"
            << to_markdown(results_table(report.results, report.comparisons)) << std::flush;
  report.write();
  return true;
}

}  // namespace

int demo(const DemoOptions& options, const Context& context) {
  Experiment translation = load_experiment(options.config);
  Experiment parsing = load_experiment(options.parse_config);
  const fs::path corpus = options.run / "corpus", parser = options.run / "parser";
  translation.data.train = (corpus / "train").string();
  translation.data.valid = (corpus / "valid").string();
  parsing.data.train = (corpus / "train.ptb").string();
  parsing.data.valid = (corpus / "valid.ptb").string();
  if (!fs::exists(corpus / "test.ptb")) {
    const auto generated =
        write_generated_corpus(corpus, {}, static_cast<uint64_t>(translation.seed), log);
    std::cerr << "for example:\n  " << generated.train[0].english << "\n  "
              << generated.train[0].german << "\n";
  }
  if (!train(translation, options.run, context)) return stop_exit_code();
  show_result(options.run, translation, context);
  std::cout << std::flush;
  if (!train(parsing, parser, context)) return stop_exit_code();
  show_parser(corpus, parser, parsing, context);
  if (!show_sweep(options, corpus, context)) return stop_exit_code();
  print_next_steps(options.run);
  return 0;
}

}  // namespace attn
