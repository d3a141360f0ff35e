#include "app/export/source.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/json_config.h"
#include "base/utf8.h"
#include "data/sentencepiece.h"

namespace attn {

void reject_option(const ExportTarget& target, const std::string& option, const std::string& value,
                   const std::string& why) {
  throw ConfigError(option + ": " + value + ": cannot be exported with --to " + target.name +
                    (why.empty() ? "" : ", " + why));
}

void require_expressible(const ExportTarget& target, const TransformerConfig& config) {
  const Json standard = write_config(TransformerConfig{}), chosen = write_config(config);
  for (const auto& [option, value] : chosen.items()) {
    const bool known = std::ranges::find(target.expressible, option) != target.expressible.end();
    if (!known && value != standard.at(option)) {
      reject_option(target, "model." + option,
                    value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  switch (config.position) {
    case Position::sinusoidal:
    case Position::sinusoidal_halves:
    case Position::learned:
    case Position::rotary:
    case Position::none:
      break;
    case Position::alibi:
    case Position::t5_bias:
    case Position::relative:
      reject_option(target, "model.position", std::string(enum_name(config.position)));
  }
  switch (config.norm) {
    case Norm::post:
    case Norm::pre:
      break;
    case Norm::deep:
      reject_option(target, "model.norm", "deep");
  }
  switch (config.norm_kind) {
    case NormKind::layer:
    case NormKind::rms:
      break;
    case NormKind::scale:
      reject_option(target, "model.norm_kind", "scale");
  }
}

std::vector<std::string> tokens_of(const Tokenizer& tokenizer) {
  std::vector<std::string> tokens;
  for (int64_t id = 0; id < tokenizer.size(); ++id) {
    tokens.push_back(tokenizer.piece(id));
    if (!find_invalid_utf8(tokens.back())) continue;
    throw DataError("the vocabulary's token " + std::to_string(id) +
                    " is not UTF-8, so it cannot be written as JSON");
  }
  return tokens;
}

void require_common_specials(const ExportTarget& target, const Tokenizers& tokenizers) {
  const Tokenizer &source_side = *tokenizers.source, &target_side = *tokenizers.target;
  for (const auto& [ours, theirs] :
       {std::pair{source_side.piece(source_side.eos()), target_side.piece(target_side.eos())},
        {source_side.piece(source_side.unk()), target_side.piece(target_side.unk())}}) {
    if (ours == theirs) continue;
    reject_option(target, "data.tokenizer", ours + " and " + theirs,
                  "which has one name for a special token of both sides");
  }
}

void write_json(const std::filesystem::path& path, const Json& json) {
  write_file_atomically(path, json.dump(2) + "\n");
}

void write_sentencepiece(const ExportSource& source, const std::filesystem::path& folder) {
  const auto write = [&](const Tokenizer& tokenizer, const char* name) {
    if (!looks_like_sentencepiece(tokenizer.serialized())) return;
    write_file_atomically(folder / name, tokenizer.serialized());
  };
  write(*source.tokenizers.source, "source.spm");
  write(*source.tokenizers.target, "target.spm");
}

}  // namespace attn
