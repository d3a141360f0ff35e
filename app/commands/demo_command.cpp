#include "app/commands/demo_command.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/generate_command.h"
#include "app/commands/report_command.h"
#include "app/commands/sweep_command.h"
#include "app/experiment/checkpoint.h"
#include "app/experiment/training_run.h"
#include "app/machine/command_line.h"
#include "app/machine/signals.h"
#include "app/sweep/plan.h"
#include "app/sweep/prepare.h"
#include "app/sweep/status.h"
#include "base/error.h"
#include "base/file.h"
#include "data/parsing/tree.h"
#include "data/parsing/tree_drawing.h"
#include "eval/tasks/evaluator.h"
#include "report/table.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  fs::path config = "experiments/demo.json";
  fs::path parse_config = "experiments/demo_parse.json";
  fs::path sweep = "experiments/demo_sweep.json";
  fs::path run = "runs/demo";
};

constexpr size_t kSamples = 6;
constexpr size_t kTrees = 2;

void print_samples(const std::vector<std::string>& sources,
                   const std::vector<std::string>& hypotheses,
                   const std::vector<std::string>& references) {
  std::cout << "\nSome sentences it has never seen:\n";
  for (size_t i = 0; i < std::min(kSamples, sources.size()); ++i) {
    const bool right = hypotheses[i] == references[i];
    std::cout << "\n  " << sources[i] << "\n  " << hypotheses[i]
              << (right ? "" : "\n  (right would be: " + references[i] + ")") << "\n";
  }
}

void print_next_steps(const fs::path& run) {
  const std::string dir = run.string();
  std::cout
      << "\nWhat to try next:\n"
      << "  echo 'The old woman sees the dog .' | ./run translate " << dir << "\n"
      << "  echo 'The old woman sees the dog .' | ./run parse " << dir << "/parser --draw\n"
      << "  ./run train experiments/demo.json --set model.position=none --run runs/no_order\n"
      << "  ./run sweep experiments/demo_sweep.json --seeds 3     more rows are one object each\n"
      << "  ./run config --explain             every knob, its default and its meaning\n"
      << "  data/fetch multi30k                real text; then\n"
      << "  ./run train experiments/multi30k/tiny.json\n";
}

void show_result(const fs::path& run, const Experiment& experiment) {
  LoadedModel loaded = load_model(run);
  const std::string prefix = (run / "corpus" / "test").string();
  const auto sources = read_lines(text_path(prefix, experiment.data.source));
  const auto references = read_lines(text_path(prefix, experiment.data.target));
  std::cerr << "translating " << sources.size() << " unseen sentences\n";
  // The generated text is tokenised already.
  const EvaluatorConfig config{
      .name = "test",
      .data = prefix,
      .options = BleuEvaluation{.tokenize = BleuTokenizer::none, .search = experiment.search}};
  const fs::path output = run / "eval" / "test.txt";
  const EvaluationResult result =
      make_evaluator(config, experiment.data, loaded.tokenizers, run / "cache")
          ->run(*loaded.model, output);
  const auto hypotheses = read_lines(output);
  print_samples(sources, hypotheses, references);
  int64_t right = 0;
  for (size_t i = 0; i < sources.size(); ++i) right += hypotheses[i] == references[i];
  std::cout << "\n"
            << result.line << "\n"
            << right << " of " << sources.size() << " sentences are right to the last letter.\n";
}

// Of the middle lengths, where there is something to see and it fits a screen.
void print_trees(const std::vector<Tree>& trees, const std::vector<Tree>& gold) {
  std::cout << "\nThe same model, trained to parse (section 6.3); sentences it has never seen:\n";
  size_t shown = 0;
  for (size_t i = 0; i < trees.size() && shown < kTrees; ++i) {
    const size_t words = tree_words(trees[i]).size();
    if (words < 7 || words > 11) continue;
    std::cout << "\n" << draw_tree(strip_root(trees[i]));
    if (trees[i] != gold[i]) std::cout << "(right would be: " << write_tree(gold[i]) << ")\n";
    ++shown;
  }
}

