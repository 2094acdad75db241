// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE("attention: on cuda up to rounding, for random heads", "", float, double) {
  using T = TestType;
  auto r = torch_generator(4);
  auto const work = std::make_unique<
      typename kernel_for<detail::attention_fn, reference>::template workspace<T, 150, 150>>();
  auto worst = 0.0;
  for (auto round = 0; round < 24; ++round) {
    auto const causal = round % 2 == 0;
    auto const queries = std::size_t{1} + r.randint(60);
    auto const before = causal ? std::size_t{r.randint(60)} : 0;
    auto const keys = causal ? before + queries : std::size_t{1} + r.randint(120);
    auto const width = round % 4 == 0 ? std::size_t{60} + r.randint(90) : 1 + r.randint(64);
    auto const sharing = std::size_t{1} + r.randint(3);
    auto const groups = std::size_t{1} + r.randint(2);
    auto const lanes = std::size_t{1} + r.randint(2);
    auto const heads = groups * sharing;
    auto const numbers = [&](std::size_t n) {
      auto v = std::vector<T>(n);
      for (auto& x : v) x = static_cast<T>(2 * r.rand<double>() - 1);
      return v;
    };
    // Times outside, lanes and heads inside.
    auto const q_row = lanes * heads * width;
    auto const kv_row = lanes * groups * width;
    auto const q = numbers(queries * q_row);
    auto k = numbers(keys * kv_row);
    auto v = numbers(keys * kv_row);
    auto const dy = numbers(queries * q_row);
    auto const lengths =
        std::vector<T>{static_cast<T>(r.randint(static_cast<std::uint32_t>(keys) + 1)),
                       static_cast<T>(round % 3 == 0 ? 0 : keys)};
    auto const has_lengths = round % 4 < 2;
    for (auto at = std::size_t{0}; has_lengths && at < k.size(); ++at)
      if (static_cast<T>(at / kv_row) >= lengths[at / (groups * width) % lanes])
        k[at] = v[at] = NAN;
    auto const all_heads =
        detail::attention_heads<T>{.first = {.queries = queries,
                                             .keys = keys,
                                             .width = width,
                                             .q_row = q_row,
                                             .kv_row = kv_row,
                                             .out = q_row,
                                             .sum = lanes * heads,
                                             .before = before,
                                             .causal = causal,
                                             .scale = T{0.3F},
                                             .q = q.data(),
                                             .k = k.data(),
                                             .v = v.data()},
                                   .lanes = lanes,
                                   .heads = heads,
                                   .sharing = sharing,
                                   .q_lane = heads * width,
                                   .kv_lane = groups * width,
                                   .out_lane = heads * width,
                                   .sum_lane = heads,
                                   .lengths = has_lengths ? lengths.data() : nullptr};
    struct results {
      std::vector<T> y, sums, dq, dk, dv, weights;
    };
    auto const run = [&]<class Backend>(Backend) {
      auto result = results{q, std::vector<T>(queries * lanes * heads),       q, k,
                            v, std::vector<T>(queries * lanes * heads * keys)};
      scaled_dot_product_attention.forward<Backend>(all_heads, result.y.data(), result.sums.data(),
                                                    *work);
      scaled_dot_product_attention.backward<Backend, T>(
          all_heads,
          {result.y.data(), dy.data(), result.sums.data(), result.dq.data(), result.dk.data(),
           result.dv.data()},
          *work);
      scaled_dot_product_attention.weights<Backend, T>(all_heads, result.sums.data(),
                                                       result.weights.data());
      return result;
    };
    auto const a = run(cuda{});
    auto const b = run(reference{});
    auto const note = [&](std::vector<T> const& x, std::vector<T> const& want) {
      for (auto i = std::size_t{0}; i < x.size(); ++i) {
        if (x[i] == want[i]) continue;  // of lanes without keys they are not finite
        auto const d = std::abs(static_cast<double>(x[i]) - static_cast<double>(want[i]));
        worst = test::larger(worst, d);
      }
    };
    note(a.y, b.y);
    note(a.sums, b.sums);
    note(a.dq, b.dq);
    note(a.dk, b.dk);
    note(a.dv, b.dv);
    note(a.weights, b.weights);
  }
  CHECK(worst < (sizeof(T) == 4 ? 2e-5 : 1e-13));
}
TEMPLATE_TEST_CASE("attention: scores of -inf alone give NaN, no keys give zeros", "", cuda,
                   reference) {
  constexpr auto keys = std::size_t{70};  // of several tiles
  constexpr auto width = std::size_t{4};
  auto const q = std::vector<float>(2 * width, 1e20F);
  auto k = std::vector<float>(keys * width, -1e20F);
  auto const v = std::vector<float>(keys * width, 2.0F);
  auto const work = std::make_unique<
      typename kernel_for<detail::attention_fn, reference>::template workspace<float, keys, 4>>();
  auto const run = [&](float length) {
    auto const lengths = std::vector<float>{length};
    auto const heads = detail::attention_heads<float>{.first = {.queries = 2,
                                                                .keys = keys,
                                                                .width = width,
                                                                .q_row = width,
                                                                .kv_row = width,
                                                                .out = width,
                                                                .sum = 1,
                                                                .before = 0,
                                                                .causal = false,
                                                                .scale = 0.5F,
                                                                .q = q.data(),
                                                                .k = k.data(),
                                                                .v = v.data()},
                                                      .lanes = 1,
                                                      .heads = 1,
                                                      .sharing = 1,
                                                      .q_lane = 0,
                                                      .kv_lane = 0,
                                                      .out_lane = 0,
                                                      .sum_lane = 0,
                                                      .lengths = lengths.data()};
    auto result = std::vector<float>(2 * width + 2);
    scaled_dot_product_attention.forward<TestType>(heads, result.data(), result.data() + 2 * width,
                                                   *work);
    return result;
  };
  for (auto const number : run(keys)) CHECK(std::isnan(number));
  auto const of_none = run(0);
  for (auto i = std::size_t{0}; i < 2 * width; ++i) CHECK(of_none[i] == 0);
  CHECK(of_none[2 * width] == -std::numeric_limits<float>::infinity());
  std::fill(k.end() - width, k.end(), 0.0F);
  CHECK(run(keys) == std::vector<float>{2, 2, 2, 2, 2, 2, 2, 2, 0, 0});
}
