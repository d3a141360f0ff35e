#include "app/experiment/runtime.h"

#include <string>

#include "base/check.h"
#include "base/enum_names.h"
#include "base/error.h"
#include "model/recurrent/config.h"

namespace attn {
namespace {

struct FormerPlace {
  const char* section;
  const char* key;
};
constexpr FormerPlace kFormerPlaces[] = {{"model", "attention"}, {"search", "decoder"}};

bool is_transformer(const Json& model) {
  const auto architecture = model.find("architecture");
  return architecture == model.end() || *architecture == Json("transformer");
}

bool is_recurrent_attention(const Json& value) {
  return value.is_string() && enum_named<RecurrentAttention>(value.get<std::string>());
}

// Earlier versions only had the Transformer. Other architectures have a different "attention".
bool is_former(const Json& section, const std::string& key) {
  return is_transformer(section) && !is_recurrent_attention(section.at(key));
}

}  // namespace

void RuntimeConfig::validate() const {
  require(timeout >= 1, "timeout", timeout, "must be 1 second or more");
}

ModelConfig with_runtime(ModelConfig model, const RuntimeConfig& runtime) {
  if (auto* transformer = std::get_if<TransformerConfig>(&model.options)) {
    transformer->attention = runtime.attention;
  }
  return model;
}

void move_to_runtime(Json& config) {
  if (!config.is_object()) return;
  for (const auto& [section, key] : kFormerPlaces) {
    const auto former = config.find(section);
    if (former == config.end() || !former->is_object() || !former->contains(key) ||
        !is_former(*former, key)) {
      continue;
    }
    const Json value = (*former)[key];
    former->erase(key);
    Json& runtime = config["runtime"];  // `former` may be invalid from here on
    if (runtime.is_null()) runtime = Json::object();
    if (!runtime.is_object()) return;  // reading reports it
    runtime[key] = value;
  }
}

void require_no_recurrent_attention(const Json& config) {
  const auto model = config.find("model");
  if (model == config.end() || !model->is_object() || !is_transformer(*model)) return;
  const auto attention = model->find("attention");
  if (attention == model->end() || !is_recurrent_attention(*attention)) return;
  throw ConfigError("model.attention: " + attention->dump() +
                    " is an attention of model.architecture=recurrent; the Transformer has scaled "
                    "dot-product attention");
}

}  // namespace attn
