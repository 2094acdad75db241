// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

/// A kernel against the reference for every number of rows up to 20.
template <class T, std::size_t In, std::size_t Out> void against_reference(bool biased) {
  using S = shape<at_most(20), In>;
  using R = shape<at_most(20), Out>;
  auto const weight = std::make_unique<tensor<T, shape<Out, In>>>();
  auto bias = tensor<T, shape<Out>>{};
  auto x = tensor<T, S>{};
  test::fill(*weight, 1);
  test::fill(bias, 2);
  test::fill(x, 3);
  using fast = kernel_for<detail::affine_map_fn, simd>;
  using slow = kernel_for<detail::affine_map_fn, reference>;
  auto const packed = std::make_unique<typename fast::template packed<T, 20, In, Out>>();
  fast::prepare(*weight, *packed);
  auto none = nothing{};
  auto const* const b = biased ? bias.data() : nullptr;
  for (auto n = std::size_t{0}; n <= 20; ++n) {
    INFO(In << " to " << Out << ", " << n << " rows");
    auto y = tensor<T, R>{};
    auto want = y;
    auto unpacked = y;
    auto const at = as_const(x.sized(n));
    fast::run(at, *weight, b, y.sized(n), *packed);
    fast::run(at, *weight, b, unpacked.sized(n), none);
    slow::run(at, *weight, b, want.sized(n), none);
    CHECK(std::memcmp(y.values, want.values, sizeof y.values) == 0);
    CHECK(std::memcmp(unpacked.values, want.values, sizeof y.values) == 0);

    auto dx = tensor<T, S>{};
    auto dx_want = dx;
    auto const on_reference = []<class U, class Q, class B>(view<U, Q, B> v) {
      return view<U, Q, reference>{v.data(), v.actual};
    };
    affine_map_input(*weight, as_const(want.sized(n)), dx.sized(n));
    affine_map_input(*weight, on_reference(as_const(want.sized(n))),
                     on_reference(dx_want.sized(n)));
    CHECK(std::memcmp(dx.values, dx_want.values, sizeof dx.values) == 0);
    auto added = x;
    auto added_want = x;
    affine_map_input(*weight, as_const(want.sized(n)), added.sized(n), true);
    affine_map_input(*weight, on_reference(as_const(want.sized(n))),
                     on_reference(added_want.sized(n)), true);
    assign(x.sized(n), x.sized(n) + dx.sized(n));
    CHECK(std::memcmp(added.values, x.values, sizeof x.values) == 0);
    CHECK(std::memcmp(added_want.values, x.values, sizeof x.values) == 0);

    auto const dw = std::make_unique<tensor<T, shape<Out, In>>>(*weight);
    auto const dw_want = std::make_unique<tensor<T, shape<Out, In>>>(*weight);
    auto db = bias;
    auto db_want = bias;
    affine_map_parameters(at, as_const(want.sized(n)), dw->data(), db.data());
    affine_map_parameters(on_reference(at), on_reference(as_const(want.sized(n))), dw_want->data(),
                          db_want.data());
    CHECK(std::memcmp(dw->values, dw_want->values, sizeof dw->values) == 0);
    CHECK(std::memcmp(db.values, db_want.values, sizeof db.values) == 0);
  }
}
TEMPLATE_TEST_CASE("affine_map: the bits of the reference", "", float, double) {
  against_reference<TestType, 1, 1>(true);
  against_reference<TestType, 3, 7>(false);
  against_reference<TestType, 16, 16>(true);
  against_reference<TestType, 37, 65>(true);
  against_reference<TestType, 64, 200>(false);
}

