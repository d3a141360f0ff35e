#include "app/experiment/nearest_option.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "app/experiment/runtime.h"
#include "base/json_config.h"
#include "data/config.h"
#include "eval/tasks/evaluator_config.h"
#include "model/config.h"
#include "train/config.h"

namespace attn {
namespace {

struct Alias {
  std::string_view name, option;
};
// What fairseq, OpenNMT, Marian, Hugging Face and PyTorch call these options.
constexpr Alias kAliases[] = {
    {"lr", "train.learning_rate"},
    {"peak_lr", "train.learning_rate"},
    {"lr_scheduler", "train.schedule"},
    {"scheduler", "train.schedule"},
    {"warmup_steps", "train.warmup"},
    {"warmup_updates", "train.warmup"},
    {"max_steps", "train.steps"},
    {"max_update", "train.steps"},
    {"max_updates", "train.steps"},
    {"num_steps", "train.steps"},
    {"train_steps", "train.steps"},
    {"updates", "train.steps"},
    {"iterations", "train.steps"},
    {"epochs", "train.steps"},
    {"max_epoch", "train.steps"},
    {"update_freq", "train.accumulate"},
    {"accum_count", "train.accumulate"},
    {"grad_accum", "train.accumulate"},
    {"gradient_accumulation_steps", "train.accumulate"},
    {"adam_beta1", "train.beta1"},
    {"adam_beta2", "train.beta2"},
    {"adam_eps", "train.epsilon"},
    {"adam_epsilon", "train.epsilon"},
    {"eps", "train.epsilon"},
    {"wd", "train.weight_decay"},
    {"clip", "train.clip_norm"},
    {"grad_clip", "train.clip_norm"},
    {"max_grad_norm", "train.clip_norm"},
    {"label_smoothing_factor", "train.label_smoothing"},
    {"fp16", "train.precision"},
    {"bf16", "train.precision"},
    {"amp", "train.precision"},
    {"dtype", "train.precision"},
    {"early_stopping", "train.patience"},
    {"log_interval", "train.log_every"},
    {"logging_steps", "train.log_every"},
    {"save_every", "train.checkpoint_every"},
    {"save_steps", "train.checkpoint_every"},
    {"save_interval", "train.checkpoint_every"},
    {"keep_checkpoints", "train.keep_last"},
    {"keep_last_epochs", "train.keep_last"},
    {"save_total_limit", "train.keep_last"},
    {"bs", "data.batch_tokens"},
    {"batch", "data.batch_tokens"},
    {"batch_size", "data.batch_tokens"},
    {"max_tokens", "data.batch_tokens"},
    {"vocab", "data.vocab_size"},
    {"vocabulary_size", "data.vocab_size"},
    {"bpe", "data.tokenizer"},
    {"joined_dictionary", "data.shared_vocabulary"},
    {"share_vocab", "data.shared_vocabulary"},
    {"src", "data.source"},
    {"source_lang", "data.source"},
    {"tgt", "data.target"},
    {"trg", "data.target"},
    {"target_lang", "data.target"},
    {"max_len", "data.max_length"},
    {"max_seq_len", "data.max_length"},
    {"arch", "model.architecture"},
    {"num_layers", "model.layers"},
    {"n_layers", "model.layers"},
    {"n_layer", "model.layers"},
    {"nlayers", "model.layers"},
    {"depth", "model.layers"},
    {"nhead", "model.heads"},
    {"nheads", "model.heads"},
    {"n_head", "model.heads"},
    {"n_heads", "model.heads"},
    {"num_heads", "model.heads"},
    {"attention_heads", "model.heads"},
    {"num_attention_heads", "model.heads"},
    {"dim", "model.d_model"},
    {"embed_dim", "model.d_model"},
    {"emb_dim", "model.d_model"},
    {"n_embd", "model.d_model"},
    {"hidden_size", "model.d_model"},
    {"hidden_dim", "model.d_model"},
    {"width", "model.d_model"},
    {"ffn", "model.d_ff"},
    {"ffn_dim", "model.d_ff"},
    {"ffn_embed_dim", "model.d_ff"},
    {"dim_feedforward", "model.d_ff"},
    {"intermediate_size", "model.d_ff"},
    {"d_inner", "model.d_ff"},
    {"d_head", "model.d_k"},
    {"head_dim", "model.d_k"},
    {"d_key", "model.d_k"},
    {"d_value", "model.d_v"},
    {"p_drop", "model.dropout"},
    {"dropout_rate", "model.dropout"},
    {"attn_dropout", "model.attention_dropout"},
    {"relu_dropout", "model.activation_dropout"},
    {"prenorm", "model.norm"},
    {"pre_norm", "model.norm"},
    {"normalize_before", "model.norm"},
    {"pos_enc", "model.position"},
    {"position_encoding", "model.position"},
    {"positional_encoding", "model.position"},
    {"tie_embeddings", "model.embedding_sharing"},
    {"tied_embeddings", "model.embedding_sharing"},
    {"share_all_embeddings", "model.embedding_sharing"},
    {"beam_size", "search.beam"},
    {"num_beams", "search.beam"},
    {"n_best", "search.nbest"},
    {"num_return_sequences", "search.nbest"},
    {"lenpen", "search.alpha"},
    {"length_penalty", "search.alpha"},
    {"quantization", "search.weights"},
    {"compute_type", "search.weights"},
    {"random_seed", "seed"},
};

struct Option {
  std::string path, name;
};

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('.') + 1);  // npos + 1 is 0
}

