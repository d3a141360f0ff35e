#include "app/average.h"

#include <iostream>
#include <memory>

#include "app/checkpoint_directory.h"
#include "base/error.h"
#include "base/file.h"
#include "train/checkpoint.h"
#include "train/checkpoint_store.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

struct AverageOptions {
  fs::path run;
  int64_t last = 5;
  fs::path output;
};

void average(const AverageOptions& options) {
  const auto all = list_checkpoints(options.run / kCheckpointsFolder);
  if (all.empty()) {
    throw DataError(options.run.string() + ": has no checkpoints to average");
  }
  if (options.last < 1 || options.last > static_cast<int64_t>(all.size())) {
    throw ConfigError("--last " + std::to_string(options.last) + ": the run has " +
                      std::to_string(all.size()) +
                      " checkpoints (train.keep_last says how many stay)");
  }
  std::vector<fs::path> weights;
  for (size_t i = all.size() - static_cast<size_t>(options.last); i < all.size(); ++i) {
    weights.push_back(all[i].path / kWeightsFile);
  }
  const fs::path output = options.output.empty() ? options.run / kAveragedFolder : options.output;
  // It is replaced: so it must be what this command made, and not a folder of other things.
  if (fs::exists(output) &&
      (!fs::exists(output / kWeightsFile) || fs::exists(output / kTrainingFile))) {
    throw DataError(output.string() +
                    ": is there already and holds no average; name another place");
  }
  AtomicDirectory directory(output, AtomicDirectory::Existing::replace);
  average_weights(weights, directory.path() / kWeightsFile);
  save_description(directory.path(), load_description(all.back().path),
                   load_tokenizers(all.back().path));
  directory.commit();
  std::cerr << "mean of " << weights.size() << " checkpoints, steps "
            << all[all.size() - weights.size()].step << " to " << all.back().step << ": "
            << output.string() << "\n";
}

}  // namespace

void add_average_command(CLI::App& app) {
  auto options = std::make_shared<AverageOptions>();
  CLI::App* command =
      app.add_subcommand("average", "Average the last checkpoints' weights, as the paper does");
  command->footer("Example: attn average runs/base --last 5");
  command->add_option("run", options->run, "a run")->required();
  command->add_option("--last", options->last, "how many (the paper: 5, big: 20)");
  command->add_option("--output", options->output, "directory (default: RUN/averaged)");
  command->callback([options] { average(*options); });
}

}  // namespace attn
