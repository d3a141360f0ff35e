// Names of enum values in configs and messages.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attn {

template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

/// Specialize for an enum with `static constexpr auto values = std::to_array<EnumName<E>>({…})`.
template <class E>
struct EnumNames;

/// The name of `value`, which must be in the table.
template <class E>
constexpr std::string_view enum_name(E value) {
  for (const auto& entry : EnumNames<E>::values) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

/// The value of this name, if any.
template <class E>
constexpr std::optional<E> enum_named(std::string_view name) {
  for (const auto& entry : EnumNames<E>::values) {
    if (entry.name == name) return entry.value;
  }
  return {};
}

/// All names, in the table's order.
template <class E>
std::vector<std::string> enum_choices() {
  std::vector<std::string> names;
  for (const auto& entry : EnumNames<E>::values) names.emplace_back(entry.name);
  return names;
}

/// The alternative of a variant at this index, with its defaults.
template <class Variant, size_t at = 0>
Variant alternative_of(size_t index) {
  if constexpr (at + 1 < std::variant_size_v<Variant>) {
    if (index != at) return alternative_of<Variant, at + 1>(index);
  }
  return Variant(std::in_place_index<at>);
}

}  // namespace attn
