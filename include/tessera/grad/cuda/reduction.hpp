// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/grad/reduction.hpp>

namespace tessera {

namespace detail {

template <class Axes, class E, class Place, class Value, class Slope> struct pull_extremum_alone {
  E e;
  Place to;
  Value value;
  Slope slope;
  TESSERA_DEVICE void operator()(std::size_t) const {
    kernel_for<pull_extremum_fn, reference>::run(Axes{}, e, to, value, slope);
  }
};

}  // namespace detail

/// One thread: which elements share a slope is known only when all were looked at.
template <> struct kernel_for<detail::pull_extremum_fn, cuda> {
  template <class Axes, class E, class Place, class Value, class Slope>
  static void run(Axes, E const& e, Place const& to, Value const& value, Slope const& slope) {
    device::for_each(
        1, detail::pull_extremum_alone<Axes, E, Place, Value, Slope>{e, to, value, slope});
  }
};

}  // namespace tessera