namespace {

/// Weights in another storage against the reference with the weights that they stand for.
template <class T, class Stored, std::size_t In, std::size_t Out> void stored_otherwise() {
  using S = shape<at_most(9), In>;
  using R = shape<at_most(9), Out>;
  auto const weight = std::make_unique<tensor<T, shape<Out, In>>>();
  auto bias = tensor<T, shape<Out>>{};
  auto x = tensor<T, S>{};
  test::fill(*weight, 1);
  test::fill(bias, 2);
  test::fill(x, 3);
  auto const check = [&](auto const& stored) {
    auto const widened = std::make_unique<tensor<T, shape<Out, In>>>();
    for (auto i = std::size_t{0}; i < widened->size(); ++i)
      widened->data()[i] = stored.numbers().at(i / In, i % In);
    using fast = kernel_for<detail::affine_map_fn, simd>;
    using slow = kernel_for<detail::affine_map_fn, reference>;
    auto const packed = std::make_unique<typename fast::template packed<T, 9, In, Out>>();
    auto none = nothing{};
    fast::prepare(stored, *packed);
    for (auto n = std::size_t{0}; n <= 9; ++n) {
      INFO(In << " to " << Out << ", " << n << " rows");
      auto want = tensor<T, R>{};
      auto by_reference = want;
      auto by_simd = want;
      auto at_once = want;
      auto const at = as_const(x.sized(n));
      slow::run(at, *widened, bias.data(), want.sized(n), none);
      slow::run(at, stored, bias.data(), by_reference.sized(n), none);
      fast::run(at, stored, bias.data(), by_simd.sized(n), *packed);
      fast::run(at, stored, bias.data(), at_once.sized(n), none);
      CHECK(std::memcmp(by_reference.values, want.values, sizeof want.values) == 0);
      CHECK(std::memcmp(by_simd.values, want.values, sizeof want.values) == 0);
      CHECK(std::memcmp(at_once.values, want.values, sizeof want.values) == 0);

      auto dx_want = tensor<T, S>{};
      auto dx = dx_want;
      auto dx_reference = dx_want;
      auto const on_reference = []<class U, class Q, class B>(view<U, Q, B> v) {
        return view<U, Q, reference>{v.data(), v.actual};
      };
      auto const dy = as_const(want.sized(n));
      affine_map_input(*widened, dy, dx_want.sized(n));
      affine_map_input(stored, dy, dx.sized(n));
      affine_map_input(stored, on_reference(dy), on_reference(dx_reference.sized(n)));
      CHECK(std::memcmp(dx.values, dx_want.values, sizeof dx_want.values) == 0);
      CHECK(std::memcmp(dx_reference.values, dx_want.values, sizeof dx_want.values) == 0);
    }
  };
  auto const by_columns = std::make_unique<packed_matrix<T, shape<Out, In>, simd, Stored>>();
  auto const by_rows = std::make_unique<compact_matrix<T, shape<Out, In>, simd, Stored>>();
  test::poison(*by_columns);
  test::poison(*by_rows);
  by_columns->pack(weights_of<T>(*weight));
  by_rows->pack(weights_of<T>(*weight));
  check(*by_columns);
  check(*by_rows);
}
template <class T, class Stored> void stored_otherwise_everywhere() {
  stored_otherwise<T, Stored, 21, 1>();
  stored_otherwise<T, Stored, 5, 3>();
  stored_otherwise<T, Stored, 64, 130>();
}

}  // namespace

TEMPLATE_TEST_CASE("affine_map: weights of 16 and 8 bits have the bits of what they stand for", "",
                   bf16, f16, std::int8_t) {
  stored_otherwise_everywhere<float, TestType>();
  stored_otherwise<double, TestType, 7, 19>();
}
TEMPLATE_TEST_CASE("affine_map: a row of few outputs has the bits of many rows", "", float,
                   double) {
  stored_otherwise<TestType, TestType, 19, 1>();
  stored_otherwise<TestType, TestType, 1, 2>();
  stored_otherwise<TestType, TestType, 9, 4>();
  stored_otherwise<TestType, TestType, 33, 8>();
  stored_otherwise<TestType, TestType, 6, 15>();
  stored_otherwise<TestType, TestType, 7, 16>();
}

