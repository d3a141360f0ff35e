// The error for an unknown key of a config struct. Callers may catch it to add a suggestion.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace attn {

/// The message suggests the nearest key of the same struct.
class UnknownKey : public ConfigError {
 public:
  UnknownKey(const std::string& place, const std::string& wrong, const std::string& innermost,
             const std::string& note, const std::string& suggestion)
      : ConfigError(path_of(place, wrong) + ": unknown key" + note + suggestion),
        path(path_of(place, wrong)),
        key(wrong),
        leaf(innermost),
        complaint(path + ": unknown key" + note) {}

  std::string path;       ///< "train.lr"
  std::string key;        ///< "lr"
  std::string leaf;       ///< "lr" of {"optimizer": {"lr": 1}} too
  std::string complaint;  ///< the message without its suggestion

 private:
  static std::string path_of(const std::string& place, const std::string& wrong) {
    return place.empty() ? wrong : place + "." + wrong;
  }
};

}  // namespace attn
