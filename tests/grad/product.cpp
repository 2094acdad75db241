// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {

template <std::size_t In, std::size_t Out> struct dense {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<In, Out>> weight;
    TESSERA_PARAMETERS(weight)
  };
  template <class S> using expected_shape = with_last<S, In>;
  static constexpr auto forward(auto const& p, auto x) { return tanh(matmul(x, p.weight)); }
};
struct own_square {  // both operands lead to x, one by another way
  template <class Storage> struct parameters {};
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const&, auto x) {
    return matmul(matmul(x, transpose(x, axis<0, 2, 1>)) * 0.3, x) + x;
  }
};
struct vectors {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<5>> column;
    tensor_in<Storage, shape<4>> row;
    tensor_in<Storage, shape<2, 1, 4, 6>> stack;
    TESSERA_PARAMETERS(column, row, stack)
  };
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const& p, auto x) {                 // x (3, 4, 5)
    auto const of_column = matmul(x, p.column);                          // (3, 4)
    auto const of_row = matmul(p.row, exp(x));                           // (3, 5)
    auto const of_stack = matmul(transpose(x, axis<0, 2, 1>), p.stack);  // (2, 3, 5, 6)
    return expand_dims(sum(of_stack, axis<0, 3>) * of_row, axis<1>) *
           expand_dims(of_column, axis<2>);
  }
};
struct as_they_lie {  // operands, and the places of their slopes, at a distance or repeated
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<3, 5>> turned;        // as torch has it
    tensor_in<Storage, shape<3, 7>> columns;       // of which some are taken
    tensor_in<Storage, shape<3, 4, 2>> sparse;     // neither rows nor columns lie together
    tensor_in<Storage, shape<1, 4>> repeated;      // one row for all
    tensor_in<Storage, shape<2, 1>> repeated_too;  // one column for all
    TESSERA_PARAMETERS(turned, columns, sparse, repeated, repeated_too)
  };
  static constexpr bool row_wise = false;
  template <class S> using expected_shape = with_last<S, 5>;
  static constexpr auto forward(auto const& p, auto x) {                            // x (6, 5)
    auto const first = matmul(x, transpose(p.turned));                              // (6, 3)
    auto const second = matmul(first, slice(p.columns, whole_axis, range<2, 5>));   // (6, 3)
    auto const third = matmul(second, slice(p.sparse, whole_axis, whole_axis, 1));  // (6, 4)
    auto const fourth = matmul(third, transpose(broadcast_to<shape<2, 4>>(p.repeated)));  // (6, 2)
    auto const fifth = matmul(fourth, broadcast_to<shape<2, 3>>(p.repeated_too));         // (6, 3)
    return matmul(transpose(fifth), slice(x, whole_axis, range<1, 4>));                   // (3, 3)
  }
};
struct returns_the_product {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<4, 2>> weight;
    TESSERA_PARAMETERS(weight)
  };
  static constexpr auto forward(auto const& p, auto x) { return matmul(x, p.weight); }
};

}  // namespace

TEST_CASE("product: a forward-only layer with matmul has its gradient") {
  test::passes_gradient_check<dense<4, 3>, tensor<double, shape<2, 4>>>();
  test::passes_gradient_check<sequential<linear<6, 4>, dense<4, 5>, linear<5, 2>>,
                              tensor<double, shape<5, 3, 6>>>();
  test::passes_gradient_check<own_square, tensor<double, shape<2, 3, 4>>>();
  test::passes_gradient_check<vectors, tensor<double, shape<3, 4, 5>>>();
  test::passes_gradient_check<as_they_lie, tensor<double, shape<6, 5>>>();
  test::passes_gradient_check<as_they_lie, tensor<double, shape<6, 5>, reference>>();
  test::passes_gradient_check<sequential<linear<6, 4>, returns_the_product>,
                              tensor<double, shape<3, 6>>>();
  test::passes_gradient_check<vectors, tensor<double, shape<3, 4, 5>, reference>>();
}
template <class B> using rows_of_five = tensor<float, shape<6, 5>, B>;
template <class B> using batch = tensor<float, shape<5, 7, 37>, B>;
TEST_CASE("product: vectors have the bits of the reference, forward and backward") {
  test::equals_reference<batch, sequential<dense<37, 70>, dense<70, 33>>>();
  test::equals_reference<batch, own_square>();
  test::equals_reference<rows_of_five, as_they_lie>();
}
TEST_CASE("product: as the first layer of a training step, without dx") {
  using model = sequential<dense<4, 4>, linear<4, 1>>;
  using X = tensor<float, shape<3, 4>>;
  auto p = parameters_of<model, owned<float>>{};
  test::fill_parameters(p, 1);
  auto x = X{};
  test::fill(x, 2);
  auto const pass = std::make_unique<differentiation<model, X>>();
  auto const with_dx = std::make_unique<differentiation<model, X>>();
  auto dx = X{};
  *pass = {};
  *with_dx = {};
  pass->forward(p, x);
  with_dx->forward(p, x);
  test::fill(pass->dy, 3);
  test::fill(with_dx->dy, 3);
  pass->backward(p, x, view_of<X>{}, pass->gradient, plain_context{});
  with_dx->backward(p, x, view_of<X>(dx), with_dx->gradient, plain_context{});
  auto moved = 0.0;
  for_each_parameter(
      [&](path_name const&, auto const& a, auto const& b) {
        CHECK(test::same_bits(a, b));
        for (auto v : a) moved += std::abs(static_cast<double>(v));
      },
      pass->gradient, with_dx->gradient);
  CHECK(moved > 0.1);
}
