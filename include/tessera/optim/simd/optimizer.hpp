// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/lanes.hpp>
#include <tessera/optim/reference/optimizer.hpp>

namespace tessera {

template <class Rule> struct kernel_for<detail::update_fn<Rule>, simd> {
  template <class T>
  static constexpr void run(Rule const& rule, std::size_t n, T* p, T const* g, auto*... slots) {
    if constexpr (not std::same_as<T, float> && not std::same_as<T, double>) {
      kernel_for<detail::update_fn<Rule>, reference>::run(rule, n, p, g, slots...);
    } else {
      if (std::is_constant_evaluated())
        return kernel_for<detail::update_fn<Rule>, reference>::run(rule, n, p, g, slots...);
      auto const own = rule;  // what is written might be the caller's
      for_each_vector<T>(n, [&](auto lanes, std::size_t i) TESSERA_INLINE {
        [&](auto at, auto... slot) TESSERA_INLINE {
          own.update(at, lanes.load(g + i), slot...);
          lanes.store(p + i, at);
          (lanes.store(slots + i, slot), ...);
        }(lanes.load(p + i), lanes.load(slots + i)...);
      });
    }
  }
};

}  // namespace tessera
