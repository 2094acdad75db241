// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/optim/optimizer.hpp>

#include <array>

namespace tessera {

namespace detail {

template <class Rule, class T, std::size_t Slots> struct update_number {
  Rule rule;
  T* p;
  T const* g;
  std::array<T*, Slots> slots;

  TESSERA_DEVICE void operator()(std::size_t i) const {
    with_slots(i, std::make_index_sequence<Slots>{});
  }

 private:
  template <std::size_t... S>
  TESSERA_DEVICE void with_slots(std::size_t i, std::index_sequence<S...>) const {
    rule.update(p[i], g[i], slots[S][i]...);
  }
};

}  // namespace detail

/// All parameters of a model in one kernel.
template <class Rule> struct kernel_for<detail::update_fn<Rule>, cuda> {
  template <class T>
  static void run(Rule const& rule, std::size_t n, T* p, T const* g, auto*... slots) {
    device::for_each(n, detail::update_number<Rule, T, sizeof...(slots)>{rule, p, g, {{slots...}}});
  }
};

}  // namespace tessera
