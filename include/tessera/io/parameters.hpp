// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/mapped_file.hpp>
#include <tessera/io/number_text.hpp>
#include <tessera/io/safetensors.hpp>
#include <tessera/tensor/packed.hpp>

#include <cmath>
#include <ranges>

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

/// Parameters and statistics by their names, as a file has them: no name is in both.
template <class P, class S> struct learned {
  P& parameters;
  S& statistics;
  template <class F, class... Both> static constexpr void visit(F const& f, Both&... both) {
    f(path_name{}, both.parameters...);
    if constexpr (not std::is_empty_v<S>) f(path_name{}, both.statistics...);
  }
};
/// What stands behind the parameters is no prefix and no metadata.
template <class S>
concept statistics_struct = not std::convertible_to<S const&, std::string> &&
                            not std::convertible_to<S const&, std::map<std::string, std::string>>;

/// Weights that are no tensor: tensor/packed.hpp.
template <class W>
concept stored_as_weights = requires(W const& w) { w.numbers(); };
/// Weights that a file holds in memory of its own.
template <class W>
concept seen_in_file = stored_as_weights<W> && requires(W const& w) { w.has_memory(); };

/// What a file has of weights that are stored like this: numbers, of which eight pairs are 16.
template <class Stored> struct number_in_safetensors {
  static_assert(not is_block<Stored> || is_pairs<Stored>,
                "a safetensors file has no numbers in blocks of 32: a GGUF file has");
  using type = std::conditional_t<is_pairs<Stored>, bf16, Stored>;
};

[[noreturn]] inline void wrong_dtype(std::string const& key, dtype want, dtype got,
                                     std::string const& more = "") {
  throw safetensors_error('"' + key + "\": expected dtype " + std::string{name_of(want)} +
                          ", got " + std::string{name_of(got)} + more);
}
[[nodiscard]] inline auto entry_of(safetensors const& file, std::string const& key)
    -> tensor_entry const& {
  if (not file.contains(key)) throw safetensors_error("has no tensor \"" + key + "\"");
  return file[key];
}
/// Where the scales of numbers in 8 bits are, as of compressed-tensors: one for each output.
[[nodiscard]] inline auto scale_key(std::string const& key) -> std::string {
  return key + "_scale";
}
[[nodiscard]] inline auto whole_path(path_name const& path) -> std::string {
  if (path.is_cut())
    throw safetensors_error("expected paths of parameters of less than 128 letters, got \"" +
                            std::string{path.c_str()} + '"');
  return path.c_str();
}
template <class T>
void check_finite(tensor_entry const& entry, std::string const& key, std::size_t count,
                  char const* what) {
  auto numbers = std::vector<T>(count);
  read_numbers(entry, numbers.data(), count);
  for (auto const value : numbers)
    if (not std::isfinite(value)) throw safetensors_error('"' + key + "\": has a " + what);
}
/// From where on a number is infinite as an H: what is nearest to it is beyond the largest one.
template <class H>
inline constexpr double first_infinite = std::same_as<H, f16>     ? 65520.0
                                         : std::same_as<H, bf16>  ? 0x1.FFp127
                                         : std::same_as<H, float> ? 0x1.FFFFFFp127
                                                                  : INFINITY;
/// The type of a parameter's numbers here, where it is a floating-point type.
template <class W> struct held_number {
  using type = scalar_of<W>;
};
template <stored_as_weights W>
  requires is_storage_scalar<stored_of<W>>
struct held_number<W> {
  using type = stored_of<W>;
};
template <stored_as_weights W>
  requires is_pairs<stored_of<W>>
