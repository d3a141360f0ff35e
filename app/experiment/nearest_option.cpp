#include "app/experiment/nearest_option.h"

#include <algorithm>
#include <vector>

#include "app/experiment/runtime.h"
#include "base/edit_distance.h"
#include "base/json_config.h"
#include "data/config.h"
#include "eval/search/config.h"
#include "model/config.h"
#include "train/config.h"

namespace attn {
namespace {

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('.') + 1);  // npos + 1 is 0
}

std::vector<std::string> option_paths() {
  std::vector<std::string> paths = {"about", "seed"};
  const auto add = [&](const std::string& section, const std::vector<FieldDoc>& docs) {
    for (const FieldDoc& doc : docs) paths.push_back(section + "." + doc.path);
  };
  add("data", explain_config(DataConfig{}));
  add("model", explain_config(ModelConfig{}));
  add("train", explain_config(TrainConfig{}));
  add("search", explain_config(SearchConfig{}));
  add("runtime", explain_config(RuntimeConfig{}));
  return paths;
}

}  // namespace

std::string option_path(std::string_view name) {
  for (const std::string& path : option_paths()) {
    if (path == name || last_part(path) == name) return path;
  }
  return "";
}

std::string nearest_option(std::string_view name) {
  if (std::string known = option_path(name); !known.empty()) return known;
  std::vector<std::string> names = option_paths();
  std::ranges::transform(names, names.begin(), last_part);
  const std::string near = nearest(last_part(std::string(name)), names);
  return near.empty() ? "" : option_path(near);
}

std::string with_suggestion(const UnknownKey& error) {
  const std::string message = error.what();
  std::string meant = option_path(error.key);
  if (meant.empty() || meant == error.path) meant = option_path(error.leaf);
  if (meant.empty() && message.find("; did you mean ") == std::string::npos) {
    meant = nearest_option(error.leaf);
  }
  if (meant.empty() || meant == error.path) return message;
  return error.complaint + "; did you mean " + meant + "?";
}

}  // namespace attn
