// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/grad/reduction.hpp>

namespace tessera {

namespace detail {

/// One thread adds element after element: an order that every backend has.
template <class Op, class A, class B, class C, class D> struct in_one_thread {
  A a;
  B b;
  C c;
  D d;
  TESSERA_DEVICE void operator()(std::size_t) const { kernel<Op, reference>::run(a, b, c, d); }
};
template <class Op, class... A> void run_in_one_thread(A const&... a) {
  device::for_each(1, in_one_thread<Op, A...>{a...});
}

}  // namespace detail

/// Cost  one thread walks the elements: right before it is fast
template <> struct kernel<detail::pull_fn, cuda> {
  static void run(auto const&... a) { detail::run_in_one_thread<detail::pull_fn>(a...); }
};
template <std::ptrdiff_t... Axes> struct kernel<detail::pull_extremum_fn<Axes...>, cuda> {
  static void run(auto const&... a) {
    detail::run_in_one_thread<detail::pull_extremum_fn<Axes...>>(a...);
  }
};

}  // namespace tessera
