// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/batch_norm.hpp>

namespace tessera {

/// What torch.nn.BatchNorm leaves to choose; epsilon in units of 1e-12, momentum of 1e-6.
struct batch_norm_options {
  std::size_t lanes = 0;  ///< how many of the first axis share a mean; 0: all of a chunk
  std::uint64_t momentum_1e6 = 100'000;
  std::uint64_t epsilon_1e12 = 10'000'000;
  bool affine = true;
};

/// y = (x - mean) / sqrt(variance + epsilon) · weight + bias by feature: mean and variance are
/// those of the batch in a pass that learns, the running ones elsewhere.
///
/// Shapes      x (batch, ..., Features) -> the same; parameters: weight and bias (Features)
/// Statistics  running_mean and running_var (Features), num_batches_tracked (), started by
///             initialize(parameters, statistics, generator); a batch is taken up
///             once, at the update. With `lanes`, that divide those of a chunk, the bits do not
///             know how many chunks there are
/// Cost        three passes forward and two backward, in evaluation one and one; kept are two
///             numbers for each group and feature. An activation behind it in a `sequential` is
///             applied by the last pass, and its slope computed once, in the memory of dx: nothing
///             between the two is stored
/// Errors      another last extent, or lanes that `lanes` does not divide:
///             tests/fail/batch_norm_wrong_input.cpp
/// Source      torch.nn.BatchNorm1d and 2d, features last; a batch of one row has variance 0, where
///             torch throws; reference values: tests/reference/batch_norm.py
template <std::size_t Features, batch_norm_options Options = batch_norm_options{}>
struct batch_norm {
  static_assert(Options.momentum_1e6 <= 1'000'000, "batch_norm: a momentum is at most 1");

  template <class Storage> struct parameters {
    [[no_unique_address]] tensor_if<Options.affine, Storage, shape<Features>, 0> weight;
    [[no_unique_address]] tensor_if<Options.affine, Storage, shape<Features>, 1> bias;
    TESSERA_PARAMETERS(weight, bias)
  };
  template <class Storage> struct statistics {
    tensor_in<Storage, shape<Features>> running_mean;
    tensor_in<Storage, shape<Features>> running_var;
    tensor_in<Storage, shape<>> num_batches_tracked;
    TESSERA_PARAMETERS(running_mean, running_var, num_batches_tracked)
  };
  template <class Storage> struct observed {
    tensor_in<Storage, shape<>> count;
    tensor_in<Storage, shape<Features>> mean;
    tensor_in<Storage, shape<Features>> squares;
  };
  template <class S>
  static constexpr auto lanes_of = Options.lanes == 0 ? first_of<S> : Options.lanes;
  template <class X, class Call>
  static constexpr auto groups =
      Call::learns ? (first_of<shape_of<X>> + lanes_of<shape_of<X>> - 1) / lanes_of<shape_of<X>>
                   : std::size_t{1};
  template <class X, class Call> struct kept {
    using numbers = reshaped<X, shape<static_cast<extent>(groups<X, Call>), Features>>;
    numbers mean;
    numbers scale;
  };
  template <class X> struct group_memory {
    static constexpr auto count = static_cast<extent>(groups<X, training_call>);
    reshaped<X, shape<count>> counts;
    reshaped<X, shape<count, Features>> means;
    reshaped<X, shape<count, Features>> squares;
  };
  template <class X, class Call> struct scratch {
    [[no_unique_address]] detail::member_if<Call::learns, group_memory<X>> groups;
  };
  template <class X, class Call> struct slopes {
    using numbers = reshaped<X, shape<static_cast<extent>(groups<X, Call>), Features>>;
    numbers sums;
    numbers products;
  };

 private:
  /// The first axis with a multiple of `lanes`.
  template <class S> [[nodiscard]] static constexpr auto whole_groups() -> extent {
    constexpr auto lanes = static_cast<extent>(Options.lanes == 0 ? 1 : Options.lanes);
    constexpr auto first = S::extents[0];
    return first < 0 ? -((-first + lanes - 1) / lanes * lanes)
                     : (first + lanes - 1) / lanes * lanes;
  }
  template <class S> using ranked = with_rank_at_least<S, 2>;

 public:
  template <class S>
  using expected_shape = with_last<with_first<ranked<S>, whole_groups<ranked<S>>()>, Features>;
  template <class S> using output_shape = S;
  static constexpr auto about = facts{.backward_reads = reads::input,
                                      .streams = true,
                                      .kept = true,
                                      .scratch = true,
                                      .slopes = true,
                                      .statistics = true};

