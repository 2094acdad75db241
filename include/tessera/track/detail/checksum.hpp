// SPDX-License-Identifier: MIT
#pragma once

#include <boost/crc.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::detail {

/// Castagnoli's, as TensorBoard's records have it.
[[nodiscard]] inline auto crc32c(std::string_view bytes) -> std::uint32_t {
  auto sum = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>{};
  sum.process_bytes(bytes.data(), bytes.size());
  return sum.checksum();
}
/// Rotated and moved, so that the sum of a text with sums in it is no plain one.
[[nodiscard]] inline auto masked_crc32c(std::string_view bytes) -> std::uint32_t {
  auto const sum = crc32c(bytes);
  return ((sum >> 15U) | (sum << 17U)) + 0xA282EAD8U;
}
/// That of IEEE 802.3, over a type and then the data.
[[nodiscard]] inline auto crc32_of(char type, std::string_view data) -> std::uint32_t {
  auto sum = boost::crc_32_type{};
  sum.process_byte(static_cast<unsigned char>(type));
  sum.process_bytes(data.data(), data.size());
  return sum.checksum();
}

/// A whole number in `size` bytes, the lowest first.
[[nodiscard]] inline auto little_endian(std::uint64_t value, int size) -> std::string {
  auto bytes = std::string{};
  for (auto i = 0; i < size; ++i, value >>= 8U) bytes += static_cast<char>(value & 0xFFU);
  return bytes;
}

}  // namespace tessera::detail
