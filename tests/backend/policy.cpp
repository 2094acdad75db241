// SPDX-License-Identifier: MIT
#include <support/test.hpp>

// A backend of a user's own, outside of the library: it counts what it is asked for and lets the
// reference do it.
struct counting {
  static inline auto calls = 0;
};
template <class Op>
struct tessera::kernel_for<Op, counting> : tessera::kernel_for<Op, tessera::reference> {
  using plain = tessera::kernel_for<Op, tessera::reference>;
  template <class... A> static constexpr auto run(A&&... arguments) {
    ++counting::calls;
    return plain::run(std::forward<A>(arguments)...);
  }
};

// Another that has one kernel and falls back on the vectors for the rest.
struct tracing_maps {
  using fallback = tessera::simd;
  static inline auto maps = 0;
};
template <>
struct tessera::kernel_for<tessera::detail::affine_map_fn, tracing_maps>
    : tessera::kernel_for<tessera::detail::affine_map_fn, tessera::simd> {
  using plain = tessera::kernel_for<tessera::detail::affine_map_fn, tessera::simd>;
  template <class... A> static void run(A&&... arguments) {
    ++tracing_maps::maps;
    plain::run(std::forward<A>(arguments)...);
  }
};

using namespace tessera;

template <class Backend> using input = tensor<float, shape<6, 4, 3>, Backend>;
using model = sequential<lstm<3, 19>, layer_norm<19>, linear<19, 2>>;

template <class Backend> [[nodiscard]] auto train_two_steps() {
  using X = input<Backend>;
  auto const t = std::make_unique<training<model, X, adam>>();
  *t = {};
  test::fill_parameters(t->parameters, 1, 0.5);
  auto x = X{};
  auto y = tensor<float, shape<6, 4, 2>, Backend>{};
  test::fill(x, 2);
  test::fill(y, 3);
  (void)t->step(x, y, mse{}, adam{.rate = 0.01});
  (void)t->step(x, y, mse{}, adam{.rate = 0.01});
  auto result = std::vector<float>{};
  for_each_parameter(
      [&](path_name const&, auto const& w) { result.insert(result.end(), w.begin(), w.end()); },
      t->parameters);
  return result;
}

TEST_CASE("policy: a backend from outside runs a whole model, with the reference's bits") {
  counting::calls = 0;
  auto const counted = train_two_steps<counting>();
  CHECK(counting::calls > 2 * (6 + 6 + 2));  // steps of the LSTM, forward and backward, and maps
  CHECK(counted == train_two_steps<reference>());
}
TEST_CASE("policy: what a backend does not specialize runs on its fallback") {
  tracing_maps::maps = 0;
  auto const traced_bits = train_two_steps<tracing_maps>();
  CHECK(tracing_maps::maps == 2);  // the linear layer, once a step
  CHECK(traced_bits == train_two_steps<simd>());
}
