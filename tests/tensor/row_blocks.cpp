// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/tensor/row_blocks.hpp>

using namespace tessera;

// -- contract: which assignments go by blocks -----------------------------------------------------
using rows = tensor<float, shape<300, 40>>;
using view_of_rows = view_of<rows>;
template <class Y, class E>
inline constexpr bool blocks = detail::by_row_blocks<Y, detail::node_of<float, E const&>>;
using rows_of_softmax = decltype(softmax(std::declval<rows const&>(), axis<-1>));
using columns_of_softmax = decltype(softmax(std::declval<rows const&>(), axis<0>));
using centered =
    decltype(std::declval<rows const&>() - mean(std::declval<rows const&>(), axis<1>, keepdims));
using of_all = decltype(std::declval<rows const&>() - mean(std::declval<rows const&>()));
static_assert(blocks<view_of_rows, rows_of_softmax> && blocks<view_of_rows, centered>);
static_assert(not blocks<view_of_rows, columns_of_softmax> && not blocks<view_of_rows, of_all>);
static_assert(detail::rows_of_block<float, shape<300, 40>>(40) == 64);
static_assert(detail::rows_of_block<float, shape<300, 40>>(1024) == 4);
static_assert(detail::rows_of_block<float, shape<300, 40>>(100'000) == 1);
static_assert(detail::rows_of_block<float, shape<3, 40>>(40) == 3);

// -- values by hand -------------------------------------------------------------------------------
constexpr auto differences_from_means() -> bool {
  auto const x = tensor<float, shape<2, 2>>{{1, 3, 10, 20}};
  auto const y = evaluate(x - mean(x, axis<-1>, keepdims));
  return y(0, 0) == -1 && y(0, 1) == 1 && y(1, 0) == -5 && y(1, 1) == 5;
}
static_assert(differences_from_means());

// -- laws -----------------------------------------------------------------------------------------
/// By blocks as with a tensor for every step between.
template <class T, class S, class Backend> void equals_steps() {
  using column = with_last<S, 1>;
  auto const x = std::make_unique<tensor<T, S, Backend>>();
  auto const most = std::make_unique<tensor<T, column, Backend>>();
  auto const total = std::make_unique<tensor<T, column, Backend>>();
  auto const y = std::make_unique<tensor<T, S, Backend>>();
  auto const wanted = std::make_unique<tensor<T, S, Backend>>();
  test::fill(*x, 3, 4);
  *most = max(*x, axis<-1>, keepdims);
  *total = sum(exp(*x - *most), axis<-1>, keepdims);
  *wanted = exp(*x - *most) / *total;
  *y = softmax(*x, axis<-1>);
  CHECK(test::same_bits(*y, *wanted));
  auto const product = std::make_unique<tensor<T, S, Backend>>();
  *product = *wanted * *x;
  *y = softmax(*x, axis<-1>) * *x;  // element by element
  CHECK(test::same_bits(*y, *product));
  *product = *x * 3 + *most;
  *product = softmax(*product, axis<-1>);
  *y = softmax(*x * 3 + *most, axis<-1>);  // of an expression
  CHECK(test::same_bits(*y, *product));
  *product = softmax(*wanted, axis<-1>);
  *y = softmax(softmax(*x, axis<-1>), axis<-1>);
  CHECK(test::same_bits(*y, *product));
  auto const narrow = std::make_unique<tensor<bf16, S, Backend>>();
  if constexpr (std::same_as<T, float>) {  // exponentials would not fit where the result goes
    *narrow = softmax(*x, axis<-1>);
    for (auto i = std::size_t{0}; i < S::capacity; ++i)
      CHECK(static_cast<float>(narrow->values[i]) == static_cast<float>(bf16(wanted->values[i])));
  }
  *x = softmax(*x, axis<-1>);  // in place
  CHECK(test::same_bits(*x, *wanted));
}
TEST_CASE("row_blocks: the bits of computing step by step") {
  equals_steps<float, shape<300, 40>, simd>();
  equals_steps<float, shape<7, 11, 33>, simd>();
  equals_steps<float, shape<2, 5000>, simd>();
  equals_steps<float, shape<50, 1>, simd>();
  equals_steps<double, shape<70, 65>, simd>();
  equals_steps<float, shape<300, 40>, reference>();
}
TEST_CASE("row_blocks: vectors have the bits of the reference, NaN and infinities as well") {
  auto const a = std::make_unique<tensor<float, shape<90, 70>, simd>>();
  auto const b = std::make_unique<tensor<float, shape<90, 70>, reference>>();
  test::fill(*a, 1, 4);
  a->values[5 * 70 + 3] = std::numeric_limits<float>::infinity();
  a->values[6 * 70 + 69] = -std::numeric_limits<float>::infinity();
  a->values[7 * 70 + 10] = std::numeric_limits<float>::quiet_NaN();
  a->values[8 * 70 + 68] = std::numeric_limits<float>::quiet_NaN();
  for (auto i = std::size_t{0}; i < 90 * 70; ++i) b->values[i] = a->values[i];
  auto const compare = [](auto const& x, auto const& y) {
    for (auto i = std::size_t{0}; i < x.size(); ++i) {
      auto const same =
          x.values[i] == y.values[i] || (std::isnan(x.values[i]) && std::isnan(y.values[i]));
      CHECK(same);
    }
  };
  auto const run = [](auto const& x) {
    return evaluate((x - mean(x, axis<-1>, keepdims)) / sqrt(variance(x, axis<-1>, keepdims)) +
                    max(x, axis<-1>, keepdims));
  };
  compare(run(*a), run(*b));
  compare(evaluate(softmax(*a, axis<-1>)), evaluate(softmax(*b, axis<-1>)));
}
TEST_CASE("row_blocks: softmax writes exponentials where they are asked for") {
  using reached = view<float, shape<300, 40>, simd>;
  using e = detail::node_of<float, rows_of_softmax const&>;
  static_assert(detail::softmax_in_place<reached, e>);
  static_assert(not detail::softmax_in_place<view<bf16, shape<300, 40>, simd>, e>);
  auto const memory = std::make_unique<tensor<float, shape<201, 16>>>();
  auto const wanted = std::make_unique<tensor<float, shape<200, 16>>>();
  test::fill(*memory, 2, 4);
  auto const before = view<float const, shape<200, 16>>{memory->data()};
  auto const after = view<float, shape<200, 16>>{memory->data() + 16};
  *wanted = softmax(before, axis<-1>);
  assign(after, softmax(before, axis<-1>));  // a row is written before it is read
  CHECK(std::memcmp(after.data(), wanted->values, sizeof wanted->values) == 0);
}
TEST_CASE("row_blocks: more rows than temporaries would have room for") {
  auto const x = std::make_unique<tensor<float, shape<40'000, 4>>>();
  *x = 2;
  *x = *x / sum(*x, axis<-1>, keepdims);
  CHECK(x->values[0] == 0.25F);
  CHECK(x->values[159'999] == 0.25F);
}
TEST_CASE("row_blocks: what is read from where it is written goes through a temporary") {
  auto const memory = std::make_unique<tensor<float, shape<201, 16>>>();
  auto const wanted = std::make_unique<tensor<float, shape<200, 16>>>();
  test::fill(*memory, 2, 4);
  auto const before = view<float const, shape<200, 16>>{memory->data()};
  auto const after = view<float, shape<200, 16>>{memory->data() + 16};
  *wanted = before - max(before, axis<-1>, keepdims);
  assign(after, before - max(before, axis<-1>, keepdims));
  CHECK(std::memcmp(after.data(), wanted->values, sizeof wanted->values) == 0);

  auto const row = view<float const, shape<16>>{memory->data()};  // of the first block
  auto const all = view<float, shape<201, 16>>{memory->data()};
  auto const expected = std::make_unique<tensor<float, shape<201, 16>>>();
  *expected = all + row - mean(all, axis<-1>, keepdims);
  assign(all, all + row - mean(all, axis<-1>, keepdims));
  CHECK(std::memcmp(all.data(), expected->values, sizeof expected->values) == 0);
}
