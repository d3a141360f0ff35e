// Checks for validate() of configs.
#pragma once

#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"

namespace attn {

/// Throws ConfigError("name: value: rule") unless `ok`.
template <class T>
void require(bool ok, std::string_view name, const T& value, std::string_view rule) {
  if (ok) return;
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::digits10);
  text << name << ": " << value << ": " << rule;
  throw ConfigError(text.str());
}

/// Throws ConfigError("name: value: must be from MIN to MAX") unless the value, which must not be
/// NaN, is in this range.
template <class T>
void require_between(std::string_view name, const T& value, std::type_identity_t<T> min,
                     std::type_identity_t<T> max) {
  if (value >= min && value <= max) return;
  std::ostringstream rule;
  rule.precision(std::numeric_limits<double>::digits10);
  rule << "must be from " << min << " to " << max;
  require(false, name, value, rule.str());
}

}  // namespace attn
