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
/// Cost  a call of `fits` where all may stay; else one and a copy for each doubling of `exchanges`
template <class Message>
[[nodiscard]] auto without_oldest(std::vector<Message> const& messages, std::size_t first,
                                  std::size_t exchanges, auto const& fits) -> std::vector<Message> {
  if (exchanges == 0 || fits(messages)) return messages;
  auto const without = [&](std::size_t count) {
    auto rest = messages;
    auto const oldest = rest.begin() + static_cast<std::ptrdiff_t>(first);
    rest.erase(oldest, oldest + 2 * static_cast<std::ptrdiff_t>(count));
    return rest;
  };
  auto const counts = std::views::iota(std::size_t{1}, exchanges);
  auto const too_few = [&](std::size_t count) { return not fits(without(count)); };
  auto const enough = std::ranges::partition_point(counts, too_few) - counts.begin();
  return without(1 + static_cast<std::size_t>(enough));
}

}  // namespace tessera
