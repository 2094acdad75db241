// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/file.hpp>
#include <tessera/io/gguf/value.hpp>
#include <tessera/io/json_text.hpp>

namespace tessera::detail {

/// A name as messages print it: escaped, and cut where it is long.
[[nodiscard]] inline auto quoted_name(std::string_view name) -> std::string {
  return json_text(name.substr(0, 80)) + (name.size() > 80 ? "..." : "");
}

/// The bytes of a GGUF file one after another, all within it.
///
/// Errors  file_error, which says what was read, what was expected and what came
class gguf_cursor {
 public:
  gguf_cursor(std::span<std::byte const> bytes, std::filesystem::path path)
      : path_(std::move(path)), rest_(bytes) {}

  [[nodiscard]] auto path() const -> std::filesystem::path const& { return path_; }
  [[nodiscard]] auto left() const -> std::size_t { return rest_.size(); }
  [[noreturn]] void fail(std::string const& what) const { throw file_error(path_, what); }

  auto take(std::uint64_t count, std::string const& what) -> std::span<std::byte const> {
    if (count > rest_.size())
      fail(what + ": expected " + std::to_string(count) + " bytes, got " +
           std::to_string(rest_.size()) + " up to the end of the file");
    auto const result = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(result.size());
    return result;
  }
  template <class T> auto take_number(std::string const& what) -> T {
    return detail::value_at<T>(take(sizeof(T), what).data());
  }
  /// A key or a name: UTF-8, not empty, not too long.
  auto take_name(std::string const& what, std::size_t longest) -> std::string_view {
    auto const length = take_number<std::uint64_t>(what);
    if (length == 0 || length > longest)
      fail(what + ": expected 1 to " + std::to_string(longest) + " bytes, got " +
           std::to_string(length));
    auto const bytes = take(length, what);
    auto const name = std::string_view{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
    for (auto at = std::size_t{0}; at < name.size();) {
      auto const piece = detail::utf8_piece_at(name, at);
      if (not piece.is_letter)
        fail(what + ": expected UTF-8, got " + quoted_name(name) + ", whose byte " +
             std::to_string(at) + " is none");
      at += piece.bytes;
    }
    if (name.find('\0') != std::string_view::npos)
      fail(what + ": " + quoted_name(name) + " has a NUL byte");
    return name;
  }

  auto take_value(std::string const& what) -> gguf_value {
    auto const type = take_type(what);
    if (type != gguf_type::array) return {type, type, 1, take_elements(type, 1, what)};
    auto const element = take_type(what + ", an array");
    if (element == gguf_type::array) fail(what + ": arrays of arrays are not read");
    auto const count = take_number<std::uint64_t>(what + ", the number of elements");
    auto const bytes = take_elements(element, count, what);
    return {type, element, static_cast<std::size_t>(count), bytes};
  }

 private:
  auto take_type(std::string const& what) -> gguf_type {
    auto const number = take_number<std::uint32_t>(what + ", its type");
    if (number >= std::size(detail::gguf_type_table))
      fail(what + ": expected a type of 0 to 12, got " + std::to_string(number));
    return static_cast<gguf_type>(number);
  }
  auto take_elements(gguf_type type, std::uint64_t count, std::string const& what)
      -> std::span<std::byte const> {
    auto const before = rest_;
    auto const least = type == gguf_type::string ? 8 : byte_size_of(type);
    if (count > rest_.size() / least)
      fail(what + ": expected " + std::to_string(count) + " of " + std::string{name_of(type)} +
           ", got " + std::to_string(rest_.size()) + " bytes up to the end of the file");
    if (type == gguf_type::string)
      for (auto i = std::uint64_t{0}; i < count; ++i) (void)take_string(i, what);
    else
      (void)take(count * least, what);
    auto const bytes = before.first(before.size() - rest_.size());
    if (type == gguf_type::boolean)
      for (auto const b : bytes)
        if (b > std::byte{1})
          fail(what + ": expected a bool of 0 or 1, got " +
               std::to_string(std::to_integer<unsigned>(b)));
    return bytes;
  }
  void take_string(std::uint64_t i, std::string const& what) {
    auto const left = rest_.size();
    if (left >= 8 && detail::value_at<std::uint64_t>(rest_.data()) <= left - 8) {
      rest_ = rest_.subspan(8 + detail::string_at(rest_).size());
      return;
    }
    auto const where = what + ", string " + std::to_string(i);
    (void)take(take_number<std::uint64_t>(where), where);
  }

  std::filesystem::path path_;
  std::span<std::byte const> rest_;
};

}  // namespace tessera::detail
