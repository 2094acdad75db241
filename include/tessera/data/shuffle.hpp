// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/random/torch.hpp>

#include <cstdint>
#include <vector>

namespace tessera {

/// The order of n examples in an epoch: torch.randperm(n) of a generator seeded with seed + epoch,
/// as torch's DistributedSampler. It depends on nothing that ran before, so that a resumed training
/// has it again.
[[nodiscard]] inline auto shuffled(std::uint64_t seed, std::uint64_t epoch, std::size_t n)
    -> std::vector<std::uint32_t> {
  auto generator = torch_generator(seed + epoch);
  auto order = std::vector<std::uint32_t>(n);
  generator.randperm(order.data(), n);
  return order;
}

}  // namespace tessera
