// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/core/contract.hpp>
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/elementwise.hpp>

#include <array>

namespace tessera {

/// The mean of the samples of each lane that count, added in their order: given<tag::lengths> says
/// how many. Zeros of a lane that has none.
///
/// Shapes  x (time, lanes..., F), lengths (lanes...), whole numbers of any type -> y (lanes..., F)
/// Cost    one addition a number of x
/// Errors  without lengths: tests/fail/mean_over_length_no_lengths.cpp; lengths of another shape do
///         not compile, and those that are no whole number of samples break the contract
/// Source  the mean pooling of sentence-transformers; reference values: tests/reference/bert.py
struct mean_over_length : without_parameters {
  using needs = type_list<tag::lengths>;
  template <class S> using lanes_of = without_last<without_first<S>>;
  /// A length for each lane, of its own last axis: what broadcasts over its numbers.
  template <class S>
  using column_of = with_axis<lanes_of<S>, lanes_of<S>::rank, static_cast<extent>(1)>;
  template <class X> struct kept {
    reshaped<X, column_of<shape_of<X>>> lengths;
  };
  static constexpr auto about = facts{.adds_dx = true, .kept = true};
  template <class S> using expected_shape = with_rank_at_least<S, 2>;
  template <class S> using output_shape = without_first<S>;
  template <class S> [[nodiscard]] static constexpr auto output_extents(actual_extents<S> actual) {
    auto const extents = actual.full();
    auto result = std::array<std::size_t, S::rank - 1>{};
    for (auto i = std::size_t{0}; i + 1 < S::rank; ++i) result[i] = extents[i + 1];
    return actual_extents<output_shape<S>>::from(result);
  }
  template <class X, class Call> [[nodiscard]] static constexpr auto find() {
    using wanted = lanes_of<shape_of<X>>;
    using got = shape_of<given_type<Call, tag::lengths>>;
    if constexpr (not std::same_as<wanted, got>)
      return same_shape<mean_over_length, wanted, got>();
    else
      return detail::find_breach<mean_over_length, X, Call>();
  }

  static constexpr void forward(auto const&, auto x, auto y, auto m) {
    using T = scalar_of<decltype(y)>;
    auto const times = x.template extent_of<0>();
    read_lengths(x, m);
    auto const n = column(x, m);
    assign(y, T{0});
    for (auto t = std::size_t{0}; t < times; ++t)
      assign(y, y + where(n > static_cast<T>(t), x[t], T{0}));
    assign(y, y / max(n, T{1}));
  }
  static constexpr void backward(auto const&, auto x, auto, auto dy, auto dx, auto&, auto m) {
    using T = scalar_of<decltype(dy)>;
    if (not dx.has_memory()) return;
    auto const n = column(x, m);
    for (auto t = std::size_t{0}; t < x.template extent_of<0>(); ++t) {
      auto const part = dx.view[t];
      auto const slope = where(n > static_cast<T>(t), dy / max(n, T{1}), T{0});
      if constexpr (dx.adds)
        assign(part, part + slope);
      else
        assign(part, slope);
    }
  }

 private:
  [[nodiscard]] static constexpr auto column(auto x, auto const& m) {
    using X = decltype(x);
    using S = column_of<shape_of<X>>;
    return view<scalar_of<decltype(m.kept.lengths)>, S, backend_of<X>>{
        m.kept.lengths.data(), output_extents(x.actual).template as<S>()};
  }
  static constexpr void read_lengths(auto x, auto const& m) {
    using T = scalar_of<decltype(m.kept.lengths)>;
    auto const n = m.template value<tag::lengths>();
    using N = decltype(n);
    auto const times = static_cast<double>(x.template extent_of<0>());
    require(n.size() == column(x, m).size(), "mean_over_length: each lane of x has a length");
    if constexpr (not on_device<backend_of<N>>)
      for (auto const length : n) {
        auto const v = static_cast<double>(length);
        require(v >= 0 && v <= times && v == static_cast<double>(static_cast<std::size_t>(v)),
                "mean_over_length: a length is no whole number of samples");
      }
    auto const to = view<T, shape_of<N>, backend_of<N>>{m.kept.lengths.data(), n.actual};
    if constexpr (std::same_as<std::remove_const_t<scalar_of<N>>, T>)
      assign(to, n);
    else
      assign(to, cast<T>(n));
  }
};

}  // namespace tessera
