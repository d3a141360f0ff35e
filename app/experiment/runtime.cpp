#include "app/experiment/runtime.h"

#include "base/check.h"

namespace attn {
namespace {

struct FormerPlace {
  const char* section;
  const char* key;
};
constexpr FormerPlace kFormerPlaces[] = {{"model", "attention"}, {"search", "decoder"}};

// Earlier versions only had the Transformer. Other architectures have a different "attention".
bool is_former(const Json& section) {
  const auto architecture = section.find("architecture");
  return architecture == section.end() || *architecture == Json("transformer");
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
        !is_former(*former)) {
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

}  // namespace attn
