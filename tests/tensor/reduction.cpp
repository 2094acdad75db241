// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

// -- contract, values by hand ---------------------------------------------------------------------
constexpr auto by_hand() -> bool {
  auto const x = tensor<float, shape<2, 3>>{{1, 2, 3, 4, 5, 9}};
  tensor<float, shape<>> const total = sum(x);
  tensor<float, shape<2>> const rows = sum(x, axis<-1>);
  tensor<float, shape<3>> const columns = max(x * 2, axis<0>);
  tensor<float, shape<2, 3>> const centered = x - mean(x, axis<1>, keepdims);
  tensor<float, shape<2, 1>> const spread = variance(x, axis<1>, keepdims);
  tensor<float, shape<1, 3>> const least = min(x, axis<0>, keepdims);
  return total.values[0] == 24 && rows[1] == 18 && columns[2] == 18 && centered(1, 2) == 3 &&
         spread(1, 0) * 3 == 14 && least(0, 1) == 2;
}
static_assert(by_hand());
TEST_CASE("reductions: by hand") { CHECK(by_hand()); }

// -- laws: against plain loops in double ----------------------------------------------------------
template <class S, std::ptrdiff_t... Axes> void against_loops() {
  auto x = tensor<double, S>{};
  test::fill(x, 1, 3);
  using R = reduced<S, true, Axes...>;
  auto sums = tensor<double, R>{};
  auto squares = tensor<double, R>{};
  auto largest = tensor<double, R>{};
  auto exponentials = tensor<double, R>{};
  auto count = 0.0;
  for (auto& v : largest) v = -1e300;
  for (auto i = std::size_t{0}; i < S::capacity; ++i) {
    auto rest = i;
    auto at = std::size_t{0};
    auto stride = std::size_t{1};
    for (auto a = S::rank; a-- > 0;) {
      auto const n = static_cast<std::size_t>(S::extents[a]);
      auto const kept = static_cast<std::size_t>(R::extents[a]);
      at += kept == 1 ? 0 : rest % n * stride;
      stride *= kept;
      rest /= n;
    }
    sums.values[at] += x.values[i];
    squares.values[at] += x.values[i] * x.values[i];
    largest.values[at] = std::max(largest.values[at], x.values[i]);
    exponentials.values[at] += std::exp(x.values[i]);
  }
  count = static_cast<double>(S::capacity) / static_cast<double>(R::capacity);
  auto const a = axis<Axes...>;
  tensor<double, R> const sum_ = sum(x, a, keepdims);
  tensor<double, R> const mean_ = mean(x, a, keepdims);
  tensor<double, R> const norm_ = norm(x, a, keepdims);
  tensor<double, R> const max_ = max(x, a, keepdims);
  tensor<double, R> const variance_ = variance(x, a, keepdims);
  tensor<double, R> const logsumexp_ = logsumexp(x, a, keepdims);
  for (auto i = std::size_t{0}; i < R::capacity; ++i) {
    CHECK(sum_.values[i] == Approx(sums.values[i]).margin(1e-11));
    CHECK(mean_.values[i] == Approx(sums.values[i] / count).margin(1e-12));
    CHECK(norm_.values[i] == Approx(std::sqrt(squares.values[i])));
    CHECK(max_.values[i] == largest.values[i]);
    auto const m = sums.values[i] / count;
    CHECK(variance_.values[i] == Approx(squares.values[i] / count - m * m).margin(1e-11));
    CHECK(logsumexp_.values[i] == Approx(std::log(exponentials.values[i])));
  }
}
TEST_CASE("reductions: along any axes") {
  against_loops<shape<1000>>();
  against_loops<shape<7, 13>, 0>();
  against_loops<shape<7, 13>, 1>();
  against_loops<shape<7, 13>, 0, 1>();
  against_loops<shape<3, 5, 70>, 0, 2>();
  against_loops<shape<3, 5, 70>, 1>();
  against_loops<shape<3, 5, 70>, -1, -2>();
  against_loops<shape<2, 3, 4, 5>, 0, 2>();
  against_loops<shape<2, 3, 4, 5>, 1, 3>();
}
namespace {

/// Many numbers to one, and what follows it, on both backends.
template <class S, std::ptrdiff_t... Axes> void bits_of_the_reference() {
  auto fast = tensor<float, S, simd>{};
  auto slow = tensor<float, S, reference>{};
  test::fill(fast, 1);
  test::fill(slow, 1);
  auto const a = axis<Axes...>;
  CHECK(test::same_bits(evaluate(sum(fast, a)), evaluate(sum(slow, a))));
  CHECK(test::same_bits(evaluate(max(fast, a)), evaluate(max(slow, a))));
  CHECK(test::same_bits(evaluate(variance(fast, a)), evaluate(variance(slow, a))));
  CHECK(test::same_bits(evaluate(fast + norm(fast, a, keepdims)),
                        evaluate(slow + norm(slow, a, keepdims))));
}

}  // namespace

