#include "app/export/ctranslate2.h"

#include <array>
#include <cmath>

#include "app/export/ctranslate2_file.h"
#include "base/file.h"
#include "base/json_config.h"

namespace attn {
namespace {

const ExportTarget kCtranslate2 = {
    "ctranslate2",
    {"layers", "d_model", "d_ff", "heads", "d_k", "d_v", "dropout", "attention_dropout",
     "activation_dropout", "position", "max_positions", "norm", "norm_kind", "bias", "activation",
     "embedding_sharing", "initialization", "qk_norm_length"}};

int8_t activation_code(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return 0;
    case Activation::silu:
      return 2;
    case Activation::gelu:  // the exact form
      return 3;
    case Activation::geglu:
    case Activation::swiglu:
      break;
  }
  reject_option(kCtranslate2, "model.activation", std::string(enum_name(activation)));
}

// The variables of the model, by CTranslate2's names.
class VariableWriter {
 public:
  VariableWriter(const ExportSource& source, const Ctranslate2Options& options)
      : source_(source), options_(options) {}

  Ctranslate2File model() {
    embeddings();
    for (const std::string side : {"encoder", "decoder"}) stack(side);
    file_.add_scalar("decoder/start_from_zero_embedding", int8_t{0});
    file_.add_scalar("decoder/alignment_layer", int16_t{-1});
    file_.add_scalar("decoder/alignment_heads", int16_t{1});
    return std::move(file_);
  }

 private:
  void matrix(const std::string& name, const Array& weight) {
    options_.int8 ? file_.add_int8(name, weight) : file_.add(name, weight);
  }

  void embeddings() {
    const std::string target = "decoder/embeddings/weight";
    matrix(target, source_.target_embedding());
    file_.add_scalar("encoder/embeddings_merge", int8_t{0});
    switch (source_.config.embedding_sharing) {
      case EmbeddingSharing::all:
        file_.add_alias("encoder/embeddings_0/weight", target);
        file_.add_alias("decoder/projection/weight", target);
        break;
      case EmbeddingSharing::decoder:
        matrix("encoder/embeddings_0/weight", source_.source_embedding());
        file_.add_alias("decoder/projection/weight", target);
        break;
      case EmbeddingSharing::none:
        matrix("encoder/embeddings_0/weight", source_.source_embedding());
        matrix("decoder/projection/weight", source_.at("projection_weight"));
        break;
    }
  }

  void stack(const std::string& side) {
    const TransformerConfig& config = source_.config;
    file_.add_scalar(side + "/num_heads", static_cast<int16_t>(config.heads));
    file_.add_scalar(side + "/pre_norm", static_cast<int8_t>(config.norm == Norm::pre));
    file_.add_scalar(side + "/activation", activation_code(config.activation));
    file_.add_scalar(side + "/scale_embeddings",
                     static_cast<float>(std::sqrt(static_cast<double>(config.d_model))));
    if (config.position != Position::rotary) {
      file_.add(side + "/position_encodings/encodings",
                side == "encoder" ? source_.source_positions : source_.target_positions);
    }
    if (has_final_norm(config.norm)) norm(side + ".final_norm", side + "/layer_norm");
    for (int64_t i = 0; i < config.layers; ++i) layer(side, std::to_string(i));
  }

  void layer(const std::string& side, const std::string& number) {
    const std::string ours = side + ".layers." + number + ".";
    const std::string theirs = side + "/layer_" + number + "/";
    self_attention(ours + "self_attention", theirs + "self_attention");
    if (side == "decoder") cross_attention(ours + "cross_attention", theirs + "attention");
    norm(ours + "feed_forward_sublayer.norm", theirs + "ffn/layer_norm");
    for (const auto& [name, linear] : {std::pair{"inner", "linear_0"}, {"outer", "linear_1"}}) {
      matrix(theirs + "ffn/" + linear + "/weight",
             source_.at(ours + "feed_forward." + name + ".weight"));
      file_.add(theirs + "ffn/" + linear + "/bias",
                source_.at(ours + "feed_forward." + name + ".bias"));
    }
  }

