// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/nothing.hpp>
#include <tessera/tensor/tensor.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

/// What a source fills: memory for one chunk of a batch.
namespace tessera {

/// Memory for at most an X, and the extents that are in use.
template <class X> struct filled {
  using S = shape_of<X>;

  X memory;
  [[no_unique_address]] actual_extents<S> actual;

  /// Takes these extents, and returns the view that is to be written.
  ///
  /// Errors  std::invalid_argument, by the name `what`, for another number of axes, a fixed extent
  ///         that is another, a bounded one that is too small
  auto resize(std::span<std::size_t const> extents, char const* what) -> view_of<X> {
    if (extents.size() != S::rank)
      refuse(what, "has " + std::to_string(extents.size()) + " axes", std::to_string(S::rank));
    auto full = std::array<std::size_t, S::rank>{};
    for (auto a = std::size_t{0}; a < S::rank; ++a) {
      auto const most = bound_of(S::extents[a]);
      auto const bounded = is_bounded(S::extents[a]);
      full[a] = extents[a];
      if (bounded ? full[a] > most : full[a] != most)
        refuse(what, "has " + std::to_string(full[a]) + " at axis " + std::to_string(a),
               (bounded ? "at most " : "") + std::to_string(most));
    }
    actual = actual_extents<S>::from(full);
    return {memory.data(), actual};
  }
  [[nodiscard]] auto read() const -> const_view_of<X> { return {memory.data(), actual}; }

 private:
  [[noreturn]] static void refuse(std::string const& what, std::string const& has,
                                  std::string const& expected) {
    throw std::invalid_argument("batches: " + what + " " + has + ", the model is compiled for " +
                                expected);
  }
};

namespace detail {

/// Whether a T, a type of whole numbers, holds the value.
template <std::integral T, class From> [[nodiscard]] constexpr auto holds(From value) -> bool {
  if constexpr (std::integral<From>) {
    auto const number = static_cast<T>(value);
    return static_cast<From>(number) == value && (number < T{}) == (value < From{});
  } else {
    // Outside of these limits the conversion is not defined.
    auto const end = static_cast<From>(std::numeric_limits<T>::max() / 2 + 1) * 2;
    auto const least = std::is_signed_v<T> ? -end : From{};
    return value >= least && value < end && static_cast<From>(static_cast<T>(value)) == value;
  }
}
template <class T>
[[noreturn]] void refuse_number(auto value, std::string const& what, std::string const& place) {
  auto letters = std::array<char, 64>{};
  auto* const end = std::to_chars(letters.data(), letters.data() + letters.size(), +value).ptr;
  constexpr auto bits = std::numeric_limits<T>::digits + (std::is_signed_v<T> ? 1 : 0);
  throw std::invalid_argument("batches: " + what + " has " + std::string(letters.data(), end) +
                              " at " + place + ", the model is compiled for " +
                              (std::is_signed_v<T> ? "" : "unsigned ") + "integers of " +
                              std::to_string(bits) + " bits");
}
/// A number of a source as the slot's T; place() says where in `what` it is.
///
/// Errors  std::invalid_argument for one that a T of whole numbers does not hold
template <class T, class From>
[[nodiscard]] auto number_as(From value, char const* what, auto const& place) -> T {
  if constexpr (std::integral<T> && std::is_arithmetic_v<From>)
    if (not holds<T>(value)) refuse_number<T>(value, what, place());
  return static_cast<T>(value);
}

}  // namespace detail

/// One chunk of a batch: input, target, and what else the source lends a call.
template <class X, class Target, class Extra = nothing> struct slot {
  filled<X> x;
  filled<Target> target;
  [[no_unique_address]] Extra extra;
};

namespace detail {

template <class Source, class X> struct extra_in {
  using type = nothing;
};
template <class Source, class X>
  requires requires { typename Source::template extra<X>; }
struct extra_in<Source, X> {
  using type = typename Source::template extra<X>;
};

}  // namespace detail

/// What a source fills for a model with input X.
template <class Source, class X, class Target>
using slot_of = slot<X, Target, typename detail::extra_in<Source, X>::type>;

/// Some of the examples of a batch.
struct share_of_batch {
  std::size_t first = 0;
  std::size_t count = 0;
};
/// Chunk `chunk` of a batch that has `n` examples now and `most` in general: whole shares come
/// first, so that what a chunk holds does not depend on what the batch lacks.
[[nodiscard]] constexpr auto share_of(std::size_t n, std::size_t most, std::size_t chunk,
                                      std::size_t chunks) -> share_of_batch {
  auto const share = (most + chunks - 1) / chunks;
  auto const first = chunk * share < n ? chunk * share : n;
  return {first, n - first < share ? n - first : share};
}

}  // namespace tessera
