#include "app/commands/bench_search.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/bench/search.h"
#include "app/commands/bench_options.h"
#include "app/experiment/checkpoint.h"
#include "app/experiment/find_checkpoint.h"
#include "app/machine/device.h"
#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

struct BenchSearchArguments {
  BenchConfig run;
  std::filesystem::path text;
  std::vector<int64_t> at_once = {1, 32, 1000};
  double seconds = 10.0;
  bool json = false;
};

void bench_search(const BenchSearchArguments& options, torch::Device device) {
  LoadedModel loaded = load_model_to_search(options.run.file, device, options.run.assignments);
  const Experiment& experiment = loaded.experiment;
  const std::vector<std::string> lines = read_lines(options.text);
  if (lines.empty()) throw DataError(options.text.string() + ": empty file; nothing to translate");
  Translator translator(*loaded.model, loaded.tokenizers, experiment.search);
  Json json = Json::array();
  std::vector<int64_t> sizes;
  for (const int64_t at_once : options.at_once) {
    sizes.push_back(std::min(at_once, static_cast<int64_t>(lines.size())));
  }
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const int64_t at_once : sizes) {
    const SearchBenchmark result = benchmark_search(translator, lines, at_once, options.seconds);
    json.push_back({{"at_once", result.at_once},
                    {"sentences", result.sentences},
                    {"seconds", result.seconds},
                    {"sentences_per_second", result.sentences_per_second()},
                    {"memory", peak_memory(device)}});
    if (options.json) continue;
    const std::string what = "search, " + std::to_string(result.at_once) + " lines at once, beam " +
                             std::to_string(experiment.search.beam);
    print_measurement(what, result.sentences_per_second(), "sentences/s");
  }
  if (options.json) std::cout << json.dump(2) << "\n";
}

}  // namespace

void add_bench_search_command(CLI::App& bench, const Context& context) {
  auto options = std::make_shared<BenchSearchArguments>();
  CLI::App* search =
      bench.add_subcommand("search", "Beam search of a trained translator: sentences/s");
  search->footer("Example: attn bench search runs/tiny corpora/multi30k/test_2016_flickr.en");
  search->add_option("run", options->run.file, kModelArgument)->required();
  search->add_option("text", options->text, "text to translate")->required();
  search->add_option("--set", options->run.assignments, "override an option, such as search.beam=4")
      ->allow_extra_args(false);
  search->add_option("--at-once", options->at_once, "lines per call (default: 1,32,1000)")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, kLargestBenchmark));
  add_bench_seconds(search, options->seconds, " per setting");
  search->add_flag("--json", options->json, "print JSON in full precision");
  search->callback([options, &context] { bench_search(*options, context.device); });
}

}  // namespace attn
