// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/tensor/concepts.hpp>
#include <tessera/tensor/tensor.hpp>

#include <algorithm>
#include <limits>

namespace tessera::inline TESSERA_TARGET {

/// Draws a token from the scores of a language model: temperature, then the top_k highest scores,
/// then the smallest set of these that holds top_p of their probability.
///
/// Shapes  scores (tokens) -> the token; probabilities: (tokens) -> (tokens)
/// Cost    a sort; the probabilities and an order of the tokens on the stack, 12 bytes for each
///         token: 1.8 MB for a vocabulary of 150,000
/// Errors  std::invalid_argument for scores that have a NaN or +infinity, or are all -infinity,
///         which is a token that is not drawn: tests/random/token_sampler.cpp
/// Source  the order and the ties are those of the logits processors of Hugging Face transformers;
///         reference values: tests/reference/token_sampler.py
struct token_sampler {
  double temperature = 1;  ///< 0: always the highest score
  std::size_t top_k = 0;   ///< 0: all
  double top_p = 1;        ///< in (0, 1]; the highest score stays whatever it is

  template <contiguous Scores>
    requires(Scores::shape_type::rank == 1 && Scores::shape_type::bounded == 0)
  [[nodiscard]] constexpr auto probabilities(Scores const& scores) const {
    using S = typename Scores::shape_type;
    constexpr auto n = S::capacity;
    auto const* const x = scores.data();
    require(are_numbers(x, n),
            "token_sampler: expected finite scores, got some that are no numbers");
    auto p = tensor<double, S>{};
    auto order = std::array<std::uint32_t, n>{};
    for (auto i = std::size_t{0}; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return x[a] != x[b] ? x[a] > x[b] : a < b; });
    if (temperature <= 0) {
      p.values[order[0]] = 1;
      return p;
    }
    auto const highest = static_cast<double>(x[order[0]]);
    auto const lowest = x[order[(top_k == 0 ? n : std::min(top_k, n)) - 1]];
    auto sum = 0.0;
    for (auto const i : order) {
      if (x[i] < lowest) continue;
      p.values[i] = lane::exp((static_cast<double>(x[i]) - highest) / temperature);
      sum += p.values[i];
    }
    auto kept = 0.0;
    for (auto const i : order) {
      if (i != order[0] && not(kept < top_p * sum))
        p.values[i] = 0;
      else
        kept += p.values[i];
    }
    for (auto& value : p.values) value /= kept;
    return p;
  }

  template <contiguous Scores, class Generator>
  [[nodiscard]] constexpr auto operator()(Scores const& scores, Generator& generator) const
      -> std::size_t {
    auto const p = probabilities(scores);
    auto const u = generator.template rand<double>();
    auto reached = 0.0;
    auto last = std::size_t{0};
    for (auto i = std::size_t{0}; i < scores.size(); ++i) {
      if (p.values[i] == 0) continue;
      reached += p.values[i];
      last = i;
      if (u < reached) break;
    }
    return last;
  }

 private:
  /// Scores that can be put in order, with one above -infinity.
  template <class T>
  [[nodiscard]] static constexpr auto are_numbers(T const* x, std::size_t n) -> bool {
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    auto some = false;
    for (auto i = std::size_t{0}; i < n; ++i) {
      auto const score = static_cast<double>(x[i]);
      if (not(score < infinity)) return false;
      some = some || score > -infinity;
    }
    return some;
  }
};

}  // namespace tessera::inline TESSERA_TARGET