namespace {

/// Weights of a megabyte and more, as they lie and by columns, against the reference.
template <class T, class Stored, std::size_t In, std::size_t Out> void large_weights() {
  using S = shape<at_most(27), In>;
  using R = shape<at_most(27), Out>;
  using fast = kernel_for<detail::affine_map_fn, simd>;
  using slow = kernel_for<detail::affine_map_fn, reference>;
  static_assert(std::same_as<typename fast::template packed<T, 27, In, Out>, nothing>);
  auto const weight = std::make_unique<tensor<T, shape<Out, In>>>();
  auto const x = std::make_unique<tensor<T, S>>();
  auto bias = tensor<T, shape<Out>>{};
  test::fill(*weight, 1);
  test::fill(bias, 2);
  test::fill(*x, 3);
  auto const compared = [&](auto const& stored, tensor<T, shape<Out, In>> const& widened) {
    auto none = nothing{};
    for (auto const n : {1U, 2U, 3U, 4U, 27U}) {
      INFO(In << " to " << Out << ", " << n << " rows");
      auto const want = std::make_unique<tensor<T, R>>();
      auto const y = std::make_unique<tensor<T, R>>();
      auto const at = as_const(x->sized(n));
      slow::run(at, widened, bias.data(), want->sized(n), none);
      fast::run(at, stored, bias.data(), y->sized(n), none);
      CHECK(std::memcmp(y->values, want->values, n * Out * sizeof(T)) == 0);
    }
  };
  if constexpr (std::same_as<T, Stored>) compared(*weight, *weight);
  auto const checked = [&](auto stored) {
    stored->pack(weights_of<T>(*weight));
    auto const widened = std::make_unique<tensor<T, shape<Out, In>>>();
    for (auto i = std::size_t{0}; i < widened->size(); ++i)
      widened->data()[i] = stored->numbers().at(i / In, i % In);
    compared(*stored, *widened);
  };
  if constexpr (not std::same_as<T, Stored>)
    checked(std::make_unique<compact_matrix<T, shape<Out, In>, simd, Stored>>());
  checked(std::make_unique<packed_matrix<T, shape<Out, In>, simd, Stored>>());
}

}  // namespace

TEST_CASE("affine_map: large weights have the bits of the reference, however they are stored") {
  large_weights<float, float, 1030, 260>();
  large_weights<float, float, 40001, 7>();
  large_weights<float, float, 5, 60001>();
  large_weights<double, double, 523, 257>();
  large_weights<float, bf16, 1030, 260>();
  large_weights<float, std::int8_t, 1030, 260>();
  large_weights<double, f16, 523, 257>();
  large_weights<float, bf16, 40001, 7>();
}

namespace {

/// The slopes of two maps with one dy, at once, from what is there.
template <class Backend, class T, std::size_t Rows, std::size_t In, std::size_t Other,
          std::size_t Out>
struct slopes_of_two {
  tensor<T, shape<Rows, In>, Backend> x;
  tensor<T, shape<Rows, Other>, Backend> other_x;
  tensor<T, shape<Rows, Out>, Backend> dy;
  std::vector<T> weight = std::vector<T>(Out * In);
  std::vector<T> bias = std::vector<T>(Out);
  std::vector<T> other_weight = std::vector<T>(Out * Other);
  std::vector<T> other_bias = bias;

  slopes_of_two() {
    test::fill(x, 1);
    test::fill(other_x, 2);
    test::fill(dy, 3);
    for (auto* v : {&weight, &bias, &other_weight, &other_bias})
      test::fill(v->data(), v->size(), 4);
  }
  /// Without what `missing` says: a weight or a bias, of the first map or of the other.
  void compute(std::size_t missing) {
    auto const of = [&](std::size_t which, std::vector<T>& v) {
      return which == missing ? nullptr : v.data();
    };
    affine_map_parameters(as_const(x), as_const(other_x), as_const(dy), of(0, weight), of(1, bias),
                          of(2, other_weight), of(3, other_bias));
  }
};
template <class T, std::size_t Rows, std::size_t In, std::size_t Other, std::size_t Out>
void two_maps() {
  for (auto missing = std::size_t{0}; missing < 5; ++missing) {
    INFO(Rows << " rows, " << In << " and " << Other << " to " << Out << ", without " << missing);
    auto const fast = std::make_unique<slopes_of_two<simd, T, Rows, In, Other, Out>>();
    auto const slow = std::make_unique<slopes_of_two<reference, T, Rows, In, Other, Out>>();
    fast->compute(missing);
    slow->compute(missing);
    CHECK(fast->weight == slow->weight);
    CHECK(fast->bias == slow->bias);
    CHECK(fast->other_weight == slow->other_weight);
    CHECK(fast->other_bias == slow->other_bias);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("affine_map: slopes of two maps with one dy have the bits of the reference", "",
                   float, double) {
  using T = TestType;
  two_maps<T, 3, 4, 5, 6>();
  two_maps<T, 700, 37, 1, 400>();   // three blocks of rows; the second is narrow
  two_maps<T, 700, 1, 37, 400>();   // or the first
  two_maps<T, 257, 70, 80, 600>();  // two blocks, of 136 and 121 rows
  two_maps<T, 140, 70, 80, 37>();   // in place
}
