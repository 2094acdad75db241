// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/tensor/assign.hpp>

/// An expression is one kernel: a thread for each element computes the whole tree.
namespace tessera {

namespace detail {

/// The leading index and the column of element i, counted in row-major order.
template <class S> struct element_place {
  leading_index<S::rank> leading{};
  std::size_t column = 0;
};
template <class S>
[[nodiscard]] TESSERA_DEVICE constexpr auto place_of_element(actual_extents<S> const& actual,
                                                             std::size_t i) -> element_place<S> {
  auto at = element_place<S>{};
  if constexpr (S::rank > 0) {
    at.column = i % actual[S::rank - 1];
    i /= actual[S::rank - 1];
    for (auto a = S::rank - 1; a > 0; --a) {
      at.leading[a - 1] = i % actual[a - 1];
      i /= actual[a - 1];
    }
  }
  return at;
}

template <class Y, class E> struct assign_element {
  Y y;
  E e;
  TESSERA_DEVICE void operator()(std::size_t i) const {
    if constexpr (one_run<Y, E>) {
      one_lane::store(y.memory + i,
                      nodes::detail::operand_flat_row<shape_of<Y>>(e).get(one_lane{}, i));
    } else {
      auto const at = place_of_element<shape_of<Y>>(y.extents(), i);
      auto const to = destination_row(y, at.leading);
      one_lane::store(
          to.data + static_cast<std::ptrdiff_t>(at.column) * nodes::stride_of(to),
          nodes::detail::operand_row<shape_of<Y>>(e, at.leading).get(one_lane{}, at.column));
    }
  }
};

/// Temporaries lie in the scratch of the queue, whose launches run in order.
template <class Memory> struct temporary<cuda, Memory> {
  device::scratch<Memory> memory{1};
  [[nodiscard]] auto get() -> Memory& { return *memory.data(); }
};

}  // namespace detail

template <> struct kernel_for<detail::assign_fn, cuda> {
  template <class Y, class E> static void run(Y y, E const& e) {
    device::for_each(y.actual.size(), detail::assign_element<Y, E>{y, e});
  }
};

template <> struct kernel_for<detail::number_fn, cuda> {
  /// Waits for the number; where a graph is recorded, which computes it later, gives 0.
  template <class E> [[nodiscard]] static auto of(E const& e) -> scalar_of<E> {
    using T = scalar_of<E>;
    auto* const place = static_cast<T*>(device::current().next_number(sizeof(T)));
    assign(view<T, shape_of<E>, cuda>{place}, e);
    if (device::current().is_recording()) return T{0};
    device::synchronize();
    return *place;
  }
};

}  // namespace tessera
