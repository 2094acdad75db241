// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/assign.hpp>

/// Where a backward pass leaves the slope of its input: writes(dx) or adds_to(dx).
namespace tessera {

/// A view that is written, or added to; without memory it is not wanted. A layer that says
/// `adds_dx` is given either, others only one to write.
template <class V, bool Adds> struct slope_target {
  using scalar_type = typename V::scalar_type;
  using shape_type = shape_of<V>;
  using backend_type = backend_of<V>;
  static constexpr bool adds = Adds;
  V view;

  [[nodiscard]] constexpr auto has_memory() const -> bool { return view.has_memory(); }
  [[nodiscard]] constexpr auto data() const { return view.data(); }
  [[nodiscard]] constexpr auto size() const -> std::size_t { return view.size(); }
  /// Leaves an expression there, if it is wanted.
  constexpr void put(auto const& e) const {
    if (not has_memory()) return;
    if constexpr (Adds)
      assign(view, view + e);
    else
      assign(view, e);
  }
  /// The same memory for whoever comes after one that wrote it.
  [[nodiscard]] constexpr auto again() const -> slope_target<V, true> { return {view}; }
};

template <class V> [[nodiscard]] constexpr auto writes(V v) -> slope_target<V, false> {
  return {v};
}
template <class V> [[nodiscard]] constexpr auto adds_to(V v) -> slope_target<V, true> {
  return {v};
}

/// A view that no backward pass may read, known by its type.
template <class V> struct unread : V {};
template <class V> inline constexpr bool is_unread = false;
template <class V> inline constexpr bool is_unread<unread<V>> = true;
template <class V> [[nodiscard]] constexpr auto as_const(unread<V> const& v) {
  return unread<const_view_of<V>>{{v.data(), v.actual}};
}

/// A view of what is not kept, or not wanted.
template <class X> [[nodiscard]] constexpr auto without_memory(actual_extents<shape_of<X>> actual) {
  return unread<view_of<X>>{{nullptr, actual}};
}

}  // namespace tessera
