// Checks for validate() of configs.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

#include "base/error.h"

namespace attn {

/// Throws ConfigError("name: value: rule") unless `ok`.
template <class T>
void require(bool ok, std::string_view name, const T& value, std::string_view rule) {
  if (ok) return;
  std::ostringstream text;
  text << name << ": " << value << ": " << rule;
  throw ConfigError(text.str());
}

/// Validates and returns `config`, for the initializer list of a constructor.
template <class Config>
const Config& validated(const Config& config) {
  config.validate();
  return config;
}

}  // namespace attn
