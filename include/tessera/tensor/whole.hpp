// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/core/clear.hpp>

namespace tessera {

namespace detail {

/// kernel_for<whole_fn, Backend> has clear(object) and copy(to, from), for objects that hold
/// nothing but numbers of that backend: a state, a gradient.
struct whole_fn {};

}  // namespace detail

template <> struct kernel_for<detail::whole_fn, reference> {
  static constexpr void clear(auto& object) { tessera::clear(object); }
  static constexpr void copy(auto& to, auto const& from) { to = from; }
};
template <> struct kernel_for<detail::whole_fn, simd> : kernel_for<detail::whole_fn, reference> {};

/// Makes an object of numbers zero, where its backend has them.
template <class Backend> constexpr void clear_on(auto& object) {
  kernel_for<detail::whole_fn, Backend>::clear(object);
}
/// Copies an object of numbers, where its backend has them.
template <class Backend> constexpr void copy_on(auto& to, auto const& from) {
  kernel_for<detail::whole_fn, Backend>::copy(to, from);
}

}  // namespace tessera
