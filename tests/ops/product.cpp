// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

TEST_CASE(
    "product: the bits of a plain loop on every backend, around the tile and in either layout") {
  auto r = torch_generator(1);
  for (auto const rows : {1, 31, 33})
    for (auto const columns : {1, 32, 65})
      for (auto const depth : {0, 1, 32, 70})
        for (auto const turned : {false, true})
          for (auto const from : {device::start::zero, device::start::bias, device::start::y,
                                  device::start::y_last}) {
            auto const n = static_cast<std::size_t>(rows);
            auto const m = static_cast<std::size_t>(columns);
            auto const k = static_cast<std::size_t>(depth);
            auto const numbers = [&](std::size_t count) {
              auto v = std::vector<float>(count);
              r.uniform(v.data(), count, -1, 1);
              return v;
            };
            auto const a = numbers(n * k);
            auto const b = numbers(k * m);
            auto const bias = numbers(m);
            auto y = numbers(n * m);
            auto const start = y;
            auto want = y;
            auto const a_row = turned ? 1 : k;
            auto const a_column = turned ? n : 1;
            auto const b_row = turned ? 1 : m;
            auto const b_column = turned ? k : 1;
            for (auto i = std::size_t{0}; i < n; ++i)
              for (auto j = std::size_t{0}; j < m; ++j) {
                auto sum = from == device::start::y      ? y[i * m + j]
                           : from == device::start::bias ? bias[j]
                                                         : 0.0F;
                for (auto l = std::size_t{0}; l < k; ++l)
                  sum = lane::fma(a[i * a_row + l * a_column], b[l * b_row + j * b_column], sum);
                want[i * m + j] = from == device::start::y_last ? y[i * m + j] + sum : sum;
              }
            device::multiply(device::product<float>{n,
                                                    m,
                                                    k,
                                                    {a.data(), a_row, a_column},
                                                    {b.data(), b_row, b_column},
                                                    y.data(),
                                                    m,
                                                    from,
                                                    bias.data()});
            INFO(rows << " by " << columns << " by " << depth << (turned ? ", turned" : ""));
            CHECK(y == want);
            if (from == device::start::bias) continue;
            auto const on = [&]<class Backend>(Backend) {
              auto c = start;
              detail::multiply<Backend>(
                  detail::matrix_product<float>{.rows = n,
                                                .columns = m,
                                                .depth = k,
                                                .a = {a.data(), a_row, a_column},
                                                .b = {b.data(), b_row, b_column},
                                                .c = c.data(),
                                                .c_row = m,
                                                .adds = from == device::start::y,
                                                .adds_last = from == device::start::y_last});
              return c;
            };
            CHECK(on(reference{}) == want);
            CHECK(on(simd{}) == want);
            CHECK(on(cuda{}) == want);
          }
}
TEMPLATE_TEST_CASE("product: vectors have the bits of the reference beyond ordinary numbers", "",
                   float, double) {
  using T = TestType;
  auto r = torch_generator(2);
  for (auto round = 0; round < 80; ++round) {
    auto const rows = std::size_t{1} + r.randint(round % 4 == 0 ? 300 : 40);
    auto const columns = std::size_t{1} + r.randint(round % 3 == 0 ? 7 : 150);
    auto const depth = std::size_t{1} + r.randint(round % 5 == 0 ? 400 : 60);
    auto const a_turned = r.randint(2) == 1;
    auto const b_turned = r.randint(2) == 1;
    auto const numbers = [&](std::size_t n, std::size_t extremes) {
      auto v = std::vector<T>(n);
      r.uniform(v.data(), n, -1, 1);
      test::put_extremes(v.data(), n, extremes, r);
      return v;
    };
    auto const a = numbers(rows * depth, 3);
    auto const b = numbers(depth * columns, 3);
    auto const start = numbers(rows * columns, 9);
    auto const start_of_sums = numbers(rows, 1);
    auto const start_kind = r.randint(3);
    auto const run = [&](auto kernel) {
      auto c = start;
      auto sums = start_of_sums;
      decltype(kernel)::run(
          detail::matrix_product<T>{.rows = rows,
                                    .columns = columns,
                                    .depth = depth,
                                    .a = {a.data(), a_turned ? 1 : depth, a_turned ? rows : 1},
                                    .b = {b.data(), b_turned ? 1 : columns, b_turned ? depth : 1},
                                    .c = c.data(),
                                    .c_row = columns,
                                    .adds = start_kind == 1,
                                    .adds_last = start_kind == 2});
      decltype(kernel)::add_rows(depth, rows, a.data(), sums.data());
      c.insert(c.end(), sums.begin(), sums.end());
      return c;
    };
    INFO(rows << " by " << columns << " by " << depth);
    CHECK(test::same_numbers(run(kernel_for<detail::product_fn, simd>{}),
                             run(kernel_for<detail::product_fn, reference>{})));
  }
}

namespace {

/// Products by the reference, counted; the rest of simd's kernel stays or is deleted.
struct counts {
  using fallback = simd;
  static inline auto products = 0;
};

}  // namespace
namespace tessera {
template <>
struct kernel_for<operation::matrix_product, counts> : kernel_for<operation::matrix_product, simd> {
  template <class T, class Stored> static void run(detail::matrix_product<T, Stored> const& p) {
    ++counts::products;
    kernel_for<operation::matrix_product, reference>::run(p);
  }
  static void run_with_sums(auto const&, auto*) = delete;
  static void run_in_runs(auto const&, auto const&, auto const&) = delete;
};
}  // namespace tessera