// Evaluators' options come last, so that "beam" means search.beam.
const std::vector<Option>& options() {
  static const std::vector<Option> all = [] {
    std::vector<Option> list;
    const auto add = [&](const std::string& path) { list.push_back({path, last_part(path)}); };
    const auto add_section = [&](const std::string& section, const std::vector<FieldDoc>& docs) {
      for (const FieldDoc& doc : docs) add(section + "." + doc.path);
    };
    add("about");
    add("seed");
    add_section("data", explain_config(DataConfig{}));
    add_section("model", explain_config(ModelConfig{}));
    add_section("train", explain_config(TrainConfig{}));
    add_section("search", explain_config(SearchConfig{}));
    add_section("runtime", explain_config(RuntimeConfig{}));
    for (const auto& kind : EnumNames<EvaluatorKind>::values) {
      EvaluatorConfig config;
      config.set_kind(kind.value);
      add_section("eval[]", explain_config(config));
    }
    return list;
  }();
  return all;
}

std::string normalized(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c == '-' ? '_' : static_cast<char>(std::tolower(c & 0x7f));
  return text;
}

// {"model": {"heads": …}} for model.heads.
std::string nested_text(const std::string& path) {
  const size_t dot = path.find('.');
  const std::string inner = dot == std::string::npos ? "…" : nested_text(path.substr(dot + 1));
  return "{\"" + path.substr(0, dot) + "\": " + inner + "}";
}

}  // namespace

std::string option_path(std::string_view name) {
  const std::string wanted = normalized(name);
  for (const Option& option : options()) {
    if (option.name == wanted || option.path == wanted) return option.path;
  }
  const std::string last = last_part(wanted);
  for (const Alias& alias : kAliases) {
    if (alias.name == last) return std::string(alias.option);
  }
  return "";
}

std::string nearest_option(std::string_view name) {
  if (std::string known = option_path(name); !known.empty()) return known;
  std::vector<std::string> names;
  for (const Option& option : options()) names.push_back(option.name);
  const std::string near = nearest(last_part(normalized(name)), names);
  return near.empty() ? "" : option_path(near);
}

std::string with_suggestion(const UnknownKey& error) {
  if (error.path == error.key && error.key.find('.') != std::string::npos &&
      option_path(error.key) == error.key) {
    return error.complaint + "; nest the objects: " + nested_text(error.key);
  }
  std::string meant = option_path(error.key);
  if (meant.empty() || meant == error.path) meant = option_path(error.leaf);
  const std::string message = error.what();
  if (meant.empty() || meant == error.path) {
    if (message.find("; did you mean ") != std::string::npos) return message;
    meant = nearest_option(error.leaf);
  }
  if (meant.empty() || meant == error.path) return message;
  constexpr std::string_view kEvaluators = "eval[]";
  if (meant.starts_with(kEvaluators)) {  // the evaluator that has the unknown key, else the first
    const size_t end = error.path.starts_with("eval[") ? error.path.find(']') : std::string::npos;
    const std::string own = end == std::string::npos ? "eval[0]" : error.path.substr(0, end + 1);
    meant.replace(0, kEvaluators.size(), own);
  }
  return error.complaint + "; did you mean " + meant + "?";
}

}  // namespace attn
