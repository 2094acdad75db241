// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/shape/algebra.hpp>

using namespace tessera;

template <class A, class B> inline constexpr bool same = std::same_as<A, B>;

static_assert(same<with_last<shape<2, 3>, 5>, shape<2, 5>> &&
              same<with_first<shape<2, 3>, 5>, shape<5, 3>>);
static_assert(same<without_first<shape<2, 3>>, shape<3>> && same<without_last<shape<2>>, shape<>>);
static_assert(same<with_axis<shape<2, 3>, 1, 7>, shape<2, 7, 3>>);
static_assert(same<with_merged<shape<2, 3, 4, 5>, 1, 3>, shape<2, 12, 5>>);
static_assert(
    same<with_merged<shape<at_most(2), 3, at_most(4)>, 1, 3>, shape<at_most(2), at_most(12)>>);
static_assert(same<with_merged<shape<2, 3>, 1, 1>, shape<2, 1, 3>>);
static_assert(merged<1, 3>(actual_extents<shape<at_most(2), 3, at_most(4)>>::from({1, 3, 2}))
                  .full() == std::array<std::size_t, 2>{1, 6});

// -- broadcast: NumPy's examples ------------------------------------------------------------------
static_assert(same<broadcast<shape<8, 1, 6, 1>, shape<7, 1, 5>>, shape<8, 7, 6, 5>>);
static_assert(same<broadcast<shape<5, 4>, shape<1>>, shape<5, 4>>);
static_assert(same<broadcast<shape<>, shape<7, 1>>, shape<7, 1>>);
static_assert(same<broadcast<shape<at_most(8), 3>, shape<3>>, shape<at_most(8), 3>>);
static_assert(same<broadcast<shape<at_most(8), 3>, shape<1, 3>>, shape<at_most(8), 3>>);
static_assert(not broadcasts_with<shape<2>, shape<3>>);
static_assert(not broadcasts_with<shape<at_most(8)>, shape<8>>, "one is 8, the other is not known");
static_assert(broadcasts_to<shape<3>, shape<2, 3>> && not broadcasts_to<shape<2, 3>, shape<3>>);

// -- transpose, reduce, concatenate, split, reshape -----------------------------------------------
static_assert(same<transposed<shape<2, 3, 4>>, shape<4, 3, 2>>);
static_assert(same<transposed<shape<2, 3, 4>, 1, 0, -1>, shape<3, 2, 4>>);
template <class S, std::ptrdiff_t... A>
concept can_transpose = requires { typename transposed<S, A...>; };
static_assert(not can_transpose<shape<2, 3>, 0, 0> && not can_transpose<shape<2, 3>, 0>);
static_assert(same<reduced<shape<2, 3, 4>, false, 1>, shape<2, 4>>);
static_assert(same<reduced<shape<2, 3, 4>, true, -1, 0>, shape<1, 3, 1>>);
static_assert(same<reduced<shape<2, 3, 4>, false>, shape<>>);
template <class S, std::ptrdiff_t... A>
concept can_reduce = requires { typename reduced<S, false, A...>; };
static_assert(not can_reduce<shape<2, 3>, 2> && not can_reduce<shape<2, 3>, -3>);
static_assert(same<concatenated<1, shape<2, 3>, shape<2, 5>, shape<2, 1>>, shape<2, 9>>);
static_assert(same<concatenated<0, shape<at_most(2), 3>, shape<4, 3>>, shape<at_most(6), 3>>);
template <std::size_t A, class... S>
concept can_concatenate = requires { typename concatenated<A, S...>; };
static_assert(not can_concatenate<1, shape<2, 3>, shape<3, 3>>);
static_assert(same<chunked<shape<2, 8>, 1, 4>, shape<2, 2>>);
template <class S, std::size_t A, std::size_t N>
concept can_split = requires { typename chunked<S, A, N>; };
static_assert(not can_split<shape<2, 8>, 1, 3> && not can_split<shape<2, 8>, 2, 1>);
static_assert(reshapes_to<shape<2, 3>, shape<6>> && not reshapes_to<shape<2, 3>, shape<5>>);
static_assert(reshapes_to<shape<at_most(4), 6>, shape<at_most(4), 2, 3>>);
static_assert(not reshapes_to<shape<at_most(4), 6>, shape<at_most(24)>>);

// -- product: NumPy's matmul ----------------------------------------------------------------------
static_assert(same<product_shape<shape<2, 3>, shape<3, 5>>, shape<2, 5>>);
static_assert(same<product_shape<shape<3>, shape<3, 5>>, shape<5>> &&
              same<product_shape<shape<3>, shape<3>>, shape<>>);
static_assert(same<product_shape<shape<7, 2, 3>, shape<3, 5>>, shape<7, 2, 5>>);
static_assert(same<product_shape<shape<4, 1, 2, 3>, shape<7, 3, 5>>, shape<4, 7, 2, 5>>);
static_assert(same<product_shape<shape<at_most(9), 3>, shape<3, 5>>, shape<at_most(9), 5>>);
template <class A, class B>
concept can_multiply = requires { typename product_shape<A, B>; };
static_assert(not can_multiply<shape<2, 3>, shape<2, 3>> && not can_multiply<shape<>, shape<3>>);

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("algebra: what is split, turned or widened is put together again") {
  using S = shape<2, 8, 3>;
  using part = chunked<S, 1, 4>;
  CHECK(same<concatenated<1, part, part, part, part>, S>);
  CHECK(same<transposed<transposed<S>>, S>);
  CHECK(same<transposed<transposed<S, 1, 2, 0>, 2, 0, 1>, S>);
  CHECK(same<without_first<concatenated<0, S, S>>, without_first<S>>);
  CHECK(same<broadcast<S, reduced<S, true, 1>>, S>);
  CHECK(same<broadcast<S, shape<8, 1>>, broadcast<shape<8, 1>, S>>);
}
