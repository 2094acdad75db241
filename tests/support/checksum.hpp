// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace test {

/// The CRC-32 of zlib, over the bytes of a tensor.
template <class W> [[nodiscard]] auto checksum(W const& w) -> double {
  auto crc = 0xFFFFFFFFU;
  auto const* const bytes = reinterpret_cast<unsigned char const*>(w.data());
  for (auto i = std::size_t{0}; i < w.size() * sizeof(*w.data()); ++i) {
    crc ^= bytes[i];
    for (auto bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return crc ^ 0xFFFFFFFFU;
}

}  // namespace test
