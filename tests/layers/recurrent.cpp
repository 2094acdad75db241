// SPDX-License-Identifier: MIT
#include <support/inner_lanes.hpp>
#include <support/test.hpp>
#include <tessera/layers/recurrent.hpp>

using namespace tessera;

namespace {

/// A cell of one's own, torch.nn.RNN without its second use of h: h = tanh(x's sum + h's).
struct plain_cell {
  static constexpr std::size_t gates = 1;
  static constexpr bool carries = false;
  static constexpr auto sums = std::array<recurrent_sum, 2>{{{0, true, false}, {0, false, true}}};
  template <class H, class> struct state {
    H h;
  };
  template <class V>
  [[nodiscard]] static constexpr auto forward(V const (&sum)[2], V) -> recurrent_unit<V, 1> {
    auto const h = lane::tanh(sum[0] + sum[1]);
    return {{h}, sum[1], h};
  }
  template <class V>
  [[nodiscard]] static constexpr auto backward(V const (&values)[1], V, V, V dh, V direct)
      -> recurrent_slope<V, 1> {
    auto const d = (dh + direct) * (V(1) - values[0] * values[0]);
    return {{d}, d, V(0)};
  }
};
template <recurrent_place Place>
using one_layer = recurrent_layer<lstm_cell, 3, 4, lstm_options{}, Place>;

}  // namespace

// -- contract -------------------------------------------------------------------------------------
static_assert(layer_for<one_layer<recurrent_place{}>, tensor<float, shape<5, 2, 3>>>);
static_assert(layer_for<one_layer<recurrent_place{2, true}>, tensor<float, shape<5, 2, 3>>>);
static_assert(not streams<one_layer<recurrent_place{0, true}>>);
static_assert(layer_for<one_layer<recurrent_place{}>, tensor<float, shape<2, 3>>, streaming_call>);

TEST_CASE("recurrent: names are torch's, by level and direction") {
  using model = gru<3, 4, gru_options{.layers = 2, .dropout = 0.1, .bidirectional = true}>;
  auto names = std::string{};
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  for_each_parameter(
      [&](path_name const& path, auto const&) { names += path.c_str(), names += ' '; }, *p);
  CHECK(names ==
        "weight_ih_l0 weight_hh_l0 bias_ih_l0 bias_hh_l0 weight_ih_l0_reverse "
        "weight_hh_l0_reverse bias_ih_l0_reverse bias_hh_l0_reverse weight_ih_l1 weight_hh_l1 "
        "bias_ih_l1 bias_hh_l1 weight_ih_l1_reverse weight_hh_l1_reverse bias_ih_l1_reverse "
        "bias_hh_l1_reverse ");
}
TEST_CASE("recurrent: a cell of one's own needs its formulas only") {
  using model = recurrent<plain_cell, 3, 4, gru_options{.layers = 2, .bidirectional = true}>;
  test::passes_gradient_check<model, tensor<double, shape<5, 2, 3>>>();
  using stack = recurrent<plain_cell, 3, 19, gru_options{.layers = 2}>;
  test::streams_like_a_sequence<stack, tensor<float, shape<6, 2, 3>>>();
}
TEST_CASE("recurrent: a call that is restarted carries no state") {
  using inner = gru<3, 4>;
  using X = tensor<float, shape<5, 2, 3>>;
  auto const p = std::make_unique<parameters_of<inner, owned<float>>>();
  auto const q = std::make_unique<parameters_of<restarted<inner>, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  test::fill_parameters(*q, 1, 0.5);
  auto x = X{};
  test::fill(x, 2);
  auto const carried = std::make_unique<inference<inner, X>>();
  auto const fresh = std::make_unique<inference<restarted<inner>, X>>();
  static_assert(memory_of<restarted<inner>, X, call_mode::inference>.state == 0);
  (*carried)(*p, x);
  auto const first_answer = carried->y;
  CHECK(test::same_bits(first_answer, (*fresh)(*q, x)));
  CHECK(test::same_bits(first_answer, fresh->resume(*q, x)));
  CHECK(not test::same_bits(first_answer, carried->resume(*p, x)));
}
TEST_CASE("recurrent: the state of a level with dropout below it is found") {
  using model = lstm<3, 4, lstm_options{.layers = 2, .dropout = 0.5}>;
  using X = tensor<float, shape<5, 2, 3>>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto x = X{};
  test::fill(x, 2);
  auto const run = std::make_unique<inference<model, X>>();
  auto const y = (*run)(*p, x);
  CHECK(test::same_bits(model::layer_state<1>(run->state).h, y[4]));
  CHECK(not test::same_bits(model::layer_state<0>(run->state).h, y[4]));
}
TEST_CASE("recurrent: learning drops between two levels, and nowhere else") {
  constexpr auto share = 0.3;
  using model = recurrent<plain_cell, 3, 40, gru_options{.layers = 2, .dropout = share}>;
  using X = tensor<float, shape<1, 50, 3>>;
  using pass_type = differentiation<model, X>;
  auto const pass = std::make_unique<pass_type>();
  auto const p = std::make_unique<pass_type::parameters_type>();
  auto x = X{};
  *pass = {};
  test::fill_parameters(*p, 1, 0.5);
  test::fill(x, 2);
  auto& above = get<1>(get<1>(*p));  // gives the tanh of what it is given
  above.bias_ih = above.bias_hh = {};
  above.weight_ih = {};
  for (auto k = std::size_t{0}; k < 40; ++k) above.weight_ih(k, k) = 1;
  auto const run = std::make_unique<inference<model, X>>();
  (*run)(*p, x);
  pass->forward(*p, x, random_context{.seed = 7});
  auto const& h = model::layer_state<0>(run->state).h;
  CHECK(test::same_bits(h, model::layer_state<0>(pass->state).h));
  auto dropped = 0;
  for (auto i = std::size_t{0}; i < h.size(); ++i) {
    auto const below = h.data()[i];
    auto const y = pass->y.data()[i];
    CHECK(run->y.data()[i] == Approx(std::tanh(below)));
    CHECK((y == 0 || y == Approx(std::tanh(below / (1 - share)))));
    dropped += y == 0 ? 1 : 0;
  }
  CHECK(dropped == Approx(share * 50 * 40).margin(80));
}
TEST_CASE("recurrent: lanes of a second axis go on together") {
  using X = tensor<float, shape<at_most(6), at_most(2), at_most(3), 5>>;
  test::refuses_other_inner_lanes<lstm<5, 4>, X>();
  test::refuses_other_inner_lanes<recurrent<plain_cell, 5, 6, lstm_options{.layers = 2}>, X>();
}
TEST_CASE("recurrent: an empty sequence leaves the state as it is") {
  using X = tensor<float, shape<at_most(5), 2, 3>>;
  auto const p = std::make_unique<parameters_of<gru<3, 4>, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto x = X{};
  auto const run = std::make_unique<inference<gru<3, 4>, X>>();
  auto& h = gru<3, 4>::layer_state(run->state).h;
  test::fill(h, 3);
  auto const before = h;
  run->resume(*p, as_const(x.sized(0)));
  CHECK(test::same_bits(before, h));
}
