// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/tensor/concepts.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#if TESSERA_SIMD
#include <tessera/backend/simd/lanes.hpp>
#endif

/// Passes over the scores of a whole vocabulary: a vector at a time, with the same bits for vectors
/// of any width.
namespace tessera::detail::inline TESSERA_TARGET {

#if TESSERA_SIMD
inline constexpr auto score_lanes = whole_lanes<float>::width;
using score_vector = lane::pack<float>;
[[nodiscard]] TESSERA_INLINE inline auto scores_at(float const* p) -> score_vector {
  return lane::load(p);
}
TESSERA_INLINE inline void put_scores(float* p, score_vector v) { lane::store(p, v); }
[[nodiscard]] TESSERA_INLINE inline auto some_of(lane::mask<float> m) -> bool {
  return xsimd::any(m.value);
}
#else
inline constexpr auto score_lanes = std::size_t{1};
using score_vector = float;
[[nodiscard]] TESSERA_INLINE inline auto scores_at(float const* p) -> score_vector { return *p; }
TESSERA_INLINE inline void put_scores(float* p, score_vector v) { *p = v; }
[[nodiscard]] TESSERA_INLINE inline auto some_of(bool m) -> bool { return m; }
#endif

/// A token and its score.
struct scored_token {
  float score;
  std::uint32_t token;
  /// Higher scores first, of equal ones the first token.
  [[nodiscard]] friend auto operator<(scored_token const& a, scored_token const& b) -> bool {
    return a.score != b.score ? a.score > b.score : a.token < b.token;
  }
};

/// Calls f(i) for each score that is not below `cut`, or is above it, in their order.
template <bool Above, class F>
TESSERA_INLINE inline void for_each_score(std::span<float const> scores, float const& cut, F&& f) {
  auto const* const x = scores.data();
  auto const passes = [&](std::size_t i) { return Above ? x[i] > cut : x[i] >= cut; };
  auto i = std::size_t{0};
  for (; i + score_lanes <= scores.size(); i += score_lanes) {
    auto const v = scores_at(x + i);
    auto const limit = score_vector(cut);
    if (not some_of(Above ? v > limit : v >= limit)) continue;
    for (auto j = i; j < i + score_lanes; ++j)
      if (passes(j)) f(j);
  }
  for (; i < scores.size(); ++i)
    if (passes(i)) f(i);
}

/// The highest score; of a NaN among the scores nothing is said.
[[nodiscard]] inline auto highest_score(std::span<float const> scores) -> float {
  using namespace lane;
  auto const* const x = scores.data();
  auto best = score_vector(-std::numeric_limits<float>::infinity());
  auto i = std::size_t{0};
  for (; i + score_lanes <= scores.size(); i += score_lanes) best = max(scores_at(x + i), best);
  float all[score_lanes];
  put_scores(all, best);
  auto result = *std::max_element(all, all + score_lanes);
  for (; i < scores.size(); ++i) result = std::max(result, x[i]);
  return result;
}

inline constexpr auto weight_block = std::size_t{512};

/// exp((score - highest)·factor) of every score, and their sum: in double, of each block of 512
/// eight interleaved ones. Blocks' sums go to `blocks`, weights to `weights`, unless these are
/// null.
inline auto add_weights(std::span<float const> scores, float highest, float factor, float* weights,
                        double* blocks) -> double {
  using namespace lane;
  float some[weight_block];
  auto total = 0.0;
  for (auto first = std::size_t{0}; first < scores.size(); first += weight_block) {
    auto const n = std::min(weight_block, scores.size() - first);
    auto const* const x = scores.data() + first;
    auto* const w = weights == nullptr ? some : weights + first;
    auto i = std::size_t{0};
    for (; i + score_lanes <= n; i += score_lanes)
      put_scores(w + i, exp((scores_at(x + i) - score_vector(highest)) * score_vector(factor)));
    for (; i < n; ++i) w[i] = lane::exp((x[i] - highest) * factor);
    double sums[8] = {};
    auto j = std::size_t{0};
    for (; j + 8 <= n; j += 8)
      for (auto k = std::size_t{0}; k < 8; ++k) sums[k] += static_cast<double>(w[j + k]);
    for (; j < n; ++j) sums[j % 8] += static_cast<double>(w[j]);
    auto const sum =
        ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    if (blocks != nullptr) blocks[first / weight_block] = sum;
    total += sum;
  }
  return total;
}

/// The `most` highest scores above -infinity, of equal ones the first, in no order.
///
/// Cost  one pass, and for what passes the highest so far a selection for every `most` of them
inline void select_highest(std::span<float const> scores, std::size_t most,
                           std::vector<scored_token>& to) {
  to.clear();
  if (most == 0) return;
  auto cut = -std::numeric_limits<float>::infinity();
  auto const limit = std::max<std::size_t>(2 * most, most + 256);
  auto const keep = [&] {
    auto const last = to.begin() + static_cast<std::ptrdiff_t>(most) - 1;
    std::nth_element(to.begin(), last, to.end());
    cut = last->score;
    to.resize(most);
  };
  for_each_score<true>(scores, cut, [&](std::size_t i) {
    to.push_back({scores[i], static_cast<std::uint32_t>(i)});
    if (to.size() >= limit) keep();
  });
  if (to.size() > most) keep();
}

}  // namespace tessera::detail::inline TESSERA_TARGET
