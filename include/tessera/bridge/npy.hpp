// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/bridge/xtensor.hpp>
#include <tessera/io/file.hpp>

#include <xtensor/xarray.hpp>

#include <array>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>

/// NumPy's .npy files, in and out.
namespace tessera {

namespace detail {

/// What a .npy file says of its array.
struct npy_header {
  std::string type;
  bool by_columns = false;
  std::vector<std::size_t> shape;
};

/// Reads the dictionary of a .npy file: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}.
///
/// Errors  std::invalid_argument for any other text
class npy_dictionary {
 public:
  explicit npy_dictionary(std::string_view text) : rest_(text) {}

  [[nodiscard]] auto read() -> npy_header {
    auto result = npy_header{};
    auto seen = std::array{false, false, false};
    expect('{');
    while (not takes('}')) {
      auto const key = quoted();
      auto const which = key == "descr" ? 0U : key == "fortran_order" ? 1U : 2U;
      if ((which == 2 && key != "shape") || std::exchange(seen[which], true))
        fail("has the key '" + key + "' too much");
      expect(':');
      if (which == 0) result.type = quoted();
      if (which == 1) result.by_columns = truth();
      if (which == 2) result.shape = extents();
      if (not takes(',') && (skip(), not rest_.starts_with('}'))) fail("lacks a comma");
    }
    if (not(seen[0] && seen[1] && seen[2])) fail("lacks descr, fortran_order or shape");
    if (skip(), not rest_.empty()) fail("goes on after its dictionary");
    return result;
  }

