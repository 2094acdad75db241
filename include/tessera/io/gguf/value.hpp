// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/gguf/types.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace tessera {

namespace detail {

/// A value of type T that may stand at any address.
template <class T> [[nodiscard]] auto value_at(std::byte const* at) -> T {
  auto value = T{};
  std::memcpy(&value, at, sizeof(T));
  return value;
}
/// The string that begins at the first of `bytes` with its length, never past their end.
[[nodiscard]] inline auto string_at(std::span<std::byte const> bytes) -> std::string_view {
  if (bytes.size() < 8) return {};
  auto const length = std::min<std::uint64_t>(value_at<std::uint64_t>(bytes.data()),
                                              std::uint64_t{bytes.size()} - 8);
  return {reinterpret_cast<char const*>(bytes.data() + 8), static_cast<std::size_t>(length)};
}

}  // namespace detail

/// An array of metadata: numbers, which have places, or strings, which are walked through.
///
/// Cost  a look into the file: no memory, no copy
template <class T> class gguf_array {
 public:
  gguf_array(std::span<std::byte const> bytes, std::size_t count) : bytes_(bytes), count_(count) {}

  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    iterator(std::span<std::byte const> rest, std::size_t left) : rest_(rest), left_(left) {}
    [[nodiscard]] auto operator*() const -> T {
      if constexpr (std::same_as<T, std::string_view>)
        return detail::string_at(rest_);
      else if constexpr (std::same_as<T, bool>)
        return rest_[0] != std::byte{0};
      else
        return detail::value_at<T>(rest_.data());
    }
    auto operator++() -> iterator& {
      if constexpr (std::same_as<T, std::string_view>)
        rest_ = rest_.subspan(std::min(rest_.size(), 8 + detail::string_at(rest_).size()));
      else
        rest_ = rest_.subspan(sizeof(T));
      --left_;
      return *this;
    }
    auto operator++(int) -> iterator {
      auto const before = *this;
      ++*this;
      return before;
    }
    [[nodiscard]] auto operator==(iterator const& other) const -> bool {
      return left_ == other.left_;
    }

   private:
    std::span<std::byte const> rest_;
    std::size_t left_ = 0;
  };

  [[nodiscard]] auto size() const -> std::size_t { return count_; }
  [[nodiscard]] auto begin() const -> iterator { return {bytes_, count_}; }
  [[nodiscard]] auto end() const -> iterator { return {}; }
  [[nodiscard]] auto operator[](std::size_t i) const -> T
    requires(not std::same_as<T, std::string_view>)
  {
    return *iterator{bytes_.subspan(i * sizeof(T)), 1};
  }

 private:
  std::span<std::byte const> bytes_;
  std::size_t count_;
};

/// One value of a file's metadata: a look into its bytes.
class gguf_value {
 public:
  /// `element` is the type of an array's elements, and of anything else its own.
  gguf_value(gguf_type type, gguf_type element, std::size_t count, std::span<std::byte const> bytes)
      : type_(type), element_(element), count_(count), bytes_(bytes) {}

  [[nodiscard]] auto type() const -> gguf_type { return type_; }
  [[nodiscard]] auto element() const -> gguf_type { return element_; }
  /// The elements of an array; 1 for anything else.
  [[nodiscard]] auto size() const -> std::size_t { return count_; }
  [[nodiscard]] auto is_array() const -> bool { return type_ == gguf_type::array; }

  /// The value as T, where it has one: an integer of any type that T holds, a floating-point number
  /// of either type, bool, std::string_view.
  template <class T> [[nodiscard]] auto as() const -> std::optional<T> {
    if constexpr (std::same_as<T, bool> || std::same_as<T, std::string_view>) {
      if (type_ == gguf_type_of<T>()) return *gguf_array<T>(bytes_, 1).begin();
    } else if constexpr (std::floating_point<T>) {
      if (type_ == gguf_type::f32) return static_cast<T>(at<float>());
      if (type_ == gguf_type::f64) return static_cast<T>(at<double>());
    } else {
      switch (type_) {
        case gguf_type::u8:
          return in_range<T>(at<std::uint8_t>());
        case gguf_type::i8:
          return in_range<T>(at<std::int8_t>());
        case gguf_type::u16:
          return in_range<T>(at<std::uint16_t>());
        case gguf_type::i16:
          return in_range<T>(at<std::int16_t>());
        case gguf_type::u32:
          return in_range<T>(at<std::uint32_t>());
        case gguf_type::i32:
          return in_range<T>(at<std::int32_t>());
        case gguf_type::u64:
          return in_range<T>(at<std::uint64_t>());
        case gguf_type::i64:
          return in_range<T>(at<std::int64_t>());
        default:
          break;
      }
    }
    return std::nullopt;
  }
  /// The array of exactly this type of elements, where it is one.
  template <class T> [[nodiscard]] auto as_array() const -> std::optional<gguf_array<T>> {
    if (not is_array() || element_ != gguf_type_of<T>()) return std::nullopt;
    return gguf_array<T>(bytes_, count_);
  }
  /// The bytes in the file: of an array's elements, of a string with its length.
  [[nodiscard]] auto bytes() const -> std::span<std::byte const> { return bytes_; }

 private:
  template <class T> [[nodiscard]] auto at() const -> T {
    return detail::value_at<T>(bytes_.data());
  }
  template <class T, class From>
  [[nodiscard]] static auto in_range(From value) -> std::optional<T> {
    if (not std::in_range<T>(value)) return std::nullopt;
    return static_cast<T>(value);
  }

  gguf_type type_;
  gguf_type element_;
  std::size_t count_;
  std::span<std::byte const> bytes_;
};

}  // namespace tessera
