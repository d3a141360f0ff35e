#include "app/commands/search_flags.h"
#include "app/commands/arguments.h"

#include <cmath>
#include <iostream>

#include "base/error.h"
#include "base/format.h"
#include "data/nbest_list.h"
#include "data/source_features.h"

namespace attn {

std::vector<Assignment> SearchFlags::assignments() const {
  std::vector<Assignment> all = settings;
  if (beam) all.emplace_back("search.beam=" + std::to_string(*beam));
  if (nbest) all.emplace_back("search.nbest=" + std::to_string(*nbest));
  if (alpha) all.emplace_back("search.alpha=" + format("%.17g", *alpha));
  return all;
}

CLI::Option* add_search_flags(CLI::App* command, SearchFlags& flags, const std::string& example) {
  add_runs(command, flags.runs);
  command->add_option("-i,--input", flags.input, "input file (default: standard input)");
  command->add_option("-o,--output", flags.output,
                      "output file, FILE.partial until it is complete (default: standard output)");
  command->add_option("--beam", flags.beam, "beam size, as --set beam=INT");
  command->add_option("--nbest", flags.nbest, "size of the n-best list, as --set nbest=INT");
  command->add_option("--alpha", flags.alpha, "α of the length penalty, as --set alpha=FLOAT");
  add_set(command, flags.settings, "override an option of search or runtime: " + example);
  command->add_option("--tag", flags.tag,
                      "tag of the sentences, one of data.tag and data.sources (default: data.tag)");
  CLI::Option* scores = command->add_flag(
      "--scores", flags.scores, "prefix each output with line number, score and log-probability");
  CLI::Option* list =
      command->add_flag("--nbest-list", flags.nbest_list, kNbestListHelp)->excludes(scores);
  command
      ->add_option("--chunk-size", flags.chunk_size,
                   format("input lines per chunk, batched by length (default: %lld; terminal: 1)",
                          static_cast<long long>(flags.chunk_size)))
      ->check(CLI::PositiveNumber);
  return list;
}

LoadedEnsemble load_to_search(const SearchFlags& flags, Task task, const Context& context) {
  LoadedEnsemble loaded =
      load_ensemble(flags.runs, context.device, flags.assignments(), load_model_to_search);
  if (loaded.experiment().data.task != task) {
    throw ConfigError(flags.runs.front().string() +
                      (task == Task::translation
                           ? ": a parser (data.task=parsing); use attn parse"
                           : ": a translator (data.task=translation); use attn translate"));
  }
  if (!flags.tag.empty()) {
    loaded.tokenizers = with_tag(std::move(loaded.tokenizers), flags.tag, "--tag");
  }
  return loaded;
}

std::string longer_lines(const std::string& noun, int64_t count, int64_t first) {
  const std::string line = "line " + std::to_string(first);
  return counted(count, noun) +
         (count == 1 ? " (" + line + ") was" : " (first: " + line + ") were") + " longer than ";
}

void print_unknown(const UnknownTokens& count, const std::string& side) {
  if (count.unknown > 0) std::cerr << unknown_note(count, side) << "\n";
}

void print_unfinished(int64_t unfinished, int64_t all, const std::string& noun, bool positions) {
  if (unfinished == 0) return;
  std::cerr << unfinished << " of " << counted(all, noun) << (unfinished == 1 ? " was" : " were")
            << " cut at the length limit (search.extra_length"
            << (positions ? ", model.max_positions)\n" : ")\n");
}

void print_output(const SearchFlags& flags, const OutputLine& output, std::ostream& out) {
  if (flags.nbest_list) {
    if (!std::isfinite(output.score)) return;
    out << nbest_list_line(output.line - 1, output.text, output.log_prob, output.score) << '\n';
    return;
  }
  if (flags.scores) {
    out << format("%zu\t%.6f\t%.6f\t", output.line, output.score, output.log_prob);
  }
  out << output.text << '\n';
}

}  // namespace attn
