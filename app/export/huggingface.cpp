#include "app/export/huggingface.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "app/export/marian_weights.h"
#include "base/file.h"
#include "base/json_config.h"
#include "base/safetensors.h"
#include "data/sentencepiece.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

const ExportTarget kMarian = {
    "huggingface",
    {"layers", "d_model", "d_ff", "heads", "d_k", "d_v", "dropout", "attention_dropout",
     "activation_dropout", "position", "max_positions", "bias", "activation", "embedding_sharing",
     "initialization", "norm", "qk_norm_length"}};
constexpr const char* kPadding = "<pad>";

std::string activation_name(Activation activation) {
  switch (activation) {
    case Activation::relu:
    case Activation::gelu:
    case Activation::silu:
      return std::string(enum_name(activation));
    case Activation::geglu:
    case Activation::swiglu:
      break;
  }
  reject_option(kMarian, "model.activation", std::string(enum_name(activation)));
}

// One id for both sides, as the config has only one: after the last token of either.
int64_t padding_id(const ExportSource& source) {
  return std::max(source.tokenizers.source->size(), source.tokenizers.target->size());
}

Json vocabulary_json(const Tokenizer& tokenizer, int64_t padding) {
  Json json = Json::object();
  int64_t id = 0;
  for (const std::string& token : tokens_of(tokenizer)) json[token] = id++;
  json[kPadding] = padding;
  return json;
}

Json model_config(const ExportSource& source) {
  const TransformerConfig& config = source.config;
  const Tokenizer& target = *source.tokenizers.target;
  const int64_t padding = padding_id(source);
  return {{"architectures", {"MarianMTModel"}},
          {"model_type", "marian"},
          {"is_encoder_decoder", true},
          {"d_model", config.d_model},
          {"encoder_layers", config.layers},
          {"decoder_layers", config.layers},
          {"encoder_attention_heads", config.heads},
          {"decoder_attention_heads", config.heads},
          {"encoder_ffn_dim", config.d_ff},
          {"decoder_ffn_dim", config.d_ff},
          {"activation_function", activation_name(config.activation)},
          {"dropout", config.dropout},
          {"attention_dropout", config.attention_dropout},
          {"activation_dropout", config.activation_dropout},
          {"max_position_embeddings", source.source_positions.rows()},
          {"scale_embedding", true},
          {"vocab_size", padding + 1},
          {"decoder_vocab_size", padding + 1},
          {"share_encoder_decoder_embeddings", config.embedding_sharing == EmbeddingSharing::all},
          {"tie_word_embeddings", config.embedding_sharing != EmbeddingSharing::none},
          {"pad_token_id", padding},
          {"bos_token_id", target.bos()},
          {"eos_token_id", target.eos()},
          {"decoder_start_token_id", target.bos()},
          {"forced_eos_token_id", nullptr},
          {"torch_dtype", "float32"}};
}

Json generation_config(const ExportSource& source) {
  const Tokenizer& target = *source.tokenizers.target;
  const bool power = source.search.penalty == LengthPenalty::power;
  return {{"decoder_start_token_id", target.bos()},
          {"bos_token_id", target.bos()},
          {"eos_token_id", target.eos()},
          {"pad_token_id", padding_id(source)},
          {"forced_eos_token_id", nullptr},
          {"max_length", std::min<int64_t>(source.target_positions.rows(), 512)},
          {"num_beams", source.search.beam},
          {"length_penalty", power ? source.search.alpha : 0.0},
          {"early_stopping", false}};
}

void write_tokenizer(const ExportSource& source, const fs::path& folder) {
  const int64_t padding = padding_id(source);
  const Tokenizer& target = *source.tokenizers.target;
  write_json(folder / "vocab.json", vocabulary_json(*source.tokenizers.source, padding));
  if (!source.shared_vocabulary()) {
    write_json(folder / "target_vocab.json", vocabulary_json(target, padding));
  }
  write_json(folder / "tokenizer_config.json",
             {{"tokenizer_class", "MarianTokenizer"},
              {"separate_vocabs", !source.shared_vocabulary()},
              {"model_max_length", source.source_positions.rows()},
              {"unk_token", target.piece(target.unk())},
              {"eos_token", target.piece(target.eos())},
              {"pad_token", kPadding},
              {"clean_up_tokenization_spaces", false}});
  write_sentencepiece(source, folder);
}

void require_narrow(const char* option, int64_t value, const TransformerConfig& config) {
  const int64_t width = config.d_model / config.heads;
  if (value <= width) return;
  reject_option(kMarian, option, std::to_string(value),
                "whose heads have d_model / heads = " + std::to_string(width) +
                    " dimensions; use --to ctranslate2");
}

void require_subwords(const Tokenizer& tokenizer) {
  if (!looks_like_sentencepiece(tokenizer.serialized())) {
    reject_option(kMarian, "data.tokenizer", "words",
                  "whose tokenizer needs SentencePiece models; use --to ctranslate2");
  }
  for (const std::string& token : tokens_of(tokenizer)) {
    if (token == kPadding) {
      reject_option(kMarian, "data.tokenizer", "a vocabulary with the token <pad>",
                    "which needs this token for padding");
    }
  }
}

}  // namespace

void require_huggingface(const ExportSource& source) {
  const TransformerConfig& config = source.config;
  require_expressible(kMarian, config);
  if (config.norm != Norm::post) {
    reject_option(kMarian, "model.norm", std::string(enum_name(config.norm)),
                  "since Marian models normalize after the residual sum; use --to ctranslate2");
  }
  if (config.position == Position::rotary) {
    reject_option(kMarian, "model.position", "rotary",
                  "since Marian models add positions to the embeddings; use --to ctranslate2");
  }
  activation_name(config.activation);
  require_common_specials(kMarian, source.tokenizers);
  if (config.d_model % config.heads != 0) {
    reject_option(kMarian, "model.heads", std::to_string(config.heads),
                  "which requires that heads divide d_model; use --to ctranslate2");
  }
  require_narrow("model.d_k", config.d_k, config);
  require_narrow("model.d_v", config.d_v, config);
  require_subwords(*source.tokenizers.source);
  require_subwords(*source.tokenizers.target);
}

void write_huggingface(const ExportSource& source, const fs::path& folder) {
  require_huggingface(source);
  write_json(folder / "config.json", model_config(source));
  write_json(folder / "generation_config.json", generation_config(source));
  write_tokenizer(source, folder);
  const std::map<std::string, Array> weights = marian_weights(source, padding_id(source) + 1);
  std::vector<TensorView> views;
  for (const auto& [name, array] : weights) {
    views.push_back({name, "F32", array.shape, std::as_bytes(std::span(array.values))});
  }
  write_safetensors(folder / "model.safetensors", views, {{"format", "pt"}});
}

}  // namespace attn
