// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {

template <class Cell, class T, std::size_t In, std::size_t Hidden, std::size_t Recurrent = Hidden>
void against_reference() {
  constexpr auto options = lstm_options{.projection = Recurrent == Hidden ? 0 : Recurrent};
  using P = parameters_of<recurrent_layer<Cell, In, Hidden, options>, owned<T>>;
  using rows = tensor<T, shape<at_most(13), Hidden>>;
  using all_gates = tensor<T, shape<at_most(13), Cell::gates * Hidden>>;
  auto const p = std::make_unique<P>();
  test::fill_parameters(*p, 1, 0.7);
  auto x = tensor<T, shape<at_most(13), In>>{};
  auto h = tensor<T, shape<at_most(13), Recurrent>>{};
  auto c = rows{};
  test::fill(x, 100);
  test::fill(h, 101);
  test::fill(c, 102);
  using fast = kernel_for<operation::recurrent_step<Cell>, simd>;
  using slow = kernel_for<operation::recurrent_step<Cell>, reference>;
  auto const packed =
      std::make_unique<typename fast::template packed<T, 13, In, Hidden, Recurrent>>();
  auto none = nothing{};
  fast::prepare(*p, *packed);
  for (auto n = std::size_t{0}; n <= 13; ++n) {
    INFO(In << " to " << Hidden << ", " << n << " rows");
    auto gates = all_gates{};
    auto gates_want = all_gates{};
    auto beside = rows{};
    auto beside_want = rows{};
    auto y = rows{};
    auto y_want = rows{};
    fast::run(*p, as_const(x.sized(n)), as_const(h.sized(n)), as_const(c.sized(n)), gates.sized(n),
              beside.sized(n), y.sized(n), *packed);
    slow::run(*p, as_const(x.sized(n)), as_const(h.sized(n)), as_const(c.sized(n)),
              gates_want.sized(n), beside_want.sized(n), y_want.sized(n), none);
    CHECK(std::memcmp(gates.values, gates_want.values, sizeof gates.values) == 0);
    CHECK(std::memcmp(beside.values, beside_want.values, sizeof beside.values) == 0);
    CHECK(std::memcmp(y.values, y_want.values, sizeof y.values) == 0);
    // Without gates, in place or with nothing beside, and with the weights as they are: the same.
    auto in_place = c;
    auto y_other = rows{};
    auto const no_gates =
        view<T, shape<at_most(13), Cell::gates * Hidden>>{nullptr, gates.sized(n).actual};
    auto const next = Cell::carries
                          ? in_place.sized(n)
                          : view<T, shape<at_most(13), Hidden>>{nullptr, y.sized(n).actual};
    fast::run(*p, as_const(x.sized(n)), as_const(h.sized(n)), as_const(in_place.sized(n)), no_gates,
              next, y_other.sized(n), *packed);
    CHECK(std::memcmp(y_other.values, y_want.values, n * Hidden * sizeof(T)) == 0);
    if (Cell::carries)
      CHECK(std::memcmp(in_place.values, beside_want.values, n * Hidden * sizeof(T)) == 0);
    y_other = {};
    fast::run(*p, as_const(x.sized(n)), as_const(h.sized(n)), as_const(c.sized(n)), no_gates,
              beside.sized(n), y_other.sized(n), none);
    CHECK(std::memcmp(y_other.values, y_want.values, sizeof y.values) == 0);

    auto dc = c;
    auto dc_want = c;
    auto const d = as_const(y_want.sized(n));
    auto const given = [](auto v) {
      if constexpr (Cell::carries)
        return as_const(v);
      else
        return v;
    };
    kernel_for<operation::recurrent_step_backward<Cell>, simd>::run(
        gates.sized(n), given(beside.sized(n)), as_const(c.sized(n)), d, d, dc.sized(n));
    kernel_for<operation::recurrent_step_backward<Cell>, reference>::run(
        gates_want.sized(n), given(beside_want.sized(n)), as_const(c.sized(n)), d, d,
        dc_want.sized(n));
    CHECK(std::memcmp(gates.values, gates_want.values, sizeof gates.values) == 0);
    CHECK(std::memcmp(beside.values, beside_want.values, sizeof beside.values) == 0);
    CHECK(std::memcmp(dc.values, dc_want.values, sizeof dc.values) == 0);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("recurrent: an LSTM's step has the bits of the reference", "", float, double) {
  against_reference<lstm_cell, TestType, 1, 1>();
  against_reference<lstm_cell, TestType, 5, 8>();
  against_reference<lstm_cell, TestType, 3, 19>();
  against_reference<lstm_cell, TestType, 4, 33, 7>();
  against_reference<lstm_cell, TestType, 5, 64>();
}
TEMPLATE_TEST_CASE("recurrent: a GRU's step has the bits of the reference", "", float, double) {
  against_reference<gru_cell, TestType, 1, 1>();
  against_reference<gru_cell, TestType, 3, 19>();
  against_reference<gru_cell, TestType, 5, 64>();
}
