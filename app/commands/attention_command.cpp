#include "app/commands/commands.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "app/commands/text_io.h"
#include "app/experiment/checkpoint.h"
#include "app/inspect/pairs.h"
#include "app/inspect/token_labels.h"
#include "app/machine/device.h"
#include "base/error.h"
#include "base/format.h"
#include "model/attention_heads.h"
#include "report/attention_page.h"

namespace attn {
namespace {

AttentionSentence described(const Tokenizers& tokenizers, const ScoredPair& pair,
                            const PairTexts& texts) {
  const Tokenizer &source = *tokenizers.source, &target = *tokenizers.target;
  AttentionSentence sentence;
  sentence.source = token_labels(source, pair.source, texts.source);
  sentence.source.push_back({source.piece(source.eos())});
  sentence.target = token_labels(target, pair.target, texts.target);
  sentence.target.insert(sentence.target.begin(), {target.piece(target.bos())});
  return sentence;
}

AttentionMap to_map(const AttentionRecord& record) {
  const torch::Tensor weights =
      record.observed.weights_BHLM.to(torch::kCPU, torch::kFloat32).contiguous();
  const auto* data = weights.data_ptr<float>();
  return {.kind = std::string(enum_name(record.kind)),
          .heads = weights.size(1),
          .weights = {data, data + weights.numel()}};
}

std::vector<AttentionSentence> attention_of(LoadedModel& loaded, const SelectedPairs& selected) {
  const torch::NoGradGuard no_grad;
  Seq2SeqModel& model = *loaded.model;
  model.eval();
  AttentionRecorder recorder(model);
  std::vector<AttentionSentence> sentences;
  for (size_t i = 0; i < selected.pairs.size(); ++i) {
    const ScoredPair& pair = selected.pairs[i];
    const ForcedBatch batch = forced_batch(std::span(&pair, 1), loaded.tokenizers, model.device());
    model.forward(batch.source, batch.target_in);
    sentences.push_back(described(loaded.tokenizers, pair, selected.texts[i]));
    sentences.back().line = static_cast<int64_t>(selected.lines[i]) + 1;
    for (const AttentionRecord& record : recorder.take()) {
      sentences.back().maps.push_back(to_map(record));
    }
    std::ranges::stable_sort(sentences.back().maps, {}, [](const AttentionMap& map) {
      return map.kind == "encoder" ? 0 : map.kind == "decoder" ? 1 : 2;
    });
  }
  return sentences;
}

struct AttentionOptions {
  std::filesystem::path run;
  std::vector<Assignment> assignments;
  std::string source = "-";
  std::filesystem::path target;
  std::filesystem::path html, json;
  PairLimits limits;
};

std::string about(const LoadedModel& loaded, const AttentionOptions& options) {
  const bool parser = loaded.experiment.data.task == Task::parsing;
  const std::string outputs = parser ? "trees" : "translations";
  return loaded.directory.path().string() + ". Teacher forcing on " +
         (options.target.empty() ? "the model's own " + outputs : "given " + outputs) +
         ": the rows of the decoder are its input tokens, so that row i predicts token i + 1.";
}

void attention(const AttentionOptions& options, const Context& context) {
  if (options.html.empty() && options.json.empty()) {
    throw ConfigError("attention: no output; give --html PAGE or --json FILE");
  }
  for (const auto& output : {options.html, options.json}) {
    require_not_input(output, options.source);
    require_not_input(output, options.target);
  }
  LoadedModel loaded = load_model(options.run, context.device, options.assignments);
  std::cerr << "reading " << loaded.directory.path().string() << "\n";
  auto html = requested_output(options.html), json = requested_output(options.json);
  const std::vector<std::string> source =
      read_text(options.source, true, ByteOrderMark::drop).lines;
  const SelectedPairs selected =
      options.target.empty() ? decoded_pairs(loaded, source, options.limits)
                             : reference_pairs(loaded, source, options.target, options.limits);
  if (selected.pairs.empty()) {
    throw DataError("attention: no sentence of 1 to " + std::to_string(options.limits.max_tokens) +
                    " tokens (--max-tokens) among the first " +
                    std::to_string(options.limits.lines) + " (--lines)");
  }
  const AttentionReport report{.title = "Attention of " + options.run.string(),
                               .about = about(loaded, options),
                               .sentences = attention_of(loaded, selected)};
  if (html) html->write_all(attention_page(report));
  if (json) json->write_all(attention_json(report));
  std::cerr << counted(std::ssize(selected.pairs), "sentence");
  if (selected.left_out > 0) {
    std::cerr << "; " << selected.left_out << (selected.left_out == 1 ? " is" : " are")
              << " empty or longer than " << options.limits.max_tokens << " tokens (--max-tokens)";
  }
  std::cerr << "\n";
}

}  // namespace

void add_attention_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<AttentionOptions>();
  CLI::App* command = app.add_subcommand(
      "attention", "Write the attention weights of every head as an HTML page or JSON");
  command->footer(
      "Encodes the source and decodes the target with teacher forcing. Without --target the target "
      "is\nthe model's own output. The page has no external resources; the JSON is in bertviz's "
      "format.\nFor a parser the source is words separated by spaces, the target bracketed trees.\n"
      "Examples:\n"
      "  attn attention runs/tiny --html attention.html < sentences.en\n"
      "  attn attention runs/tiny --source in.en --target ref.de --json attention.json");
  command->add_option("run", options->run, kModelArgument)->required();
  add_set(command, options->assignments, "override an option of search or runtime: beam=5");
  command->add_option("--source", options->source, "sentences (default: standard input)");
  command->add_option("--target", options->target,
                      "their translations or trees (default: the model's own output)");
  command->add_option("--html", options->html, "HTML file to write");
  command->add_option("--json", options->json, "JSON file to write");
  add_number(command, "--lines", options->limits.lines,
             "number of sentences to use, from the start of the file", 1, 10000);
  add_number(command, "--max-tokens", options->limits.max_tokens,
             "skip sentences with more tokens than this", 1, 1024);
  command->callback([options, &context] { attention(*options, context); });
}

}  // namespace attn