namespace {

/// Rows in two runs and a depth in three, with room between them.
struct in_runs {
  std::vector<float> a = std::vector<float>(200);
  std::vector<float> b = std::vector<float>(200);
  std::vector<float> c = std::vector<float>(100);
  detail::matrix_product<float> p{.rows = 4,
                                  .columns = 5,
                                  .depth = 6,
                                  .a = {a.data(), 2, 1},
                                  .b = {b.data(), 5, 1},
                                  .c = c.data(),
                                  .c_row = 6,
                                  .adds = true};
  detail::product_runs rows{.length = 2, .a = 50, .other = 20};
  detail::product_runs depth{.length = 2, .a = 7, .other = 11};

  in_runs() {
    auto r = torch_generator(3);
    for (auto* v : {&a, &b, &c}) r.uniform(v->data(), v->size(), -1, 1);
  }
  template <class Backend> auto result() {
    detail::multiply_in_runs<Backend>(p, rows, depth);
    return c;
  }
};

}  // namespace

TEST_CASE("product: in runs, a product for each in turn") {
  auto want = in_runs{};
  for (auto row = std::size_t{0}; row < 4; ++row)
    for (auto k = std::size_t{0}; k < 6; ++k)
      for (auto i = std::size_t{0}; i < 5; ++i) {
        auto& c = want.c[row / 2 * 20 + row % 2 * 6 + i];
        c = lane::fma(want.a[row / 2 * 50 + row % 2 * 2 + k / 2 * 7 + k % 2],
                      want.b[k / 2 * 11 + k % 2 * 5 + i], c);
      }
  CHECK(in_runs{}.result<reference>() == want.c);
  CHECK(in_runs{}.result<cuda>() == want.c);
  CHECK(in_runs{}.result<simd>() == want.c);
}
TEST_CASE("product: in runs of the depth that go backward in A, by rows or by columns") {
  for (auto const by_columns : {false, true}) {
    auto const made = [&] {
      auto one = in_runs{};
      one.p.rows = 40;
      one.p.columns = 2;
      one.a.resize(300);
      one.p.a = by_columns ? weight_matrix<float>{one.a.data(), 1, 40}
                           : weight_matrix<float>{one.a.data(), 6, 1};
      one.rows = {};
      auto const run = by_columns ? std::size_t{80} : std::size_t{2};
      one.depth = {.length = 2, .a = std::size_t{0} - run, .other = 10, .first = 2 * run};
      one.p.c_row = 2;
      return one;
    };
    auto want = made();
    for (auto row = std::size_t{0}; row < 40; ++row)
      for (auto k = std::size_t{0}; k < 6; ++k)
        for (auto i = std::size_t{0}; i < 2; ++i) {
          auto const step = (2 - k / 2) * 2 + k % 2;
          auto& c = want.c[row * 2 + i];
          c = lane::fma(want.a[by_columns ? row + step * 40 : row * 6 + step],
                        want.b[k / 2 * 10 + k % 2 * 5 + i], c);
        }
    INFO(by_columns);
    CHECK(made().result<reference>() == want.c);
    CHECK(made().result<cuda>() == want.c);
    CHECK(made().result<simd>() == want.c);
  }
}
TEST_CASE("product: in runs, what does not add as it comes is refused") {
  auto other = in_runs{};
  other.p.adds = false;
  CHECK_THROWS_WITH(other.result<simd>(), Catch::Contains("added as it comes"));
  other.p.adds = other.p.adds_last = true;
  CHECK_THROWS_WITH(other.result<reference>(), Catch::Contains("added as it comes"));
}
TEST_CASE(
    "product: a kernel that derives from another has all products where it deletes the rest") {
  counts::products = 0;
  auto const want = in_runs{}.result<reference>();
  CHECK(in_runs{}.result<counts>() == want);
  CHECK(counts::products == 6);
  auto const x = tensor<float, shape<4, 3>, counts>{{1, 2, 3}};
  auto const dy = tensor<float, shape<4, 2>, counts>{{2, 3, 4, 5}};
  float dweight[6] = {};
  float dbias[2] = {};
  affine_map_parameters(as_const(x), as_const(dy), dweight, dbias);
  CHECK(counts::products == 7);
  CHECK(dweight[2] == 6);
  CHECK(dbias[0] == 6);
  float other_dweight[6] = {};
  float other_dbias[2] = {};
  affine_map_parameters(as_const(x), as_const(x), as_const(dy), dweight, dbias, other_dweight,
                        other_dbias);
  CHECK(counts::products == 9);
  CHECK(dweight[2] == 12);
  CHECK(other_dweight[2] == 6);
  CHECK(other_dbias[0] == 6);
}

namespace {

/// The slopes of parameters of two layers in both directions, one after the other.
template <class Backend> auto slopes_of_layers() -> std::vector<float> {
  using layers = lstm<3, 5, lstm_options{.layers = 2, .bidirectional = true}>;
  using X = tensor<float, shape<7, 2, 3>, Backend>;
  auto const pass = std::make_unique<differentiation<layers, X>>();
  auto const p = std::make_unique<parameters_of<layers, owned<float, Backend>>>();
  auto x = X{};
  test::fill_parameters(*p, 1);
  test::fill(x, 3);
  *pass = {};
  pass->dy = pass->forward(*p, x);
  pass->backward(*p, x);
  auto result = std::vector<float>{};
  for_each_parameter(
      [&](path_name const&, auto const& slope) {
        result.insert(result.end(), slope.data(), slope.data() + slope.size());
      },
      pass->gradient);
  return result;
}

}  // namespace

TEST_CASE("product: slopes of a cell have the same bits where both are taken at once") {
  static_assert(affine_map_parameters.reads_once<float, simd>);
  static_assert(not affine_map_parameters.reads_once<float, counts>);
  CHECK(slopes_of_layers<simd>() == slopes_of_layers<counts>());
}
