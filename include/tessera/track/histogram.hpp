// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace tessera {

/// Numbers counted by where they lie. Bucket i holds those below limits[i] and not below
/// limits[i - 1]; the last one holds its limit, too. What is no finite number is in `not_finite`
/// alone.
struct histogram_counts {
  std::size_t count = 0;
  std::size_t not_finite = 0;
  double minimum = 0;
  double maximum = 0;
  double sum = 0;
  double sum_of_squares = 0;
  std::vector<double> limits = {};
  std::vector<double> counts = {};
};

namespace detail {

/// TensorBoard's: from 1e-12 to 1e20 by steps of a tenth, the same below zero, and zero.
[[nodiscard]] inline auto default_limits() -> std::vector<double> const& {
  static auto const limits = [] {
    auto positive = std::vector<double>{};
    for (auto limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
    positive.push_back(std::numeric_limits<double>::max());
    auto all = std::vector<double>{};
    for (auto i = positive.size(); i-- > 0;) all.push_back(-positive[i]);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return limits;
}
/// All but the buckets.
[[nodiscard]] inline auto moments_of(std::span<float const> values) -> histogram_counts {
  auto h = histogram_counts{};
  for (auto const value : values) {
    if (not std::isfinite(value)) {
      ++h.not_finite;
      continue;
    }
    auto const x = static_cast<double>(value);
    h.minimum = h.count == 0 ? x : std::min(h.minimum, x);
    h.maximum = h.count == 0 ? x : std::max(h.maximum, x);
    h.sum += x;
    h.sum_of_squares += x * x;
    ++h.count;
  }
  return h;
}

}  // namespace detail

/// By the limits of TensorBoard's histograms; a run of empty buckets is one, and empty ones at both
/// ends are left out, one excepted that says where the first begins.
///
/// Cost  the logarithm of 1,549 for each number
[[nodiscard]] inline auto default_histogram(std::span<float const> values) -> histogram_counts {
  auto const& limits = detail::default_limits();
  auto h = detail::moments_of(values);
  auto counts = std::vector<double>(limits.size());
  for (auto const value : values) {
    if (not std::isfinite(value)) continue;
    auto const above = std::ranges::upper_bound(limits, static_cast<double>(value));
    counts[static_cast<std::size_t>(above - limits.begin())] += 1;
  }
  auto end = counts.size();
  while (end > 0 && counts[end - 1] == 0) --end;
  for (auto i = std::size_t{0}; i < end; ++i) {
    if (counts[i] == 0 && counts[i + 1] == 0) continue;  // the run goes on
    h.limits.push_back(limits[i]);
    h.counts.push_back(counts[i]);
  }
  return h;
}

/// By `buckets` limits at equal distances from the smallest number to the largest; where these are
/// the same, half a unit around. The edges are the smallest, or half a unit below, and the limits.
[[nodiscard]] inline auto equal_histogram(std::span<float const> values, std::size_t buckets)
    -> histogram_counts {
  auto h = detail::moments_of(values);
  auto const is_point = h.minimum == h.maximum;
  auto const low = is_point ? h.minimum - 0.5 : h.minimum;
  auto const high = is_point ? h.maximum + 0.5 : h.maximum;
  auto const width = (high - low) / static_cast<double>(buckets);
  h.counts.resize(buckets);
  for (auto i = std::size_t{1}; i <= buckets; ++i)
    h.limits.push_back(i == buckets ? high : low + width * static_cast<double>(i));
  for (auto const value : values) {
    if (not std::isfinite(value)) continue;
    auto const above = std::ranges::upper_bound(h.limits, static_cast<double>(value));
    auto const bucket = static_cast<std::size_t>(above - h.limits.begin());
    h.counts[std::min(bucket, buckets - 1)] += 1;
  }
  return h;
}

}  // namespace tessera
