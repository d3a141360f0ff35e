#include "app/demo.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/checkpoint_directory.h"
#include "app/command_line.h"
#include "app/evaluation.h"
#include "app/generate.h"
#include "app/signals.h"
#include "app/training_run.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

struct DemoOptions {
  fs::path config = "experiments/demo.json";
  fs::path run = "runs/demo";
};

constexpr size_t kSamples = 6;

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
  std::cout << "\nWhat to try next:\n"
            << "  echo 'The old woman sees the dog .' | ./run translate " << dir << "\n"
            << "  ./run train experiments/demo.json --set model.heads=1 --run runs/one_head\n"
            << "  ./run train experiments/demo.json --set model.position=none --run runs/no_order\n"
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
  const EvaluatorConfig config{.name = "test",
                               .kind = EvaluatorKind::bleu,
                               .data = prefix,
                               .tokenize = BleuTokenizer::none,
                               .search = experiment.search};
  const fs::path output = run / "eval" / "test.txt";
  const EvaluationResult result =
      Evaluation(config, experiment.data, loaded.tokenizers, run / "cache")
          .run(loaded.model, output);
  const auto hypotheses = read_lines(output);
  print_samples(sources, hypotheses, references);
  int64_t right = 0;
  for (size_t i = 0; i < sources.size(); ++i) right += hypotheses[i] == references[i];
  std::cout << "\n"
            << result.line << "\n"
            << right << " of " << sources.size() << " sentences are right to the last letter.\n";
  print_next_steps(run);
}

int demo(const DemoOptions& options) {
  Experiment experiment = load_experiment(options.config);
  const fs::path corpus = options.run / "corpus";
  experiment.data.train = (corpus / "train").string();
  experiment.data.valid = (corpus / "valid").string();
  if (!fs::exists(corpus / "test.en")) {
    const auto generated =
        write_generated_corpus(corpus, {}, static_cast<uint64_t>(experiment.seed));
    std::cerr << "for example:\n  " << generated.train[0].english << "\n  "
              << generated.train[0].german << "\n";
  }
  catch_stop_signals();
  TrainingRun training(experiment, options.run, /*resume=*/true, command_line());
  if (!training.finished() && training.run() == RunEnd::interrupted) {
    std::cerr << "stopped and saved at step " << training.step() << "; ./run demo goes on\n";
    return stop_exit_code();
  }
  show_result(options.run, experiment);
  return 0;
}

}  // namespace

void add_demo_command(CLI::App& app) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command =
      app.add_subcommand("demo", "Make a corpus, train a small Transformer on it, score it");
  command->footer("Example: attn demo\n         A second call shows the result again.");
  command->add_option("--config", options->config, "the experiment")->capture_default_str();
  command->add_option("--run", options->run, "its directory")->capture_default_str();
  command->callback([options] { set_exit_code(demo(*options)); });
}

}  // namespace attn