  void self_attention(const std::string& ours, const std::string& theirs) {
    heads(theirs);
    norm(ours + "_sublayer.norm", theirs + "/layer_norm");
    inputs(ours, {"query", "key", "value"}, theirs + "/linear_0");
    output(ours, theirs + "/linear_1");
    if (source_.config.position == Position::rotary) {
      file_.add_scalar(theirs + "/rotary_dim", static_cast<int32_t>(source_.config.d_k));
      file_.add_scalar(theirs + "/rotary_interleave", int8_t{1});
      file_.add_scalar(theirs + "/rotary_base", 10000.0F);
    }
  }

  void cross_attention(const std::string& ours, const std::string& theirs) {
    heads(theirs);
    norm(ours + "_sublayer.norm", theirs + "/layer_norm");
    inputs(ours, {"query"}, theirs + "/linear_0");
    inputs(ours, {"key", "value"}, theirs + "/linear_1");
    output(ours, theirs + "/linear_2");
  }

  void heads(const std::string& theirs) {
    const TransformerConfig& config = source_.config;
    file_.add_scalar(theirs + "/queries_scale",
                     static_cast<float>(1.0 / std::sqrt(static_cast<double>(config.d_k))));
    if (source_.head_width() * config.heads == config.d_model) return;
    file_.add_scalar(theirs + "/head_dim", static_cast<int32_t>(source_.head_width()));
  }

  // The projections of queries, keys or values, one below the other.
  void inputs(const std::string& ours, const std::vector<std::string>& parts,
              const std::string& theirs) {
    for (const std::string kind : {"weight", "bias"}) {
      std::vector<Array> rows;
      for (const std::string& part : parts) {
        const std::string name = ours + "." + part + "." + kind;
        if (!source_.has(name)) return;  // model.bias false
        rows.push_back(
            padded_head_rows(source_.at(name), source_.config.heads, source_.head_width()));
      }
      const Array all = stacked(rows);
      kind == "weight" ? matrix(theirs + "/weight", all) : file_.add(theirs + "/bias", all);
    }
  }

  void output(const std::string& ours, const std::string& theirs) {
    matrix(theirs + "/weight", padded_head_columns(source_.at(ours + ".output.weight"),
                                                   source_.config.heads, source_.head_width()));
    const std::string bias = ours + ".output.bias";
    if (source_.has(bias)) file_.add(theirs + "/bias", source_.at(bias));
  }

  // Without beta it is RMSNorm.
  void norm(const std::string& ours, const std::string& theirs) {
    file_.add(theirs + "/gamma", source_.at(ours + ".weight"));
    if (source_.has(ours + ".bias")) file_.add(theirs + "/beta", source_.at(ours + ".bias"));
  }

  const ExportSource& source_;
  const Ctranslate2Options& options_;
  Ctranslate2File file_;
};

}  // namespace

void require_ctranslate2(const ExportSource& source) {
  require_expressible(kCtranslate2, source.config);
  activation_code(source.config.activation);
  require_common_specials(kCtranslate2, source.tokenizers);
}

void write_ctranslate2(const ExportSource& source, const Ctranslate2Options& options,
                       const std::filesystem::path& folder) {
  require_ctranslate2(source);
  const Tokenizer& target = *source.tokenizers.target;
  const std::vector<std::string> target_tokens = tokens_of(target);
  const auto token = [&](int32_t id) { return target_tokens.at(static_cast<size_t>(id)); };
  if (source.shared_vocabulary()) {
    write_json(folder / "shared_vocabulary.json", target_tokens);
  } else {
    write_json(folder / "source_vocabulary.json", tokens_of(*source.tokenizers.source));
    write_json(folder / "target_vocabulary.json", target_tokens);
  }
  write_json(folder / "config.json", {{"unk_token", token(target.unk())},
                                      {"bos_token", token(target.bos())},
                                      {"eos_token", token(target.eos())},
                                      {"decoder_start_token", token(target.bos())},
                                      {"add_source_bos", false},
                                      {"add_source_eos", true},
                                      {"layer_norm_epsilon", nullptr},
                                      {"multi_query_attention", false}});
  write_sentencepiece(source, folder);
  VariableWriter(source, options).model().write(folder / "model.bin");
}

}  // namespace attn
