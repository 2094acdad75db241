// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

template <class T, std::size_t In, std::size_t Hidden, std::size_t Recurrent>
void against_reference() {
  using P = typename lstm_layer<In, Hidden,
                                lstm_options{.projection = Recurrent == Hidden ? 0 : Recurrent}>::
      template parameters<owned<T>>;
  auto const p = std::make_unique<P>();
  test::fill_parameters(*p, 1, 0.7);
  auto x = tensor<T, shape<at_most(13), In>>{};
  auto h = tensor<T, shape<at_most(13), Recurrent>>{};
  auto c = tensor<T, shape<at_most(13), Hidden>>{};
  test::fill(x, 100);
  test::fill(h, 101);
  test::fill(c, 102);
  using fast = kernel<operation::recurrent_step<lstm_cell>, simd>;
  using slow = kernel<operation::recurrent_step<lstm_cell>, reference>;
  auto const packed =
      std::make_unique<typename fast::template packed<T, 13, In, Hidden, Recurrent>>();
  auto none = nothing{};
  fast::prepare(*p, *packed);
  for (auto n = std::size_t{0}; n <= 13; ++n) {
    INFO(In << " to " << Hidden << ", " << n << " rows");
    auto gates = tensor<T, shape<at_most(13), 4 * Hidden>>{};
    auto gates_want = gates;
    auto c_new = tensor<T, shape<at_most(13), Hidden>>{};
    auto c_want = c_new;
    auto y = c_new;
    auto y_want = c_new;
    fast::run(*p, as_const(x.sized(n)), as_const(h.sized(n)), as_const(c.sized(n)), gates.sized(n),
              c_new.sized(n), y.sized(n), *packed);
    slow::run(*p, as_const(x.sized(n)), as_const(h.sized(n)), as_const(c.sized(n)),
              gates_want.sized(n), c_want.sized(n), y_want.sized(n), none);
    CHECK(std::memcmp(gates.values, gates_want.values, sizeof gates.values) == 0);
    CHECK(std::memcmp(c_new.values, c_want.values, sizeof c_new.values) == 0);
    CHECK(std::memcmp(y.values, y_want.values, sizeof y.values) == 0);
    // Without gates, in place, and with the weights as they are: the same.
    auto in_place = c;
    auto y_other = tensor<T, shape<at_most(13), Hidden>>{};
    auto const no_gates = view<T, shape<at_most(13), 4 * Hidden>>{nullptr, gates.sized(n).actual};
    fast::run(*p, as_const(x.sized(n)), as_const(h.sized(n)), as_const(in_place.sized(n)), no_gates,
              in_place.sized(n), y_other.sized(n), *packed);
    CHECK(std::memcmp(y_other.values, y_want.values, n * Hidden * sizeof(T)) == 0);
    CHECK(std::memcmp(in_place.values, c_want.values, n * Hidden * sizeof(T)) == 0);
    y_other = {};
    fast::run(*p, as_const(x.sized(n)), as_const(h.sized(n)), as_const(c.sized(n)), no_gates,
              c_new.sized(n), y_other.sized(n), none);
    CHECK(std::memcmp(y_other.values, y_want.values, sizeof y.values) == 0);

    auto dc = c;
    auto dc_want = c;
    auto const d = as_const(y_want.sized(n));
    kernel<operation::recurrent_step_backward<lstm_cell>, simd>::run(gates.sized(n), as_const(c_want.sized(n)),
                                                     as_const(c.sized(n)), d, d, dc.sized(n));
    kernel<operation::recurrent_step_backward<lstm_cell>, reference>::run(
        gates_want.sized(n), as_const(c_want.sized(n)), as_const(c.sized(n)), d, d,
        dc_want.sized(n));
    CHECK(std::memcmp(gates.values, gates_want.values, sizeof gates.values) == 0);
    CHECK(std::memcmp(dc.values, dc_want.values, sizeof dc.values) == 0);
  }
}
TEMPLATE_TEST_CASE("lstm_cell: the bits of the reference", "", float, double) {
  against_reference<TestType, 1, 1, 1>();
  against_reference<TestType, 5, 8, 8>();
  against_reference<TestType, 3, 19, 19>();
  against_reference<TestType, 4, 33, 7>();
  against_reference<TestType, 5, 64, 64>();
}
