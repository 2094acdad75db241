// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/random/torch.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera {

/// The order of n examples in an epoch: torch.randperm(n) of a generator seeded with seed + epoch,
/// as torch's DistributedSampler. It depends on nothing that ran before, so that a resumed training
/// has it again.
///
/// Errors  std::invalid_argument for more examples than 32 bits number
[[nodiscard]] inline auto shuffled(std::uint64_t seed, std::uint64_t epoch, std::size_t n)
    -> std::vector<std::uint32_t> {
  if (n > 0xFFFF'FFFFU)
    throw std::invalid_argument("shuffled: expected at most 4294967295 examples, got " +
                                std::to_string(n));
  auto generator = torch_generator(seed + epoch);
  auto order = std::vector<std::uint32_t>(n);
  generator.randperm(order.data(), n);
  return order;
}

}  // namespace tessera