  /// Itself, where this backend's own kernel applies the activation behind the norm, too.
  template <class Backend>
    requires std::same_as<typename kernel_for<detail::batch_norm_fn, Backend>::takes_activation,
                          kernel_for<detail::batch_norm_fn, Backend>>
  using takes_activation = batch_norm;

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    forward_with<>(p, x, y, m);
  }
  /// With an activation, or none.
  template <class... Activation>
  static constexpr void forward_with(auto const& p, auto x, auto y, auto m) {
    using T = scalar_of<decltype(x)>;
    observe(x, m);
    kernel<decltype(x)>::template forward<T, Activation...>(
        geometry<m.learns>(x), x.data(), data_or_null<T const>(p.weight),
        data_or_null<T const>(p.bias), m.kept.mean.data(), m.kept.scale.data(), y.data());
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) { forward(p, x, y, m); }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    backward_with<>(p, x, dy, dx, gradient, m);
  }
  /// With an activation, dy is the slope of what that gave.
  template <class... Activation>
  static constexpr void backward_with(auto const& p, auto x, auto dy, auto dx, auto& gradient,
                                      auto m) {
    using T = scalar_of<decltype(x)>;
    kernel<decltype(x)>::template backward<T, Activation...>(
        geometry<m.learns>(x), m.learns, x.data(), data_or_null<T const>(p.weight),
        data_or_null<T const>(p.bias), m.kept.mean.data(), m.kept.scale.data(), dy.data(),
        {dx.data(), data_or_null<T>(gradient.weight), data_or_null<T>(gradient.bias)},
        m.work.sums.data(), m.work.products.data());
  }
  static constexpr void initialize(auto& p, auto& s, auto&) {
    using T = scalar_of<decltype(s.running_var)>;
    if constexpr (Options.affine) {
      p.weight = T{1};
      p.bias = T{0};
    }
    s.running_mean = T{0};
    s.running_var = T{1};
    s.num_batches_tracked = T{0};
  }
  /// What two chunks observed, together.
  static constexpr void fold(auto& to, auto const& from) {
    using R = decltype(to.mean);
    kernel_for<detail::batch_norm_fn, backend_of<R>>::template fold<scalar_of<R>>(
        Features, seen(to), seen(from));
  }
  static constexpr void absorb(auto& s, auto const& o) {
    using R = std::remove_cvref_t<decltype(o.mean)>;
    using T = scalar_of<R>;
    constexpr auto momentum = static_cast<T>(static_cast<double>(Options.momentum_1e6) * 1e-6);
    kernel_for<detail::batch_norm_fn, backend_of<R>>::template absorb<T>(
        Features, momentum, s.running_mean.data(), s.running_var.data(),
        s.num_batches_tracked.data(), seen(o));
  }

 private:
  template <class X> using kernel = kernel_for<detail::batch_norm_fn, backend_of<X>>;

  /// Mean and scale of every group, from x or from what was learnt.
  static constexpr void observe(auto x, auto m) {
    using T = scalar_of<decltype(x)>;
    constexpr auto epsilon = static_cast<T>(static_cast<double>(Options.epsilon_1e12) * 1e-12);
    auto* const mean = m.kept.mean.data();
    auto* const scale = m.kept.scale.data();
    if constexpr (m.learns) {
      auto& groups = m.work.groups;
      kernel<decltype(x)>::template observe<T>(
          geometry<m.learns>(x), x.data(), epsilon, mean, scale,
          {groups.counts.data(), groups.means.data(), groups.squares.data()}, seen(m.observed));
    } else {
      kernel<decltype(x)>::template recall<T>(Features, m.statistics.running_mean.data(),
                                              m.statistics.running_var.data(), epsilon, mean,
                                              scale);
    }
  }
  [[nodiscard]] static constexpr auto seen(auto& o) {
    using T = std::remove_pointer_t<decltype(o.mean.data())>;
    return detail::batch_norm_seen<T>{o.count.data(), o.mean.data(), o.squares.data()};
  }
  /// Groups of whole lanes where the batch is learnt from, else one of all rows.
  template <bool Learns>
  [[nodiscard]] static constexpr auto geometry(auto x) -> detail::batch_norm_geometry {
    auto const rows = x.size() / Features;
    auto const lanes = x.template extent_of<0>();
    constexpr auto whole = not Learns || Options.lanes == 0;
    if (rows == 0) return {0, 1, Features};
    return {rows, whole ? rows : rows / lanes * Options.lanes, Features};
  }
};

static_assert(accepts<batch_norm<3>, shape<4, 3>>);

}  // namespace tessera
