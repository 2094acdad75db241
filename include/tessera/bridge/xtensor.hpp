// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/bridge/repairs.hpp>
#include <tessera/tensor/tensor.hpp>

#include <xtensor/xadapt.hpp>
#include <xtensor/xio.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>

#include <algorithm>
#include <array>
#include <ostream>
#include <stdexcept>
#include <string>

/// The way between tensors and xtensor, the host's array library.
namespace tessera {

/// An array of the host has not the shape that a tensor needs.
struct shape_error : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

namespace detail {

template <class Extents> [[nodiscard]] auto shape_text(Extents const& extents) -> std::string {
  auto text = std::string{"("};
  auto n = std::size_t{0};
  for (auto const length : extents) text += (n++ == 0 ? "" : ", ") + std::to_string(length);
  return text + (n == 1 ? ",)" : ")");
}
template <class X>
[[nodiscard]] auto host_extents(X const& x) -> std::array<std::size_t, shape_of<X>::rank> {
  if constexpr (owning<X>)
    return actual_extents<shape_of<X>>::largest().full();
  else
    return x.actual.full();
}

}  // namespace detail

/// A tensor or view as an xtensor expression over the same memory: reads and, where x is not const,
/// writes go through; but an adaptor that is given another one takes its memory: `assign` copies.
///
/// Shapes  those of x, bounded extents at their actual length; of an owning tensor, at their bound
/// Cost    no copy, no heap; valid as long as the memory of x
template <contiguous X> [[nodiscard]] auto as_xtensor(X&& x) {
  auto const extents = detail::host_extents(x);
  auto size = std::size_t{1};
  for (auto const length : extents) size *= length;
  return xt::adapt(x.data(), size, xt::no_ownership(), extents);
}

/// Evaluates an xtensor expression into a tensor or view.
///
/// Shapes  e as `to`; no broadcast
/// Cost    one pass; through a temporary, since e may read `to`
/// Errors  shape_error, which names both shapes; nothing is written
template <contiguous X, class E> void assign(X&& to, xt::xexpression<E> const& e) {
  auto const& source = e.derived_cast();
  auto const extents = detail::host_extents(to);
  if (source.dimension() != extents.size() ||
      not std::equal(extents.begin(), extents.end(), source.shape().begin()))
    throw shape_error("expected an array of shape " + detail::shape_text(extents) + ", got " +
                      detail::shape_text(source.shape()));
  as_xtensor(to) = e;  // and not `source`: one adaptor is given to another as its memory
}

/// A tensor of type X with the values of an xtensor expression.
///
/// Errors  shape_error
template <class X, class E> [[nodiscard]] auto from_xtensor(xt::xexpression<E> const& e) -> X {
  auto result = X{};
  assign(result, e);
  return result;
}

/// Prints a tensor or view as NumPy does.
template <contiguous X> auto operator<<(std::ostream& to, X const& x) -> std::ostream& {
  using T = scalar_of<X>;
  if constexpr (shape_of<X>::rank == 0 && std::integral<T> && not std::same_as<T, bool>)
    return to << +*x.data();  // one of 8 bits is no letter
  else if constexpr (shape_of<X>::rank == 0)
    return to << *x.data();
  else
    return xt::operator<<(to, as_xtensor(x));
}

}  // namespace tessera