void show_parser(const fs::path& corpus, const fs::path& run, const Experiment& experiment) {
  LoadedModel loaded = load_model(run);
  const std::string gold = (corpus / "test.ptb").string();
  std::cerr << "parsing unseen sentences\n";
  const EvaluatorConfig config{
      .name = "test", .data = gold, .options = ParseEvaluation{.search = experiment.search}};
  const fs::path output = run / "eval" / "test.txt";
  const EvaluationResult result =
      make_evaluator(config, experiment.data, loaded.tokenizers, run / "cache")
          ->run(*loaded.model, output);
  print_trees(read_trees(output), read_trees(gold));
  std::cout << "\n" << result.line << "\n" << result.signature << "\n";
}

// Trains, or goes on, or finds the run finished; false when a signal stopped it.
bool train(const Experiment& experiment, const fs::path& run) {
  TrainingRun training(experiment, run, /*resume=*/true, command_line());
  if (training.finished() || training.run() == RunEnd::finished) return true;
  std::cerr << "stopped and saved at step " << training.step() << "; ./run demo goes on\n";
  return false;
}

// Two rows on the same corpus, and their report: false when a signal stopped it.
bool show_sweep(const DemoOptions& options, const fs::path& corpus) {
  SweepRequest request;
  request.file = options.sweep;
  request.directory = options.run / "sweep";
  request.assignments = {"data.train=" + (corpus / "train").string(),
                         "data.valid=" + (corpus / "valid").string(),
                         "eval.1.data=" + (corpus / "test").string()};
  std::cerr << "an ablation of two rows: " << options.sweep.string() << "\n";
  SweepPlan plan = plan_sweep(request);
  refuse_changed(plan);
  prepare_sweep(plan, [](const std::string& line) { std::cerr << line << std::endl; });
  const SweepEnd end = run_sweep(plan, runner_of_machine(1));
  if (end.interrupted) return false;
  if (!end.failed.empty()) throw DataError(end.failed.front().name + ": " + end.failed.front().why);
  const SweepReport report(plan.directory);
  std::cout << "\nAn ablation (attn sweep): what word order is worth without positions\n\n"
            << to_markdown(results_table(report.results, report.comparisons)) << std::flush;
  report.write();
  return true;
}

int demo(const DemoOptions& options) {
  Experiment translation = load_experiment(options.config);
  Experiment parsing = load_experiment(options.parse_config);
  const fs::path corpus = options.run / "corpus", parser = options.run / "parser";
  translation.data.train = (corpus / "train").string();
  translation.data.valid = (corpus / "valid").string();
  parsing.data.train = (corpus / "train.ptb").string();
  parsing.data.valid = (corpus / "valid.ptb").string();
  if (!fs::exists(corpus / "test.ptb")) {
    const auto generated =
        write_generated_corpus(corpus, {}, static_cast<uint64_t>(translation.seed));
    std::cerr << "for example:\n  " << generated.train[0].english << "\n  "
              << generated.train[0].german << "\n";
  }
  catch_stop_signals();
  if (!train(translation, options.run)) return stop_exit_code();
  show_result(options.run, translation);
  std::cout << std::flush;
  if (!train(parsing, parser)) return stop_exit_code();
  show_parser(corpus, parser, parsing);
  if (!show_sweep(options, corpus)) return stop_exit_code();
  print_next_steps(options.run);
  return 0;
}

}  // namespace

void add_demo_command(CLI::App& app) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand(
      "demo", "Make a corpus; train a translator, a parser and a small ablation on it; score them");
  command->footer("Example: attn demo\n         A second call shows the result again.");
  command->add_option("--config", options->config, "the translator")->capture_default_str();
  command->add_option("--parse-config", options->parse_config, "the parser")->capture_default_str();
  command->add_option("--sweep", options->sweep, "the ablation")->capture_default_str();
  command->add_option("--run", options->run, "its directory")->capture_default_str();
  command->callback([options] { set_exit_code(demo(*options)); });
}

}  // namespace attn
