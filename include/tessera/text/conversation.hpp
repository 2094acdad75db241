// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <vector>

namespace tessera {

/// `messages` without the fewest of its `exchanges` (two messages each, the oldest at `first`) that
/// have to leave, oldest first, until `fits(messages)`; without all of them where nothing does.
///
/// Cost  a copy and a call of `fits` for each doubling of `exchanges`
template <class Message>
[[nodiscard]] auto without_oldest(std::vector<Message> const& messages, std::size_t first,
                                  std::size_t exchanges, auto const& fits) -> std::vector<Message> {
  auto const without = [&](std::size_t count) {
    auto rest = messages;
    auto const oldest = rest.begin() + static_cast<std::ptrdiff_t>(first);
    rest.erase(oldest, oldest + 2 * static_cast<std::ptrdiff_t>(count));
    return rest;
  };
  auto const counts = std::views::iota(std::size_t{0}, exchanges);
  return without(static_cast<std::size_t>(
      std::ranges::partition_point(counts,
                                   [&](std::size_t count) { return not fits(without(count)); }) -
      counts.begin()));
}

}  // namespace tessera
