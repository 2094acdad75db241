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
