// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/walk_forward.hpp>
#include <tessera/data/windows.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "features.hpp"

/// Ways in which a training learns what it could not have known.
namespace forecast {

enum class leak_kind {
  correlated_with_target,  ///< a feature that nearly is the target
  depends_on_future,       ///< a feature that changes where later days do
  window_over_gap          ///< a window that reads, or is taught by, days of another part
};

struct leak {
  leak_kind kind = leak_kind::depends_on_future;
  std::string where;  ///< the feature, or the part of a fold
  double value = 0;   ///< correlation, largest change, or rows too far
  std::string text;   ///< one sentence
};

using feature_function = std::function<feature_table(price_table const&)>;

/// Features whose correlation with their target is above `limit`, either way.
///
/// Errors  std::invalid_argument for more targets than rows
[[nodiscard]] auto correlated_features(feature_table const& table, std::span<double const> target,
                                       double limit = 0.8) -> std::vector<leak>;

/// Features that are not the same bits where the days from a cut on are missing, or replaced by
/// noise: at `cuts` places in the second half of the days, drawn by the seed. A row that appears or
/// goes is a leak as well.
///
/// Cost    2·cuts + 1 calls of `f`
/// Errors  price_error for fewer than 60 days
[[nodiscard]] auto features_of_future(feature_function const& f, price_table const& prices,
                                      std::size_t cuts = 4, std::uint64_t seed = 1)
    -> std::vector<leak>;

/// Windows of a fold, as a training uses them: a training window may read no row past its part,
/// and its target (`horizon` rows after its last one) must be known before the first held-out row.
/// A held-out window must end in its part; it may read rows before it, which are known by then.
[[nodiscard]] auto overlapping_windows(tessera::fold const& f, tessera::windows const& training,
                                       tessera::windows const& held_out, std::size_t horizon)
    -> std::vector<leak>;

}  // namespace forecast
