// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// Messages in the wire format of protocol buffers, written without a compiler of schemas.
namespace tessera {

/// One message: fields in the order in which they are added, each with the number that the schema
/// gives it. A field that is repeated is added once for each of its elements, or packed.
///
/// Cost    one string that grows; a message inside of another is copied into it
/// Source  protobuf.dev/programming-guides/encoding; values by hand: tests/io/protobuf.cpp
class protobuf_writer {
 public:
  /// int32, int64, uint32, uint64, bool and enumerations.
  template <class N>
    requires std::integral<N> || std::is_enum_v<N>
  auto integer(std::uint32_t field, N value) -> protobuf_writer& {
    tag(field, varint_wire);
    varint(bits_of(value));
    return *this;
  }
  /// float and fixed32, double and fixed64: a C++ type for each.
  auto number(std::uint32_t field, float value) -> protobuf_writer& {
    tag(field, four_bytes_wire);
    fixed(std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  auto number(std::uint32_t field, double value) -> protobuf_writer& {
    tag(field, eight_bytes_wire);
    fixed(std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  /// string: bytes that are no UTF-8, which readers refuse, are replaced as by valid_utf8. An empty
  /// one is written, too.
  auto text(std::uint32_t field, std::string_view value) -> protobuf_writer& {
    return bytes(field, valid_utf8(value));
  }
  auto bytes(std::uint32_t field, std::string_view value) -> protobuf_writer& {
    tag(field, length_wire);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  auto bytes(std::uint32_t field, std::span<std::byte const> value) -> protobuf_writer& {
    return bytes(field,
                 std::string_view{reinterpret_cast<char const*>(value.data()), value.size()});
  }
  auto message(std::uint32_t field, protobuf_writer const& inner) -> protobuf_writer& {
    return bytes(field, inner.bytes_);
  }
  /// Numbers of one kind as a packed field: whole ones as varints, others at their width.
  template <std::ranges::input_range Values>
  auto packed(std::uint32_t field, Values const& values) -> protobuf_writer& {
    auto inner = protobuf_writer{};
    for (auto const value : values) {
      if constexpr (std::same_as<decltype(value), float const>)
        inner.fixed(std::bit_cast<std::uint32_t>(value));
      else if constexpr (std::same_as<decltype(value), double const>)
        inner.fixed(std::bit_cast<std::uint64_t>(value));
      else
        inner.varint(bits_of(value));
    }
    return message(field, inner);
  }

  [[nodiscard]] auto bytes() const& -> std::string const& { return bytes_; }
  [[nodiscard]] auto bytes() && -> std::string { return std::move(bytes_); }
  [[nodiscard]] auto size() const -> std::size_t { return bytes_.size(); }

 private:
  static constexpr std::uint32_t varint_wire = 0, eight_bytes_wire = 1, length_wire = 2,
                                 four_bytes_wire = 5;

  /// A negative number is extended to 64 bits, as the format asks.
  template <class N> [[nodiscard]] static constexpr auto bits_of(N value) -> std::uint64_t {
    if constexpr (std::is_enum_v<N>)
      return bits_of(static_cast<std::underlying_type_t<N>>(value));
    else if constexpr (std::is_signed_v<N>)
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    else
      return static_cast<std::uint64_t>(value);
  }
  void tag(std::uint32_t field, std::uint32_t wire) { varint(std::uint64_t{field} << 3U | wire); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>(0x80U | (value & 0x7FU));
    bytes_ += static_cast<char>(value);
  }
  void fixed(std::unsigned_integral auto value) {
    for (auto i = std::size_t{0}; i < sizeof value; ++i)
      bytes_ += static_cast<char>(value >> (8U * i) & 0xFFU);
  }

  std::string bytes_;
};

}  // namespace tessera
