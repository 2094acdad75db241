// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

// What a layer names, and what follows from it.
static_assert(stateful<lstm<3, 4>> && not stateful<linear<3, 4>> &&
              not stateful<attention_layer<4>>);
static_assert(streams<lstm<3, 4>> && streams<linear<3, 4>> && not streams<attention_layer<4>>);
static_assert(row_wise<linear<3, 4>> && row_wise<layer_norm<4>> && not row_wise<lstm<3, 4>>);
static_assert(stateful<sequential<linear<3, 3>, residual<lstm<3, 3>>>>);
static_assert(not streams<sequential<linear<4, 4>, attention_layer<4>>>);
static_assert(in_place<relu_layer> && not in_place<linear<4, 4>>);

using X = tensor<float, shape<7, 2, 3>>;
static_assert(std::same_as<output_of<lstm<3, 4>, X>, tensor<float, shape<7, 2, 4>>>);
static_assert(accepts<linear<3, 4>, shape<7, 2, 3>> && not accepts<linear<4, 4>, shape<7, 2, 3>>);
static_assert(bytes_of<nothing> == 0 && bytes_of<state_of<linear<3, 4>, X, training_call>> == 0);
// State is keyed by one sample, whoever asks.
static_assert(std::same_as<state_of<lstm<3, 4>, X, training_call>,
                           state_of<lstm<3, 4>, sample_of<X>, streaming_call>>);
// A step and a call by value take the weights as they are; a whole call packs them.
static_assert(std::same_as<detail::packed_in<streaming_call, int>, nothing>);
static_assert(std::same_as<detail::packed_in<training_call, int>, int>);
static_assert(reads_of(true, false) == reads::input && reads_input(reads::both) &&
              not reads_output(reads::input));

// -- a layer of a user's own, with forward and backward -------------------------------------------
namespace {

/// y = scale·x³.
struct cube : any_shape {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<1>> scale;
    TESSERA_PARAMETERS(scale)
  };
  static constexpr auto about = facts{.backward_reads = reads::input, .row_wise = true};

  static constexpr void forward(auto const& p, auto x, auto y, auto) {
    assign(y, p.scale.data()[0] * x * x * x);
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto) {
    dx.put(dy * 3.0 * p.scale.data()[0] * x * x);
    gradient.scale.data()[0] += evaluate(sum(dy * x * x * x)).values[0];
  }
  static constexpr void initialize(auto& p, auto&) { p.scale = 1; }
};

}  // namespace

TEST_CASE("contract: a custom pair of forward and backward is a layer as any other") {
  using D = tensor<double, shape<3, 2, 4>>;
  test::passes_gradient_check<cube, D>();
  test::passes_gradient_check<sequential<linear<4, 5>, residual<cube>, linear<5, 2>>, D>(1, 0.4);
  using F = tensor<float, shape<3, 2, 4>>;
  test::streams_like_a_sequence<sequential<lstm<4, 5>, cube>, F>();
}
