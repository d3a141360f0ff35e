#include "app/experiment/head_widths.h"

#include "base/check.h"
#include "base/format.h"

namespace attn {
namespace {

// An option's value, or its default if missing; 0 for values that are not positive integers.
int64_t size_at(const Json& model, const char* key, int64_t standard) {
  const auto found = model.find(key);
  if (found == model.end() || found->is_null()) return standard;
  return found->is_number_integer() ? std::max<int64_t>(found->get<int64_t>(), 0) : 0;
}

bool is_transformer(const Json& model) {
  const auto found = model.find("architecture");
  return found == model.end() || found->is_null() || *found == Json("transformer");
}

}  // namespace

void resolve_head_widths(Json& config) {
  if (!config.is_object() || !config.contains("model") || !config["model"].is_object()) return;
  Json& model = config["model"];
  if (!is_transformer(model)) return;
  const TransformerConfig standard;
  for (const char* key : {"d_k", "d_v"}) {
    const auto found = model.find(key);
    if (found == model.end() || !found->is_string()) continue;
    const std::string place = std::string("model.") + key;
    require(*found == Json("auto"), place, found->dump(),
            "must be an integer or \"auto\" (d_model / heads)");
    const int64_t heads = size_at(model, "heads", standard.heads);
    const int64_t d_model = size_at(model, "d_model", standard.d_model);
    if (heads == 0 || d_model == 0) {
      *found = standard.d_k;  // the strict read reports them
      continue;
    }
    require(d_model % heads == 0, place, "\"auto\"",
            format("model.heads %lld does not divide model.d_model %lld; write a number",
                   static_cast<long long>(heads), static_cast<long long>(d_model)));
    *found = d_model / heads;
  }
}

std::string width_note(const ModelConfig& model) {
  const auto* config = std::get_if<TransformerConfig>(&model.options);
  if (config == nullptr) return "";
  std::string note;
  const auto add = [&](const char* name, int64_t width) {
    const int64_t all = config->heads * width;
    if (all == config->d_model) return;
    note += note.empty() ? "" : "; ";
    note += format("%lld heads x %s %lld = %lld, not d_model %lld",
                   static_cast<long long>(config->heads), name, static_cast<long long>(width),
                   static_cast<long long>(all), static_cast<long long>(config->d_model));
  };
  add("d_k", config->d_k);
  add("d_v", config->d_v);
  if (is_gated(config->activation)) {
    note += note.empty() ? "" : "; ";
    const auto d_ff = static_cast<long long>(config->d_ff);
    note += format(
        "%s has a third matrix: d_ff %lld has the parameters of %lld with relu, %lld those of %lld",
        std::string(enum_name(config->activation)).c_str(), d_ff, d_ff * 3 / 2, (d_ff * 2 + 1) / 3,
        d_ff);
  }
  return note;
}

}  // namespace attn