TEST_CASE("reductions: axes of one element keep the order of a sum") {
  bits_of_the_reference<shape<300, 1>, 0>();
  bits_of_the_reference<shape<300, 1>, 0, 1>();
  bits_of_the_reference<shape<1, 300>, 1>();
  bits_of_the_reference<shape<30, 10, 1>, 0, 1>();
  bits_of_the_reference<shape<30, 10, 1>, 1>();
  bits_of_the_reference<shape<1, 30, 10>, 1, 2>();
}
TEMPLATE_TEST_CASE("sum: of no elements it is 0, not -0", "", reference, default_backend) {
  auto const x = tensor<float, shape<at_most(3), 5>, TestType>{};
  auto const of_columns = evaluate(sum(x.sized(0), axis<0>));
  auto const of_all = evaluate(sum(x.sized(0)));
  for (auto const& sum : of_columns) CHECK(std::bit_cast<std::uint32_t>(sum) == 0);
  CHECK(std::bit_cast<std::uint32_t>(of_all()) == 0);
}
TEST_CASE("reductions: bounded extents count what is there") {
  auto x = tensor<float, shape<at_most(8), 3>>{};
  for (auto& v : x.values) v = 1;
  tensor<float, shape<>> const all_of_it = sum(x.sized(5));
  CHECK(all_of_it.values[0] == 15);
  tensor<float, shape<3>> const average = mean(x.sized(5), axis<0>);
  CHECK(average[1] == 1);
}
TEST_CASE("reductions: overflow-safe logsumexp, NaN in a maximum") {
  auto const x = tensor<float, shape<2>>{{1000, 1000}};
  tensor<float, shape<>> const y = logsumexp(x);
  CHECK(y.values[0] == Approx(1000.6931));
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  auto const masked = tensor<float, shape<3, 2>>{{-infinity, -infinity, infinity, 1, -infinity, 2}};
  auto const rows = evaluate(logsumexp(masked, axis<-1>));
  CHECK(rows(0) == -infinity);
  CHECK(rows(1) == infinity);
  CHECK(rows(2) == 2);
  auto const z = tensor<float, shape<3>>{{1, NAN, 2}};
  CHECK(std::isnan(evaluate(max(z)).values[0]));
}
TEST_CASE("reduction: softmax sums to one, wherever the largest is") {
  auto const y = tensor<double, shape<2, 3>>{{1000, 1001, 1002, -5, 0, 5}};
  auto const s = evaluate(softmax(y, axis<-1>));
  for (auto r = std::size_t{0}; r < 2; ++r) {
    CHECK(s(r, 0) + s(r, 1) + s(r, 2) == Approx(1).epsilon(1e-13));
    auto const scale = std::exp(y(r, 0) - y(r, 2)) + std::exp(y(r, 1) - y(r, 2)) + 1;
    for (auto i = std::size_t{0}; i < 3; ++i)
      CHECK(s(r, i) == Approx(std::exp(y(r, i) - y(r, 2)) / scale).epsilon(1e-12));
  }
  auto const l = evaluate(log_softmax(y, axis<0>));
  CHECK(l(1, 2) == Approx(5 - 1002.0));
  CHECK(std::exp(l(0, 2)) == Approx(1));
}
TEMPLATE_TEST_CASE("reduction: a log_softmax keeps its digits far from zero", "", simd, reference) {
  auto const g = test::golden("loss");  // tests/reference/loss.py
  auto y = tensor<float, shape<6, 3>, TestType>{};
  test::load(y, g["far.y"]);
  auto const l = evaluate(log_softmax(y, axis<-1>));
  for (auto i = std::size_t{0}; i < l.size(); ++i)
    CHECK(l.data()[i] == Approx(g["far.log_softmax"][i]).epsilon(1e-6));
}
TEMPLATE_TEST_CASE("reductions: columns on cuda, in one part and in several", "", (shape<100, 5>),
                   (shape<129, 3>), (shape<300, 7>), (shape<20, 30, 4>)) {
  using S = TestType;
  auto const device_x = device::make<tensor<double, S, cuda>>();
  auto const x = std::make_unique<tensor<double, S, reference>>();
  test::fill(*device_x, 1);
  test::fill(*x, 1);
  auto const check = [&](auto const& on_device, auto const& wanted) {
    auto const y = device::make<tensor<double, shape_of<decltype(wanted)>, cuda>>();
    *y = on_device;
    device::synchronize();
    auto const want = evaluate(wanted);
    for (auto i = std::size_t{0}; i < want.size(); ++i)
      CHECK(y->values[i] == Approx(want.values[i]).epsilon(1e-13));
  };
  check(sum(*device_x * 2, axis<0>), sum(*x * 2, axis<0>));
  check(max(*device_x, axis<0>), max(*x, axis<0>));
  if constexpr (S::rank == 3) check(sum(*device_x, axis<0, 1>), sum(*x, axis<0, 1>));
}
TEMPLATE_TEST_CASE_SIG("reductions: of many columns, parts on cuda leave room for others", "",
                       ((std::size_t Rows, std::size_t Columns), Rows, Columns), (129, 250'000),
                       (129, 1'100'000)) {
  auto const others = device::scratch<std::byte>(device::queue::scratch_bytes / 4 * 3);
  auto const rows = device::make<tensor<double, shape<Rows, 1>, cuda>>();
  auto const columns = device::make<tensor<double, shape<1, Columns>, cuda>>();
  auto const y = device::make<tensor<double, shape<Columns>, cuda>>();
  test::fill(*rows, 1);
  test::fill(*columns, 2);
  *y = sum(*rows + *columns, axis<0>);
  device::synchronize();
  auto of_rows = 0.0;
  for (auto const x : rows->values) of_rows += x;
  auto worst = 0.0;
  for (auto c = std::size_t{0}; c < Columns; ++c)
    worst = test::larger(worst, std::abs(y->values[c] - of_rows - Rows * columns->values[c]));
  CHECK(worst < 1e-12);
}
TEST_CASE("reductions: rows are added to what is there") {
  auto r = torch_generator(3);
  for (auto const rows : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{130}}) {
    auto dy = std::vector<double>(rows * 3);
    r.uniform(dy.data(), dy.size(), -1, 1);
    auto sums = std::vector<double>{1, 2, 3};
    auto want = sums;
    for (auto i = std::size_t{0}; i < dy.size(); ++i) want[i % 3] += dy[i];
    device::add_rows(rows, std::size_t{3}, dy.data(), sums.data());
    for (auto c = std::size_t{0}; c < 3; ++c) CHECK(sums[c] == Approx(want[c]).epsilon(1e-13));
  }
}
TEST_CASE("reductions: softmax and its like hold a temporary themselves") {
  using X = tensor<float, shape<2, 3>>;
  auto const make = [] { return X{{1, 2, 3, 4, 4, 4}}; };
  auto const x = make();
  auto const same = [&](auto const& of_temporary, auto const& of_named) {
    return test::same_bits(evaluate(of_temporary), evaluate(of_named));
  };
  auto const a = softmax(make(), axis<-1>);  // its operand is gone in the next line
  auto const b = log_softmax(make(), axis<-1>);
  auto const c = logsumexp(make(), axis<-1>);
  auto const d = variance(make(), axis<-1>);
  CHECK(same(a, softmax(x, axis<-1>)));
  CHECK(same(b, log_softmax(x, axis<-1>)));
  CHECK(same(c, logsumexp(x, axis<-1>)));
  CHECK(same(d, variance(x, axis<-1>)));
}
TEST_CASE("reductions: outer axes around a kept one of extent 1 have the bits of the reference") {
  auto x = tensor<float, shape<4, 1, 8>>{};
  test::fill(x, 3);
  auto slow = tensor<float, shape<4, 1, 8>, reference>{};
  std::ranges::copy(x.values, slow.values);
  tensor<float, shape<1>> const a = sum(x, axis<0, 2>);
  tensor<float, shape<1>, reference> const b = sum(slow, axis<0, 2>);
  CHECK(a(0) == b(0));
}
TEST_CASE("reductions: maxima and minima of whole numbers, also where all are on one side of 0") {
  auto const below = tensor<std::int32_t, shape<2, 3>>{{-5, -3, -9, -7, -8, -6}};
  auto const above = tensor<std::int64_t, shape<2, 3>>{{5, 3, 9, 7, 8, 6}};
  tensor<std::int32_t, shape<>> const largest = max(below);
  tensor<std::int64_t, shape<>> const smallest = min(above);
  CHECK(largest() == -3);
  CHECK(smallest() == 3);
  tensor<std::int32_t, shape<2>> const rows = max(below, axis<1>);
  CHECK(rows(0) == -3);
  CHECK(rows(1) == -6);
  tensor<std::int64_t, shape<3>> const columns = min(above, axis<0>);
  CHECK(columns(2) == 6);
}