 private:
  [[noreturn]] static void fail(std::string const& what) {
    throw std::invalid_argument("the header " + what);
  }
  void skip() {
    while (not rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  auto takes(std::string_view word) -> bool {
    skip();
    if (not rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  auto takes(char letter) -> bool { return takes(std::string_view{&letter, 1}); }
  void expect(char letter) {
    if (not takes(letter)) fail(std::string{"lacks '"} + letter + '\'');
  }
  auto quoted() -> std::string {
    skip();
    auto const quote = rest_.empty() ? '\0' : rest_[0];
    auto const end = rest_.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos)
      fail("has no name in quotes where one belongs");
    auto const word = std::string{rest_.substr(1, end - 1)};
    rest_.remove_prefix(end + 1);
    return word;
  }
  auto truth() -> bool {
    if (takes("True")) return true;
    if (not takes("False")) fail("has a fortran_order that is neither True nor False");
    return false;
  }
  auto extents() -> std::vector<std::size_t> {
    auto result = std::vector<std::size_t>{};
    expect('(');
    while (not takes(')')) {
      skip();
      auto length = std::size_t{0};
      auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
      if (error != std::errc{}) fail("has a shape of something else than whole numbers");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      result.push_back(length);
      if (not takes(',') && (skip(), not rest_.starts_with(')') || result.size() == 1))
        fail("has a shape without its commas");
    }
    return result;
  }

  std::string_view rest_;
};

/// "<f4": what NumPy calls a type in files.
template <class T> [[nodiscard]] auto npy_type() -> std::string {
  static_assert(std::is_arithmetic_v<T>, "npy: numbers and bool");
  auto const kind = std::is_same_v<T, bool>       ? 'b'
                    : std::is_floating_point_v<T> ? 'f'
                    : std::is_signed_v<T>         ? 'i'
                                                  : 'u';
  return std::string{sizeof(T) == 1 ? '|' : '<'} + kind + std::to_string(sizeof(T));
}
/// The header of an array by rows, format 1.0, padded to 64 bytes. In every locale the same.
[[nodiscard]] inline auto npy_header_text(std::string const& type, auto const& shape)
    -> std::string {
  auto extents = std::string{};
  for (auto const length : shape) extents += std::to_string(length) + ", ";
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  if (shape.size() == 1) extents.pop_back();
  auto text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + extents + "), }";
  constexpr auto lead = std::size_t{10};
  text.append(63 - (lead + text.size()) % 64, ' ').append(1, '\n');
  auto const low = static_cast<char>(text.size() & 0xFFU);
  auto const high = static_cast<char>(text.size() >> 8U);
  return std::string{"\x93NUMPY\x01\x00", 8} + low + high + text;
}
/// The header of a .npy file, which is left at its first number.
[[nodiscard]] inline auto read_npy_header(input_file& file) -> npy_header {
  auto const bytes_of = [&](std::uint64_t n) {
    auto bytes = file.read(n);
    if (bytes.size() < n) throw std::invalid_argument("it has no header");
    return std::string{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  };
  auto const lead = bytes_of(8);
  if (not lead.starts_with("\x93NUMPY") || lead[6] < 1 || lead[6] > 3 || lead[7] != 0)
    throw std::invalid_argument("it has no header");
  auto const digits = bytes_of(lead[6] == 1 ? 2 : 4);
  auto length = std::uint64_t{0};
  for (auto i = digits.size(); i-- > 0;)
    length = length << 8U | static_cast<unsigned char>(digits[i]);
  constexpr auto longest = std::uint64_t{1} << 20U;
  if (length > longest) throw std::invalid_argument("its header is longer than a megabyte");
  return npy_dictionary(bytes_of(length)).read();
}

}  // namespace detail

/// Writes an array of numbers or bool as a .npy file, all or nothing.
///
/// Errors  file_error
template <class E>
void save_npy(std::filesystem::path const& path, xt::xexpression<E> const& array) {
  using T = typename E::value_type;
  auto const values = xt::xarray<T, xt::layout_type::row_major>(array);
  auto text = detail::npy_header_text(detail::npy_type<T>(), values.shape());
  auto const bytes = std::as_bytes(std::span{values.data(), values.size()});
  text.append(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  write_file(path, text);
}
template <contiguous X> void save_npy(std::filesystem::path const& path, X const& x) {
  save_npy(path, as_xtensor(x));
}

/// Reads a .npy file of numbers of type T, by rows or by columns.
///
/// Errors  file_error for a file that cannot be read, that is no .npy file, that holds another
///         type, or more or less than its shape says
/// Source  NEP 1, versions 1.0 to 3.0
template <class T> [[nodiscard]] auto load_npy(std::filesystem::path const& path) -> xt::xarray<T> {
  auto file = detail::input_file(path);
  try {
    auto const header = detail::read_npy_header(file);
    if (header.type != detail::npy_type<T>())
      throw std::invalid_argument("expected numbers of type " + detail::npy_type<T>() + ", got " +
                                  header.type.substr(0, 20));
    auto bytes = std::uint64_t{sizeof(T)};
    for (auto const length : header.shape)
      if (__builtin_mul_overflow(bytes, length, &bytes))
        throw std::invalid_argument("no file has room for the shape " +
                                    detail::shape_text(header.shape));
    auto const data = file.read(std::min(bytes, file.size()));
    if (data.size() < bytes) throw std::invalid_argument("the file ends before its array");
    if (not file.read(1).empty()) throw std::invalid_argument("bytes follow its array");
    if constexpr (std::is_same_v<T, bool>)
      for (auto const byte : data)
        if (byte > std::byte{1}) throw std::invalid_argument("a bool is neither 0 nor 1");
    auto const as_stored = [&](auto result) {
      if (not data.empty()) std::memcpy(result.data(), data.data(), data.size());
      return result;
    };
    if (header.by_columns)
      return xt::xarray<T>(as_stored(xt::xarray<T, xt::layout_type::column_major>(header.shape)));
    return as_stored(xt::xarray<T>(header.shape));
  } catch (std::invalid_argument const& e) {
    throw file_error(path, std::string{"is no .npy file of the expected type: "} + e.what());
  }
}
/// Reads a .npy file into a tensor or view.
///
/// Errors  file_error, and shape_error for another shape; nothing is written then
template <contiguous X> void load_npy(std::filesystem::path const& path, X&& to) {
  auto const array = load_npy<scalar_of<std::remove_cvref_t<X>>>(path);
  try {
    assign(to, array);
  } catch (shape_error const& e) {
    throw shape_error(path.string() + ": " + e.what());
  }
}

}  // namespace tessera
