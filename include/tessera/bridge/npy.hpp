// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/bridge/xtensor.hpp>
#include <tessera/io/file.hpp>

#include <xtensor/xarray.hpp>
#include <xtensor/xnpy.hpp>

#include <sstream>
#include <string_view>

/// NumPy's .npy files, in and out.
namespace tessera {

/// Writes an array as a .npy file, all or nothing.
///
/// Errors  file_error
template <class E>
void save_npy(std::filesystem::path const& path, xt::xexpression<E> const& array) {
  write_file(path, xt::dump_npy(array));
}
template <contiguous X> void save_npy(std::filesystem::path const& path, X const& x) {
  save_npy(path, as_xtensor(x));
}

namespace detail {

/// What xtensor's reader takes for granted: the magic, a version, and a header that is a dictionary
/// on a line and within the file.
[[nodiscard]] inline auto npy_has_header(std::string_view file) -> bool {
  if (not file.starts_with("\x93NUMPY") || file.size() < 10) return false;
  auto const bytes = file[6] == 1 ? std::size_t{2} : std::size_t{4};
  if (file.size() < 8 + bytes) return false;
  auto length = std::size_t{0};
  for (auto i = bytes; i-- > 0;) length = length << 8U | static_cast<unsigned char>(file[8 + i]);
  if (length > file.size() - 8 - bytes) return false;
  auto const header = file.substr(8 + bytes, length);
  return header.starts_with('{') && header.ends_with('\n') &&
         header.find('}') != std::string_view::npos;
}

}  // namespace detail

/// Reads a .npy file of numbers of type T.
///
/// Errors  file_error for a file that cannot be read, that is no .npy file, or that holds another
///         type
template <class T> [[nodiscard]] auto load_npy(std::filesystem::path const& path) -> xt::xarray<T> {
  auto const bytes = read_file(path);
  auto text = std::string{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  if (not detail::npy_has_header(text)) throw file_error(path, "is no .npy file: it has no header");
  auto stream = std::istringstream{std::move(text)};
  try {
    auto result = xt::load_npy<T>(stream);
    if (stream.fail()) throw std::runtime_error("the file ends before its array");
    return result;
  } catch (std::exception const& e) {
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
