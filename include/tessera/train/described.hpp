// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/aggregate.hpp>
#include <tessera/core/error.hpp>
#include <tessera/shape/shape.hpp>

#include <charconv>
#include <string>
#include <string_view>

/// Settings as text, so that a checkpoint can compare them: every number exactly.
namespace tessera {

namespace detail {

/// The name of a type without namespaces and template arguments.
template <class T> [[nodiscard]] auto short_name() -> std::string {
  auto text = std::string_view{__PRETTY_FUNCTION__};
  auto const begin = text.find("T = ") + 4;
  text = text.substr(begin, text.find_first_of("<;]", begin) - begin);
  auto const scope = text.rfind("::");
  return std::string{scope == std::string_view::npos ? text : text.substr(scope + 2)};
}
template <class T>
inline constexpr bool is_text = std::is_convertible_v<T const&, std::string_view>;
template <class T>
concept tells_settings = requires(T const& value) { value.settings(); };

}  // namespace detail

/// A plain struct as "adam(0.001, 0.9, 0.999, 1e-08, 0)": numbers, flags, texts and structs of
/// them. A type of another kind tells its own by settings(), which returns one of these.
///
/// Errors  a type of which nothing is known does not compile: tests/fail/described_unknown.cpp
template <class T> [[nodiscard]] auto described(T const& value) -> std::string {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return described(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    char letters[40];
    auto const end = std::to_chars(letters, letters + sizeof letters, value).ptr;
    return {letters, end};
  } else if constexpr (detail::is_text<T>) {
    return '"' + std::string{std::string_view{value}} + '"';
  } else if constexpr (detail::tells_settings<T>) {
    return detail::short_name<T>() + '(' + described(value.settings()) + ')';
  } else if constexpr (std::is_empty_v<T>) {
    return detail::short_name<T>() + "()";
  } else {
    static_assert(complaint::holds<std::is_aggregate_v<T>, T>,
                  "described: a type that is no plain struct needs settings()");
    auto inner = std::string{};
    if constexpr (std::is_aggregate_v<T>)
      for_each_field(value, [&](auto const& member) {
        inner += (inner.empty() ? "" : ", ") + described(member);
      });
    return detail::short_name<T>() + '(' + inner + ')';
  }
}

/// "(<=100, 4, 5)": extents, and their bounds.
template <class S> [[nodiscard]] auto described_shape() -> std::string {
  auto text = std::string{};
  for (auto axis = std::size_t{0}; axis < S::rank; ++axis)
    text += (axis == 0 ? "" : ", ") + std::string{is_bounded(S::extents[axis]) ? "<=" : ""} +
            std::to_string(bound_of(S::extents[axis]));
  return '(' + text + ')';
}

}  // namespace tessera