struct held_number<W> {
  using type = bf16;
};
/// No number of the file is infinite here that is not so there.
template <class Held, class From>
void check_range(tensor_entry const& entry, std::string const& key) {
  if constexpr (first_infinite<From> > first_infinite<Held>) {
    constexpr auto size = sizeof(From);
    for (auto i = std::size_t{0}; i < entry.bytes.size() / size; ++i) {
      auto number = 0.0;
      convert_numbers<From>(entry.bytes.subspan(i * size, size), &number, 1);
      if (std::isfinite(number) && std::abs(number) >= first_infinite<Held>)
        throw safetensors_error('"' + key + "\": has the number " + number_text(number, 9) +
                                ", which is beyond what " + std::string{name_of(dtype_of<Held>())} +
                                " holds");
    }
  }
}
template <class Held> void check_range(tensor_entry const& entry, std::string const& key) {
  if (entry.type == dtype::f64) check_range<Held, double>(entry, key);
  if (entry.type == dtype::f32) check_range<Held, float>(entry, key);
  if (entry.type == dtype::bf16) check_range<Held, bf16>(entry, key);
}
template <class W> void check_blocks(tensor_entry const& entry, std::string const& key) {
  using Stored = stored_of<W>;
  auto numbers = std::vector<scalar_of<W>>(W::out * W::in);
  read_numbers(entry, numbers.data(), numbers.size());
  auto block = block_format_of<Stored>{};
  try {
    for (auto k = std::size_t{0}; k < numbers.size(); k += numbers_of_stored<Stored>)
      encode([&](std::size_t i) { return numbers[k + i]; }, block);
  } catch (std::invalid_argument const& e) {
    throw safetensors_error('"' + key + "\": " + e.what());
  }
}
template <class W> void check_scales(safetensors const& file, std::string const& key) {
  using T = scalar_of<W>;
  auto const& entry = entry_of(file, key);
  auto const out = std::uint64_t{W::out};
  if (entry.shape != std::vector{out} && entry.shape != std::vector{out, std::uint64_t{1}})
    throw safetensors_error('"' + key + "\": expected shape " + to_string(std::vector{out}) +
                            ", got " + to_string(entry.shape));
  if (not converts_to<T>(entry)) wrong_dtype(key, dtype_of<T>(), entry.type);
  check_finite<T>(entry, key, W::out, "scale that is not finite");
}
template <class W>
void check_tensor(safetensors const& file, std::string const& key, std::set<std::string>& known) {
  auto const& entry = entry_of(file, key);
  auto const want = file_shape<shape_of<W>>();
  if (not known.insert(key).second)
    throw safetensors_error('"' + key + "\": is the name of two parameters of the model");
  if (entry.shape != want)
    throw safetensors_error(
        '"' + key + "\": expected shape " + to_string(want) + ", got " + to_string(entry.shape) +
        (std::ranges::equal(entry.shape, want | std::views::reverse) ? ", which is transposed"
                                                                     : ""));
  constexpr auto in_8_bits = stored_as_weights<W> && is_scaled<stored_of<W>>;
  if constexpr (in_8_bits) {
    if (entry.type == dtype::i8) {
      check_scales<W>(file, scale_key(key));
      known.insert(scale_key(key));
      return;
    }
  }
  if (not converts_to<scalar_of<W>>(entry)) wrong_dtype(key, dtype_of<scalar_of<W>>(), entry.type);
  if constexpr (std::floating_point<scalar_of<W>>)
    check_range<typename held_number<W>::type>(entry, key);
  if constexpr (in_8_bits)
    check_finite<scalar_of<W>>(entry, key, W::out * W::in,
                               "number that is not finite, which 8 bits do not hold");
  if constexpr (stored_as_weights<W>)
    if constexpr (is_block<stored_of<W>> && not is_pairs<stored_of<W>>) check_blocks<W>(entry, key);
}

