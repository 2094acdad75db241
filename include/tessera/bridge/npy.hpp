// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/bridge/xtensor.hpp>
#include <tessera/core/file.hpp>

#include <xtensor/xarray.hpp>
#include <xtensor/xnpy.hpp>

#include <sstream>

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

/// Reads a .npy file of numbers of type T.
///
/// Errors  file_error for a file that cannot be read, that is no .npy file, or that holds another
///         type
template <class T> [[nodiscard]] auto load_npy(std::filesystem::path const& path) -> xt::xarray<T> {
  auto const bytes = read_file(path);
  auto stream =
      std::istringstream{std::string{reinterpret_cast<char const*>(bytes.data()), bytes.size()}};
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
