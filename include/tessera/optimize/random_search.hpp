// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optimize/draws.hpp>
#include <tessera/optimize/trial.hpp>

namespace tessera {

/// What a method may look at when it proposes a point.
struct search_so_far {
  search_space const& space;
  std::vector<trial> const& trials;
  search_direction direction = search_direction::minimize;
};

/// Every parameter drawn by itself, with equal density over its coordinate.
struct random_search {
  [[nodiscard]] auto propose(search_so_far const& search, draws& random) const -> search_point {
    auto coordinates = std::vector<double>{};
    for (auto const& p : search.space.parameters())
      coordinates.push_back(p.is == search_parameter::kind::choice
                                ? static_cast<double>(random.below(p.choices.size()))
                                : random.uniform(p.low_end(), p.high_end()));
    return search.space.point(coordinates);
  }
};

}  // namespace tessera
