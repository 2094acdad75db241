// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/context.hpp>
#include <tessera/tensor/tensor.hpp>

/// A second input, for whoever asks: it travels in the context, so that the layers between the
/// caller and the one that reads it know nothing of it.
namespace tessera {

/// A context that lends a condition C, and memory that the slopes of its readers are added to; a
/// view without memory where nobody wants them.
template <class Context, class C> struct conditioned_context : Context {
  const_view_of<C> condition;
  view_of<C> slope;

  [[nodiscard]] constexpr auto without_condition() const -> Context { return *this; }
  [[nodiscard]] constexpr auto inside(std::size_t index) const {
    using inner = decltype(Context::inside(index));
    return conditioned_context<inner, C>{Context::inside(index), condition, slope};
  }
};

template <class Context>
inline constexpr bool has_condition = requires(Context const& c) { c.condition; };
template <class Context>
using condition_of = kind_of<std::remove_cvref_t<decltype(std::declval<Context>().condition)>>;

/// `context` with a condition: model.resume(p, x, given(c)); its slope is added to `slope`.
template <contiguous C, class Context = plain_context>
[[nodiscard]] constexpr auto given(C const& condition, view_of<C> slope, Context context = {}) {
  return conditioned_context<Context, kind_of<C>>{context, as_const(condition), slope};
}
template <contiguous C, class Context = plain_context>
[[nodiscard]] constexpr auto given(C const& condition, Context context = {}) {
  return given(condition, view_of<C>{nullptr, as_const(condition).actual}, context);
}

}  // namespace tessera