/// One parameter out of a file that was checked; `memory` holds the largest of those weights.
template <class W>
void read_tensor(safetensors const& file, std::string const& key, W& w,
                 std::vector<std::byte>& memory) {
  auto const& entry = file[key];
  if constexpr (stored_as_weights<W>) {
    using T = scalar_of<W>;
    auto* const numbers = reinterpret_cast<T*>(memory.data());
    if constexpr (is_scaled<stored_of<W>>) {
      if (entry.type == dtype::i8) {
        read_numbers(file[scale_key(key)], numbers, W::out);
        w.pack(weight_matrix<T, std::int8_t>{
            reinterpret_cast<std::int8_t const*>(entry.bytes.data()), W::in, 1, {numbers, 1, 0}});
        return;
      }
    }
    read_numbers(entry, numbers, W::out * W::in);
    w.pack(weight_matrix<T>{numbers, W::in, 1});
  } else {
    read_numbers(entry, w.data(), w.size());
  }
}
/// The stored numbers of weights, by rows.
template <class W> [[nodiscard]] auto rows_of_weights(W const& w) -> std::vector<std::byte> {
  using Number = typename number_in_safetensors<stored_of<W>>::type;
  auto const from = w.numbers();
  auto result = std::vector<std::byte>(W::out * W::in * sizeof(Number));
  auto* to = result.data();
  for (auto o = std::size_t{0}; o < W::out; ++o)
    for (auto k = std::size_t{0}; k < W::in; ++k, to += sizeof(Number)) {
      auto const number = [&] {
        if constexpr (is_pairs<stored_of<W>>)
          return bf16(from.at(o, k));  // a bf16 that was widened
        else if constexpr (requires { from.row; })
          return from.data[o * from.row + k * from.column];
        else
          return from.at(o, k);
      }();
      std::memcpy(to, &number, sizeof(Number));
    }
  return result;
}
/// Memory for the largest of the weights that are read by a way round.
template <class P> [[nodiscard]] auto memory_for_weights(P const& p) -> std::vector<std::byte> {
  auto largest = std::size_t{0};
  for_each_parameter(
      [&](auto const&, auto const& w) {
        using W = std::remove_cvref_t<decltype(w)>;
        if constexpr (stored_as_weights<W>)
          largest = std::max(largest, shape_of<W>::capacity * sizeof(scalar_of<W>));
      },
      p);
  return std::vector<std::byte>(largest);
}

}  // namespace detail

/// Every parameter of `p` must be in `file` as `prefix` + its path, with its shape and a dtype that
/// converts, and with `alone` no other tensor may begin with `prefix`. Weights in 8 bits may be I8,
/// beside a tensor of the name with "_scale" behind it: a number for each output.
///
/// Errors  safetensors_error, which names the tensor, both shapes and dtypes, or the number that is
///         beyond those of the parameters' type; and for a path of more than 128 letters
template <class P>
void check_parameters(safetensors const& file, P const& p, std::string const& prefix = "",
                      bool alone = true) {
  auto known = std::set<std::string>{};
  for_each_parameter(
      [&](auto const& path, auto const& w) {
        detail::check_tensor<std::remove_cvref_t<decltype(w)>>(
            file, prefix + detail::whole_path(path), known);
      },
      p);
  for (auto const& [key, entry] : file.tensors())
    if (alone && key.starts_with(prefix) && not known.contains(key))
      throw safetensors_error("has a tensor \"" + key + "\", which the model has not");
}

