#include "app/commands/score_triples.h"

#include <memory>
#include <string>

#include "app/commands/output_file.h"
#include "app/commands/score_input.h"

namespace attn {
namespace {

struct ScoreTriplesArguments {
  std::string source, hypothesis, reference, format = "jsonl";
  std::filesystem::path output;
};

/// A field of a CSV file (RFC 4180).
std::string csv_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    out += c;
    if (c == '"') out += c;
  }
  return out + "\"";
}

void score_triples(const ScoreTriplesArguments& arguments) {
  require_no_input(
      {"--output", arguments.output},
      {{"SRC", arguments.source}, {"HYP", arguments.hypothesis}, {"REF", arguments.reference}});
  const TextFile source = read_text(arguments.source, false, ByteOrderMark::drop);
  const ScoredText text =
      read_scored_text({arguments.hypothesis, {arguments.reference}}, ByteOrderMark::drop);
  check_same_length(text.hypotheses, source, "hypotheses and source");
  OutputFile output(arguments.output);
  const bool csv = arguments.format == "csv";
  if (csv) output.stream() << "src,mt,ref\n";
  for (size_t i = 0; i < source.lines.size(); ++i) {
    const std::string &from = source.lines[i], &to = text.hypotheses.lines[i];
    const std::string& reference = text.references.front()[i];
    if (csv) {
      output.stream() << csv_field(from) << ',' << csv_field(to) << ',' << csv_field(reference)
                      << '\n';
    } else {
      output.stream() << Json({{"src", from}, {"mt", to}, {"ref", reference}}).dump() << '\n';
    }
  }
  output.commit();
}

}  // namespace

void add_score_triples_command(CLI::App& score) {
  CLI::App* triples = score.add_subcommand(
      "triples", "Write triples of source, output and reference for metrics such as COMET");
  triples->footer(
      "One JSON object per line with the keys src, mt and ref, the input format of COMET's "
      "predict(), or a CSV file\nwith these columns.\n"
      "Example: attn score triples in.en out.de ref.de --output triples.jsonl");
  auto arguments = std::make_shared<ScoreTriplesArguments>();
  triples->add_option("SRC", arguments->source, "Source text, one sentence per line")->required();
  triples->add_option("HYP", arguments->hypothesis, "Hypotheses, line by line; - is stdin")
      ->required();
  triples->add_option("REF", arguments->reference, "Reference, line by line")->required();
  triples->add_option("--format", arguments->format, "File format")
      ->check(CLI::IsMember({"jsonl", "csv"}))
      ->capture_default_str();
  triples->add_option("-o,--output", arguments->output, "Output file (default: standard output)");
  triples->callback([arguments] { score_triples(*arguments); });
}

}  // namespace attn
