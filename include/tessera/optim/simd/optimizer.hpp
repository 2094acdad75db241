// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/lanes.hpp>
#include <tessera/optim/reference/optimizer.hpp>

namespace tessera {

/// A load waits for a store before it whose address ends in the same twelve bits, wherever that is,
/// and what a rule stores comes out of a division. So it is stored late: after as many vectors more
/// were read. (Adam on four arrays of 256 KB that lie a line apart: 37 us -> 19, Zen 4.)
template <class Rule> struct kernel_for<detail::update_fn<Rule>, simd> {
  template <class T>
  static constexpr void run(Rule const& rule, std::size_t n, T* p, T const* g, auto*... slots) {
    if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
      if (not std::is_constant_evaluated()) {
        auto const own = rule;  // what is written might be the caller's
        T* const arrays[] = {p, slots...};
        return update_vectors(n, arrays, [&](auto lanes, std::size_t i, auto& w) TESSERA_INLINE {
          [&]<std::size_t... S>(std::index_sequence<S...>) TESSERA_INLINE {
            own.update(w[0], lanes.load(g + i), w[1 + S]...);
          }(std::index_sequence_for<decltype(slots)...>{});
        });
      }
    }
    kernel_for<detail::update_fn<Rule>, reference>::run(rule, n, p, g, slots...);
  }

 private:
  static constexpr std::size_t late = 2;

  template <class T, std::size_t Count>
  TESSERA_INLINE static void update_vectors(std::size_t n, T* const (&arrays)[Count],
                                            auto const& update) {
    using V = lane::pack<T>;
    constexpr auto width = V::width;
    auto i = std::size_t{0};
    if (n >= late * width) {
      V done[late][Count];  // of the vectors before; to begin with, what is there
#pragma GCC unroll 4
      for (auto k = std::size_t{0}; k < late; ++k)
#pragma GCC unroll 4
        for (auto a = std::size_t{0}; a < Count; ++a)
          done[k][a] = lane::load(arrays[a] + k * width);
      auto before = i;
      for (; i + late * width <= n; before = i, i += late * width) {
#pragma GCC unroll 4
        for (auto k = std::size_t{0}; k < late; ++k) {
          V next[Count];
#pragma GCC unroll 4
          for (auto a = std::size_t{0}; a < Count; ++a)
            next[a] = lane::load(arrays[a] + i + k * width);
          update(whole_lanes<T>{}, i + k * width, next);
#pragma GCC unroll 4
          for (auto a = std::size_t{0}; a < Count; ++a) {
            lane::store(arrays[a] + before + k * width, done[k][a]);
            done[k][a] = next[a];
          }
        }
      }
#pragma GCC unroll 4
      for (auto k = std::size_t{0}; k < late; ++k)
#pragma GCC unroll 4
        for (auto a = std::size_t{0}; a < Count; ++a)
          lane::store(arrays[a] + before + k * width, done[k][a]);
    }
    for (; i < n; i += width) {
      auto const lanes = first_lanes<T>{n - i < width ? n - i : width};
      V next[Count];
#pragma GCC unroll 4
      for (auto a = std::size_t{0}; a < Count; ++a) next[a] = lanes.load(arrays[a] + i);
      update(lanes, i, next);
#pragma GCC unroll 4
      for (auto a = std::size_t{0}; a < Count; ++a) lanes.store(arrays[a] + i, next[a]);
    }
  }
};

}  // namespace tessera