/// Parameters out of a file: all of them, or none where one does not fit. Floating-point numbers of
/// another type are converted, and counts that files hold as whole numbers; weights go into the
/// form that their storage has.
///
/// Errors  safetensors_error, see check_parameters
template <class P>
void load_parameters(safetensors const& file, P& p, std::string const& prefix = "",
                     bool alone = true) {
  check_parameters(file, p, prefix, alone);
  auto memory = detail::memory_for_weights(p);
  for_each_parameter([&](auto const& path,
                         auto& w) { detail::read_tensor(file, prefix + path.c_str(), w, memory); },
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

/// Parameters and statistics, as torch's state_dict has both: all of them or none.
template <class P, detail::statistics_struct S>
void load_parameters(safetensors const& file, P& p, S& statistics, std::string const& prefix = "",
                     bool alone = true) {
  auto both = detail::learned<P, S>{p, statistics};
  load_parameters(file, both, prefix, alone);
}
template <class P, detail::statistics_struct S>
void load_parameters(std::filesystem::path const& path, P& p, S& statistics,
                     std::string const& prefix = "") {
  auto both = detail::learned<P, S>{p, statistics};
  load_parameters(path, both, prefix);
}

namespace detail {

/// Numbers of a mapped file as they stand.
template <class T>
[[nodiscard]] auto numbers_at(safetensors const& content, std::string const& key) -> T const* {
  auto const& entry = content[key];
  constexpr auto type = dtype_of<typename number_in_safetensors<T>::type>();
  if (entry.type != type) wrong_dtype(key, type, entry.type, "; what is mapped is not converted");
  if (reinterpret_cast<std::uintptr_t>(entry.bytes.data()) % alignof(T) != 0)
    throw safetensors_error('"' + key + "\": is not aligned in the file");
  return reinterpret_cast<T const*>(entry.bytes.data());
}
/// One parameter that sees the file, or a copy where it owns its numbers; `set` or only looked at.
template <class W>
void map_tensor(safetensors const& content, std::string const& key, W& w, bool set) {
  if constexpr (seen_in_file<W>) {
    auto const mapped = [&] {
      auto result = W{};
      result.values = numbers_at<typename W::stored_type>(content, key);
      if constexpr (is_scaled<typename W::stored_type>)
        result.scale = numbers_at<scalar_of<W>>(content, scale_key(key));
      return result;
    }();
    if (set) w = mapped;
  } else if constexpr (owning<W>) {
    if (set) read_numbers(content[key], w.data(), w.size());
  } else {
    static_assert(std::is_const_v<typename W::scalar_type>,
                  "map_parameters: parameters are mapped<T>, or views of constants");
    auto const* const at = numbers_at<scalar_of<W>>(content, key);
    if (set) w = W{at};
  }
}

}  // namespace detail

/// Parameters that see a mapped file: mapped<T, Stored>, whose matrices stand in the file and whose
/// other tensors are copied, or viewed<T const>, all of which stand there. All of them, or none
/// where one does not fit. What stands in the file is not converted; the file must live as long as
/// the parameters are used.
///
/// Errors  safetensors_error, see check_parameters; also for another dtype than the storage's, and
///         for numbers at an address where their type may not stand: load_parameters takes both
template <class P>
void map_parameters(mapped_file const& file, P& p, std::string const& prefix = "",
                    bool alone = true) {
  try {
    auto const content = safetensors::look(file.bytes());
    check_parameters(content, p, prefix, alone);
    for (auto const set : {false, true})
      for_each_parameter(
          [&](auto const& path, auto& w) {
            detail::map_tensor(content, prefix + path.c_str(), w, set);
          },
          p);
  } catch (safetensors_error const& e) {
    throw safetensors_error(file.path().string() + ": " + e.what());
  }
}

/// The same of a model with statistics, which are copied.
template <class P, detail::statistics_struct S>
void map_parameters(mapped_file const& file, P& p, S& statistics, std::string const& prefix = "",
                    bool alone = true) {
  auto both = detail::learned<P, S>{p, statistics};
  map_parameters(file, both, prefix, alone);
}
template <class P>
void map_parameters(mapped_file const&&, P&, std::string const& = "", bool = true) = delete;
template <class P, detail::statistics_struct S>
void map_parameters(mapped_file const&&, P&, S&, std::string const& = "", bool = true) = delete;

/// Adds every parameter as `prefix` + its path, weights by rows and as they are stored: those in 8
/// bits with their scales. `p` must live until the file is written.
template <class P>
void add_parameters(safetensors_writer& writer, P const& p, std::string const& prefix = "") {
  for_each_parameter(
      [&](auto const& path, auto const& w) {
        using W = std::remove_cvref_t<decltype(w)>;
        auto const key = prefix + detail::whole_path(path);
        auto const type = dtype_of<typename detail::number_in_safetensors<stored_of<W>>::type>();
        if constexpr (detail::stored_as_weights<W>) {
          writer.add_kept(key, type, file_shape<shape_of<W>>(), detail::rows_of_weights(w));
          if constexpr (is_scaled<stored_of<W>>)
            writer.add(detail::scale_key(key), dtype_of<scalar_of<W>>(), {W::out, 1},
                       std::as_bytes(std::span{w.numbers().scales.first, W::out}));
        } else {
          writer.add(key, type, file_shape<shape_of<W>>(),
                     std::as_bytes(std::span{w.data(), w.size()}));
        }
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
template <class P, detail::statistics_struct S>
void save_parameters(std::filesystem::path const& path, P const& p, S const& statistics,
                     std::map<std::string, std::string> const& metadata = {}) {
  save_parameters(path, detail::learned<P const, S const>{p, statistics}, metadata);
}

}  // namespace tessera
