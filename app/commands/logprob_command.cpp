#include "app/commands/commands.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>
#include <memory>

#include "app/commands/text_io.h"
#include "app/experiment/checkpoint.h"
#include "app/experiment/progress_line.h"
#include "app/machine/device.h"
#include "base/error.h"
#include "base/format.h"
#include "eval/tasks/forced_decoding.h"

namespace attn {
namespace {

constexpr size_t kLinesAtOnce = 1024;  // lines

struct LogprobOptions {
  std::vector<std::filesystem::path> runs;
  std::vector<Assignment> assignments;
  std::string source, target;
  std::filesystem::path output;
  bool json = false;
};

void print(const ScoredPair& pair, const std::vector<float>& log_probs, const Tokenizer& target,
           bool json, std::ostream& out) {
  const double sum = total_log_prob(log_probs);
  if (!json) {
    out << format("%.6f\t%zu\n", sum, log_probs.size());
    return;
  }
  Json pieces = Json::array();
  for (const int32_t token : pair.target) pieces.push_back(target.piece(token));
  pieces.push_back(target.piece(target.eos()));
  // Pieces of a byte-level vocabulary need not be valid UTF-8, JSON must be.
  constexpr auto replace = Json::error_handler_t::replace;
  const Json line = {{"log_prob", sum}, {"tokens", pieces}, {"token_log_probs", log_probs}};
  out << line.dump(-1, ' ', false, replace) << '\n';
}

void logprob(const LogprobOptions& options, const Context& context) {
  require_not_input(options.output, options.source);
  require_not_input(options.output, options.target);
  const LoadedEnsemble loaded =
      load_ensemble(options.runs, context.device, options.assignments, Settable::probabilities);
  if (loaded.experiment().data.task != Task::translation) {
    throw ConfigError(options.runs.front().string() +
                      ": a parser (data.task=parsing); logprob "
                      "scores translations");
  }
  const TextFile source = read_text(options.source, false, ByteOrderMark::drop);
  const TextFile target = read_text(options.target, true, ByteOrderMark::drop);
  check_same_length(source, target, "source and target");
  if (source.lines.empty()) throw DataError(source.name + ": empty file; nothing to score");
  std::cerr << "scoring with " << loaded.description() << "\n";
  OutputFile output(options.output);
  const size_t lines = source.lines.size();
  std::atomic<int64_t> done = 0;
  double sum = 0.0;
  size_t tokens = 0;
  UnknownTokens unknown_source, unknown_target;
  {
    const ProgressLine progress({.what = "scoring",
                                 .unit = "sentences",
                                 .done = [&] { return done.load(); },
                                 .total = static_cast<int64_t>(lines)},
                                !output.is_stdout() || output_is_hidden());
    for (size_t begin = 0; begin < lines; begin += kLinesAtOnce) {
      std::vector<ScoredPair> pairs;
      for (size_t i = begin; i < std::min(begin + kLinesAtOnce, lines); ++i) {
        pairs.push_back(scored_pair(loaded.tokenizers, source.lines[i], target.lines[i]));
        unknown_source.add(*loaded.tokenizers.source, pairs.back().source);
        unknown_target.add(*loaded.tokenizers.target, pairs.back().target);
        const std::string line = ":" + std::to_string(i + 1);
        require_fits(pairs.back(), loaded.models.max_length(),
                     {source.name + line, target.name + line});
      }
      const auto log_probs = forced_log_probs(loaded.models, loaded.tokenizers, pairs);
      for (size_t i = 0; i < pairs.size(); ++i) {
        print(pairs[i], log_probs[i], *loaded.tokenizers.target, options.json, output.stream());
        sum += total_log_prob(log_probs[i]);
        tokens += log_probs[i].size();
      }
      output.flush();
      done += static_cast<int64_t>(pairs.size());
    }
  }
  output.commit();
  print_unknown(unknown_source, "source");
  print_unknown(unknown_target, "target");
  std::cerr << format("%zu sentences, %zu tokens, log-probability %.4f, perplexity %.4f\n", lines,
                      tokens, sum, std::exp(-sum / static_cast<double>(tokens)));
}

}  // namespace

void add_logprob_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<LogprobOptions>();
  CLI::App* command = app.add_subcommand(
      "logprob", "Log-probabilities of given translations, per sentence and token");
  command->footer(
      "Prints for each pair of lines log p(target | source) in nats and the number of target "
      "tokens, EOS included,\nseparated by a tab. --json prints an object per pair: log_prob, "
      "tokens, "
      "token_log_probs (the last one is EOS).\nSeveral runs form an ensemble. An evaluator of kind "
      "contrastive compares correct with wrong translations.\n"
      "Examples:\n"
      "  attn logprob runs/tiny --source test.en --target test.de\n"
      "  attn translate runs/tiny < test.en | attn logprob runs/other --source test.en --target - "
      "--json");
  add_runs(command, options->runs);
  command->add_option("-s,--source", options->source, "source text, one sentence per line")
      ->required();
  command
      ->add_option("-t,--target", options->target,
                   "translations, line by line; - is standard input")
      ->required();
  command->add_option("-o,--output", options->output,
                      "output file, FILE.partial until it is complete (default: standard output)");
  add_set(command, options->assignments, "override search.ensemble or an option of runtime");
  command->add_flag("--json", options->json, "one JSON object per line, with all tokens");
  command->callback([options, &context] { logprob(*options, context); });
}

}  // namespace attn
