#include "app/commands/commands.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/experiment/checkpoint.h"
#include "app/experiment/train.h"
#include "app/machine/device.h"
#include "app/sweep/plan.h"
#include "base/file.h"
#include "data/parsing/tree.h"
#include "data/synthetic/corpus.h"
#include "eval/tasks/make_evaluator.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTranslator = "experiments/demo.json";
constexpr const char* kParser = "experiments/demo_parse.json";
constexpr const char* kAblation = "experiments/demo_sweep.json";
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

// The outputs are RUN/eval/test.txt.
EvaluationResult score(const EvaluatorConfig& evaluator, const LoadedModel& loaded,
                       const RunDirectory& run) {
  return make_evaluator(evaluator, loaded.experiment.data, loaded.tokenizers, run.cache())
      ->run(*loaded.model, run.output(evaluator.name));
}

void show_result(const fs::path& run, const Context& context) {
  const LoadedModel loaded = load_model(run, context.device);
  const Experiment& experiment = loaded.experiment;
  const std::string prefix = (run / "corpus" / "test").string();
  const auto sources = read_lines(text_path(prefix, experiment.data.source));
  const auto references = read_lines(text_path(prefix, experiment.data.target));
  std::cerr << "translating " << sources.size() << " held-out sentences\n";
  // The generated text is tokenized.
  const EvaluatorConfig config{
      .name = "test",
      .data = prefix,
      .options = BleuEvaluation{.tokenize = BleuTokenizer::none, .search = experiment.search}};
  const EvaluationResult result = score(config, loaded, run);
  const auto hypotheses = read_lines(RunDirectory(run).output(config.name));
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

void show_parser(const fs::path& corpus, const fs::path& run, const Context& context) {
  const std::string gold = (corpus / "test.ptb").string();
  std::cerr << "parsing held-out sentences\n";
  const LoadedModel loaded = load_model(run, context.device);
  const EvaluatorConfig config{
      .name = "test", .data = gold, .options = ParseEvaluation{.search = loaded.experiment.search}};
  const EvaluationResult result = score(config, loaded, run);
  print_trees(read_trees(RunDirectory(run).output(config.name)), read_trees(gold));
  std::cout << "\n" << result.line << "\n" << result.signature << "\n";
}

// Trains a sweep of two rows on the same corpus and prints its report; returns the exit code.
int show_sweep(const fs::path& run, const fs::path& corpus, const Context& context) {
  SweepRequest ablation;
  ablation.file = kAblation;
  ablation.directory = run / "sweep";
  for (const auto& [option, text] :
       {std::pair("data.train", "train"), {"data.valid", "valid"}, {"eval[1].data", "test"}}) {
    ablation.assignments.emplace_back(option + ("=" + (corpus / text).string()));
  }
  std::cerr << "an ablation of two rows: " << kAblation << "\n";
  std::cout << "\nAn ablation (attn sweep): the model without position encodings\n\n" << std::flush;
  return sweep(ablation, context);
}

int demo(const fs::path& run, const Context& context) {
  const fs::path corpus = run / "corpus", parser = run / "parser";
  if (!fs::exists(corpus / "test.ptb")) {
    const RunLock alone(run);  // by which train() also knows the directory as a run's
    const auto log = [](const std::string& line) { std::cerr << line << std::endl; };
    const auto generated = write_generated_corpus(corpus, {}, /*seed=*/1, log);
    std::cerr << "for example:\n  " << generated.train[0].english << "\n  "
              << generated.train[0].german << "\n";
  }
  // Trains or resumes a run unless it is finished; returns the exit code.
  const auto trained = [&](const char* config, const fs::path& to, const std::string& ending) {
    TrainOptions options{.path = config, .run = to, .resume = true};
    for (const char* text : {"train", "valid"}) {
      options.assignments.emplace_back("data." + std::string(text) + "=" +
                                       (corpus / text).string() + ending);
    }
    return train(options, context);
  };
  if (const int code = trained(kTranslator, run, ""); code != 0) return code;
  show_result(run, context);
  std::cout << std::flush;
  if (const int code = trained(kParser, parser, ".ptb"); code != 0) return code;
  show_parser(corpus, parser, context);
  const int code = show_sweep(run, corpus, context);
  if (code == 0) print_next_steps(run);
  return code;
}

}  // namespace

void add_demo_command(CLI::App& app, Context& context) {
  auto run = std::make_shared<fs::path>("runs/demo");
  CLI::App* command = app.add_subcommand(
      "demo", "Generate a corpus; train and score a translator, a parser and a small ablation");
  command->footer("Example: attn demo\nRe-run the command to print the results again.");
  command->add_option("--run", *run, "output directory")->capture_default_str();
  command->callback([run, &context] { context.exit_code = demo(*run, context); });
}

}  // namespace attn
