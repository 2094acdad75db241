// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE("conv1d: the bits of the reference, for random geometries", "", float, double) {
  using T = TestType;
  using fast = kernel_for<detail::conv1d_fn, simd>;
  using slow = kernel_for<detail::conv1d_fn, reference>;
  auto const packed = std::make_unique<fast::packed<T, 40 * 40>>();
  auto none = nothing{};
  auto r = torch_generator(1);
  for (auto round = 0; round < 60; ++round) {
    auto const groups = std::size_t{1} + r.randint(3);
    auto g = detail::conv1d_geometry{};
    g.groups = groups;
    g.in = groups * (1 + r.randint(12));
    g.out = groups * (1 + r.randint(12));
    g.kernel = 1 + r.randint(4);
    g.stride = 1 + r.randint(3);
    g.dilation = 1 + r.randint(3);
    auto const remembers = round % 2 == 0 && g.stride == 1;
    g.before = remembers ? (g.kernel - 1) * g.dilation : r.randint(4);
    g.rows = 1 + r.randint(4);
    g.time = (g.kernel - 1) * g.dilation + 1 + r.randint(15);
    g.out_time = remembers
                     ? g.time
                     : (g.time + 2 * g.before - (g.kernel - 1) * g.dilation - 1) / g.stride + 1;
    auto const numbers = [&](std::size_t n) {
      auto v = std::vector<T>(n);
      for (auto& x : v) x = static_cast<T>(2 * r.rand<double>() - 1);
      return v;
    };
    auto const x = numbers(g.time * g.rows * g.in);
    auto const past = numbers(g.before * g.rows * g.in + 1);
    auto const weight = numbers(g.out * g.group_in() * g.kernel);
    auto const seen = g.group_in() * g.kernel;
    auto const rows = weight_matrix<T>{weight.data(), seen, 1};
    auto const bias = numbers(g.out);
    auto const dy = numbers(g.out_time * g.rows * g.out);
    auto const* const before = remembers ? past.data() : nullptr;
    auto y = std::vector<T>(dy.size());
    auto y_want = y;
    INFO("in " << g.in << ", out " << g.out << ", kernel " << g.kernel << ", time " << g.time);
    fast::forward(g, x.data(), before, rows, bias.data(), y.data(), *packed);
    slow::forward(g, x.data(), before, rows, bias.data(), y_want.data(), none);
    CHECK(test::same_bits(y, y_want));
    auto const eight = test::eight_bits<T>(g.out, seen, r);
    auto const widened = eight.widened();
    slow::forward(g, x.data(), before, weight_matrix<T>{widened.data(), seen, 1}, bias.data(),
                  y_want.data(), none);
    auto const same = [&](auto run, auto const& stored, auto& memory) {
      run.forward(g, x.data(), before, stored, bias.data(), y.data(), memory);
      CHECK(test::same_bits(y, y_want));
    };
    same(fast{}, eight.by_rows(), *packed);
    same(fast{}, eight.by_columns(), *packed);
    same(slow{}, eight.by_columns(), none);
    same(conv1d_by_products<reference>{}, eight.by_columns(), *packed);
    same(kernel_for<detail::conv1d_fn, cuda>{}, eight.by_columns(), none);
    auto dx = std::vector<T>(x.size());
    auto dx_want = dx;
    fast::input(g, rows, dy.data(), dx.data(), *packed);
    slow::input(g, rows, dy.data(), dx_want.data(), none);
    CHECK(test::same_bits(dx, dx_want));
    slow::input(g, weight_matrix<T>{widened.data(), seen, 1}, dy.data(), dx_want.data(), none);
    fast::input(g, eight.by_columns(), dy.data(), dx.data(), *packed);
    CHECK(test::same_bits(dx, dx_want));
    auto dw = weight;
    auto dw_want = weight;
    auto db = bias;
    auto db_want = bias;
    fast::parameters(g, x.data(), before, dy.data(), dw.data(), db.data(), *packed);
    slow::parameters(g, x.data(), before, dy.data(), dw_want.data(), db_want.data(), none);
    CHECK(test::same_bits(dw, dw_want));
    CHECK(test::same_bits(db, db_want));
  }
}

TEST_CASE("conv1d: what it remembers is the end of what it saw, on every backend") {
  for (auto const time : {std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{9}}) {
    auto g = detail::conv1d_geometry{};
    g.time = time;
    g.rows = 2;
    g.in = 3;
    g.before = 4;
    auto const sample = g.rows * g.in;
    auto whole_time = std::vector<float>((g.before + time) * sample);
    for (auto i = std::size_t{0}; i < whole_time.size(); ++i) whole_time[i] = static_cast<float>(i);
    auto const past =
        std::vector<float>(whole_time.begin(), whole_time.end() - static_cast<long>(time * sample));
    auto const want =
        std::vector<float>(whole_time.end() - static_cast<long>(past.size()), whole_time.end());
    auto const* const x = whole_time.data() + past.size();
    auto const after = [&]<class Backend>(Backend) {
      auto to = past;
      kernel_for<detail::conv1d_fn, Backend>::remember(g, x, to.data());
      return to;
    };
    CHECK(after(reference{}) == want);
    CHECK(after(simd{}) == want);
    CHECK(after(cuda{}) == want);
  }
}
