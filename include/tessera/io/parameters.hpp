// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/mapped_file.hpp>
#include <tessera/io/safetensors.hpp>
#include <tessera/tensor/parameters.hpp>

#include <memory>

/// Parameters in and out of safetensors files, or seen in them, by the names that PyTorch gives
/// them.
namespace tessera {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

/// The extents of a shape as files hold them.
template <class S> [[nodiscard]] auto file_shape() -> std::vector<std::uint64_t> {
  auto result = std::vector<std::uint64_t>{};
  for (auto axis = std::size_t{0}; axis < S::rank; ++axis)
    result.push_back(bound_of(S::extents[axis]));
  return result;
}

namespace detail {

/// Numbers of type From of a file, which may stand at any address, into `to`.
template <class From, class T>
void convert_numbers(std::span<std::byte const> bytes, T* to, std::size_t n) {
  for (auto i = std::size_t{0}; i < n; ++i) {
    auto value = From{};
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    if constexpr (std::floating_point<From>)
      to[i] = static_cast<T>(value);
    else
      to[i] = static_cast<T>(static_cast<float>(value));  // f16 and bf16 know no other way
  }
}
/// A single whole number is a count, as torch's num_batches_tracked.
template <class T> [[nodiscard]] auto converts_to(tensor_entry const& entry) -> bool {
  auto const from = entry.type;
  if constexpr (std::floating_point<T>)
    return from == dtype::f32 || from == dtype::f64 || from == dtype::f16 || from == dtype::bf16 ||
           (from == dtype::i64 && entry.shape.empty());
  else
    return from == dtype_of<T>();
}
template <class T> void read_numbers(tensor_entry const& entry, T* to, std::size_t n) {
  if (entry.type == dtype_of<T>()) {
    if (n > 0) std::memcpy(to, entry.bytes.data(), n * sizeof(T));
    return;
  }
  if constexpr (std::floating_point<T>) {
    if (entry.type == dtype::f32) convert_numbers<float>(entry.bytes, to, n);
    if (entry.type == dtype::f64) convert_numbers<double>(entry.bytes, to, n);
    if (entry.type == dtype::f16) convert_numbers<f16>(entry.bytes, to, n);
    if (entry.type == dtype::bf16) convert_numbers<bf16>(entry.bytes, to, n);
    if (entry.type == dtype::i64) convert_numbers<std::int64_t>(entry.bytes, to, n);
  }
}

}  // namespace detail

/// Every parameter of `p` must be in `file` as `prefix` + its path, with its shape and a dtype that
/// converts, and with `alone` no other tensor may begin with `prefix`.
///
/// Errors  safetensors_error, which names the tensor, both shapes and dtypes
template <class P>
void check_parameters(safetensors const& file, P const& p, std::string const& prefix = "",
                      bool alone = true) {
  auto known = std::set<std::string>{};
  for_each_parameter(
      [&](path_name const& path, auto const& w) {
        using W = std::remove_cvref_t<decltype(w)>;
        auto const key = prefix + path.c_str();
        known.insert(key);
        if (not file.contains(key)) throw safetensors_error("has no tensor \"" + key + "\"");
        auto const& entry = file[key];
        auto const want = file_shape<shape_of<W>>();
        if (entry.shape != want)
          throw safetensors_error('"' + key + "\": expected shape " + to_string(want) + ", got " +
                                  to_string(entry.shape));
        if (not detail::converts_to<scalar_of<W>>(entry))
          throw safetensors_error('"' + key + "\": expected dtype " +
                                  std::string{name_of(dtype_of<scalar_of<W>>())} + ", got " +
                                  std::string{name_of(entry.type)});
      },
      p);
  for (auto const& [key, entry] : file.tensors())
    if (alone && key.starts_with(prefix) && not known.contains(key))
      throw safetensors_error("has a tensor \"" + key + "\", which the model has not");
}

/// Parameters out of a file: all of them, or none where one does not fit. Floating-point numbers of
/// another type are converted, and counts that files hold as whole numbers.
///
/// Errors  safetensors_error, see check_parameters
template <class P>
void load_parameters(safetensors const& file, P& p, std::string const& prefix = "",
                     bool alone = true) {
  check_parameters(file, p, prefix, alone);
  for_each_parameter(
      [&](path_name const& path, auto& w) {
        detail::read_numbers(file[prefix + path.c_str()], w.data(), w.size());
      },
      p);
}
template <class P>
void load_parameters(std::filesystem::path const& path, P& p, std::string const& prefix = "") {
  auto const file = safetensors::read(path);
  try {
    load_parameters(file, p, prefix);
  } catch (safetensors_error const& e) {
    throw safetensors_error(path.string() + ": " + e.what());
  }
}

/// Parameters that are views (viewed<T const>) of a mapped file: all of them, or none where one
/// does not fit. Nothing is copied or converted; the file must live as long as the views are used.
///
/// Errors  safetensors_error, see check_parameters; also for another dtype than the model's, and
///         for numbers at an address where their type may not stand: load_parameters takes both
template <class P>
void map_parameters(mapped_file const& file, P& p, std::string const& prefix = "",
                    bool alone = true) {
  try {
    auto const content = safetensors::look(file.bytes());
    check_parameters(content, p, prefix, alone);
    for_each_parameter(
        [&](path_name const& path, auto& w) {
          using W = std::remove_cvref_t<decltype(w)>;
          using T = scalar_of<W>;
          static_assert(not owning<W> && std::is_const_v<typename W::scalar_type>,
                        "map_parameters: parameters are views of constants, viewed<T const>");
          auto const key = prefix + path.c_str();
          auto const& entry = content[key];
          if (entry.type != dtype_of<T>())
            throw safetensors_error(
                '"' + key + "\": expected dtype " + std::string{name_of(dtype_of<T>())} + ", got " +
                std::string{name_of(entry.type)} + "; what is mapped is not converted");
          if (reinterpret_cast<std::uintptr_t>(entry.bytes.data()) % alignof(T) != 0)
            throw safetensors_error('"' + key + "\": is not aligned in the file");
        },
        p);
    for_each_parameter(
        [&](path_name const& path, auto& w) {
          // A view is not assigned to: it would copy what it views.
          using W = std::remove_cvref_t<decltype(w)>;
          using T = scalar_of<W>;
          auto const* const at = content[prefix + path.c_str()].bytes.data();
          std::construct_at(&w, W{reinterpret_cast<T const*>(at)});
        },
        p);
  } catch (safetensors_error const& e) {
    throw safetensors_error(file.path().string() + ": " + e.what());
  }
}

template <class P>
void map_parameters(mapped_file const&&, P&, std::string const& = "", bool = true) = delete;

/// Adds every parameter as `prefix` + its path. `p` must live until the file is written.
template <class P>
void add_parameters(safetensors_writer& writer, P const& p, std::string const& prefix = "") {
  for_each_parameter(
      [&](path_name const& path, auto const& w) {
        using W = std::remove_cvref_t<decltype(w)>;
        writer.add(prefix + path.c_str(), dtype_of<scalar_of<W>>(), file_shape<shape_of<W>>(),
                   std::as_bytes(std::span{w.data(), w.size()}));
      },
      p);
}
/// Writes every parameter under its path, with texts that say more of the file.
template <class P>
void save_parameters(std::filesystem::path const& path, P const& p,
                     std::map<std::string, std::string> const& metadata = {}) {
  auto writer = safetensors_writer{};
  writer.set_metadata("format", "pt");
  for (auto const& [key, text] : metadata) writer.set_metadata(key, text);
  add_parameters(writer, p);
  writer.write(path);
}

}  // namespace tessera
