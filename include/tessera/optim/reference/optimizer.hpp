// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>

#include <cstddef>

namespace tessera {

namespace detail {

/// kernel_for<update_fn<Rule>, Backend>::run(rule, n, p, g, slots...): one element after another,
/// each by rule.update(p, g, slots...), generic over numbers and vectors.
template <class Rule> struct update_fn {};

}  // namespace detail

template <class Rule> struct kernel_for<detail::update_fn<Rule>, reference> {
  static constexpr void run(Rule const& rule, std::size_t n, auto* p, auto const* g,
                            auto*... slots) {
    for (auto i = std::size_t{0}; i < n; ++i) rule.update(p[i], g[i], slots[i]...);
  }
};

}  // namespace tessera
