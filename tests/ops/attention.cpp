// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include <thread>
#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE("attention: the bits of the reference, for random heads", "", float, double) {
  using T = TestType;
  using fast = kernel_for<detail::attention_fn, simd>;
  using slow = kernel_for<detail::attention_fn, reference>;
  auto const a = std::make_unique<typename fast::template workspace<T, 150, 20>>();
  auto const b = std::make_unique<typename slow::template workspace<T, 150, 20>>();
  auto r = torch_generator(1);
  for (auto round = 0; round < 40; ++round) {
    auto const causal = round % 2 == 0;
    auto const queries = std::size_t{1} + r.randint(60);
    auto const before = causal ? std::size_t{r.randint(60)} : 0;
    auto const keys = causal ? before + queries : std::size_t{1} + r.randint(150);
    auto const width = std::size_t{1} + r.randint(20);
    auto const row = width + r.randint(9);
    auto const out = width + r.randint(9);
    auto const rows = std::max(queries, keys);
    auto memory = std::vector<T>(rows * row * 3 + rows * out * 2);
    for (auto& x : memory) x = static_cast<T>(2 * r.rand<double>() - 1);
    auto const* const q = memory.data();
    auto const* const dy = q + 3 * rows * row;
    auto const unseen =
        round % 5 < 2 ? std::size_t{r.randint(static_cast<std::uint32_t>(keys) + 1)} : 0;
    auto const head = detail::attention_head<T>{.queries = queries,
                                                .keys = keys,
                                                .width = width,
                                                .q_row = row,
                                                .kv_row = row,
                                                .out = out,
                                                .sum = 1,
                                                .before = before,
                                                .causal = causal,
                                                .scale = T{0.3F},
                                                .q = q,
                                                .k = q + rows * row,
                                                .v = q + 2 * rows * row,
                                                .unseen = unseen};
    auto y = std::vector<T>(queries * out);
    auto y_want = y;
    auto sums = std::vector<T>(queries);
    auto sums_want = sums;
    INFO("queries " << queries << ", keys " << keys << " but " << unseen << ", width " << width);
    fast::forward(head, y.data(), sums.data(), *a);
    slow::forward(head, y_want.data(), sums_want.data(), *b);
    CHECK(test::same_bits(y, y_want));
    CHECK(test::same_bits(sums, sums_want));
    auto d = std::vector<T>(3 * rows * row);
    auto d_want = d;
    auto const slopes = [&](std::vector<T>& to) {
      return detail::attention_slopes<T>{.y = y_want.data(),
                                         .dy = dy,
                                         .log_sum = sums_want.data(),
                                         .dq = to.data(),
                                         .dk = to.data() + rows * row,
                                         .dv = to.data() + 2 * rows * row,
                                         .adds = round % 3 == 0};
    };
    fast::backward(head, slopes(d), *a);
    slow::backward(head, slopes(d_want), *b);
    CHECK(test::same_bits(d, d_want));
  }
}
TEST_CASE("attention: one query at a time gives the bits of all") {
  using run = kernel_for<detail::attention_fn, simd>;
  auto const work = std::make_unique<run::workspace<float, 70, 12>>();
  auto memory = std::vector<float>(70 * 36);
  test::fill(memory.data(), memory.size(), 1);
  auto const* const q = memory.data();
  auto const whole = detail::attention_head<float>{.queries = 70,
                                                   .keys = 70,
                                                   .width = 12,
                                                   .q_row = 36,
                                                   .kv_row = 36,
                                                   .out = 12,
                                                   .sum = 1,
                                                   .before = 0,
                                                   .causal = true,
                                                   .scale = 0.5F,
                                                   .q = q,
                                                   .k = q + 12,
                                                   .v = q + 24};
  auto y = std::vector<float>(70 * 12);
  auto one = y;
  run::forward(whole, y.data(), static_cast<float*>(nullptr), *work);
  for (auto t = std::size_t{0}; t < 70; ++t) {
    auto step = whole;
    step.queries = 1;
    step.keys = t + 1;
    step.before = t;
    step.q = q + t * 36;
    run::forward(step, one.data() + t * 12, static_cast<float*>(nullptr), *work);
  }
  CHECK(test::same_bits(y, one));
}

TEMPLATE_TEST_CASE("attention: heads that share keys give the bits of the reference", "", float,
                   double) {
  using T = TestType;
  constexpr auto most = std::size_t{70};
  using heads = detail::attention_heads<T>;
  auto const fast =
      std::make_unique<kernel_for<detail::attention_fn, simd>::workspace<T, most, 64>>();
  auto const slow =
      std::make_unique<kernel_for<detail::attention_fn, reference>::workspace<T, most, 64>>();
  for (auto const sharing : {1U, 2U, 3U, 4U, 5U, 9U, 60U})
    for (auto const width : {4U, 20U, 64U})
      for (auto const keys : {1U, 7U, 17U, 70U})
        for (auto const queries : {1U, 2U})
          for (auto const has_lengths : {false, true}) {
            INFO("sharing " << sharing << ", width " << width << ", keys " << keys << ", queries "
                            << queries << ", lengths " << has_lengths);
            constexpr auto lanes = std::size_t{2};
            auto const kv_heads = std::size_t{2};
            auto const q_row = kv_heads * sharing * width;
            auto const kv_row = kv_heads * width + 3;
            auto q = std::vector<T>(lanes * queries * q_row);
            auto kv = std::vector<T>(2 * lanes * keys * kv_row);
            test::fill(q.data(), q.size(), sharing);
            test::fill(kv.data(), kv.size(), width);
            T const lengths[lanes] = {static_cast<T>(keys), static_cast<T>(keys / 2 + 1)};
            auto const every = heads{.first = {.queries = queries,
                                               .keys = keys,
                                               .width = width,
                                               .q_row = q_row,
                                               .kv_row = kv_row,
                                               .out = q_row,
                                               .sum = kv_heads * sharing,
                                               .before = keys > queries ? keys - queries - 1 : 0,
                                               .causal = true,
                                               .scale = T{0.25F},
                                               .q = q.data(),
                                               .k = kv.data(),
                                               .v = kv.data() + lanes * keys * kv_row},
                                     .lanes = lanes,
                                     .heads = kv_heads * sharing,
                                     .sharing = sharing,
                                     .q_lane = queries * q_row,
                                     .kv_lane = keys * kv_row,
                                     .out_lane = queries * q_row,
                                     .sum_lane = queries * kv_heads * sharing,
                                     .lengths = has_lengths ? lengths : nullptr};
            auto const run = [&]<class B>(B, auto& work) {
              auto y = std::vector<T>(q.size() + q.size() / width);
              detail::attention_fn::forward<B, T>(every, y.data(), y.data() + q.size(), work);
              return y;
            };
            CHECK(test::same_bits(run(simd{}, *fast), run(reference{}, *slow)));
          }
}

namespace {

/// Five threads, one for each task; counts the tasks.
struct five_threads {
  std::size_t tasks = 0;
  detail::sharing_team team{
      5, this, [](void* self, std::size_t count, void* task, void (*call)(void*, std::size_t)) {
        static_cast<five_threads*>(self)->tasks += count;
        auto threads = std::vector<std::thread>{};
        for (auto i = std::size_t{0}; i < count; ++i) threads.emplace_back(call, task, i);
        for (auto& one : threads) one.join();
      }};

  five_threads() { detail::current_team = &team; }
  ~five_threads() { detail::current_team = nullptr; }
  five_threads(five_threads const&) = delete;
  auto operator=(five_threads const&) -> five_threads& = delete;
};

/// Two sequences of which each query sees almost 1000 keys: six heads, two of them with one's keys.
template <class K> struct two_sequences {
  static constexpr auto keys = std::size_t{1000};
  static constexpr auto width = std::size_t{64};
  using run = kernel_for<detail::attention_fn, simd>;

  std::size_t queries;
  std::vector<float> memory = std::vector<float>(2 * (queries * 6 + keys * 6) * width);
  std::vector<K> stored{};
  std::vector<float> y = std::vector<float>(2 * queries * 6 * (width + 1));
  std::unique_ptr<run::workspace<float, keys, width>> work =
      std::make_unique<run::workspace<float, keys, width>>();

  void forward() {
    auto const* from = memory.data();
    auto* to = y.data();
    stored = std::vector<K>(memory.begin(), memory.end());
    detail::attention_fn::forward_each<simd, float, K>(
        [&, from, to](auto const& take) {
          for (auto s = std::size_t{0}; s < 2; ++s) {
            auto const* const q = from + s * (memory.size() / 2);
            auto const* const k = stored.data() + (q - from) + queries * 6 * width;
            auto const seen = keys - 7 * s;
            auto const first = detail::attention_head<float, K>{.queries = queries,
                                                                .keys = seen,
                                                                .width = width,
                                                                .q_row = 6 * width,
                                                                .kv_row = 6 * width,
                                                                .out = 6 * width,
                                                                .sum = 6,
                                                                .before = seen - queries,
                                                                .causal = true,
                                                                .scale = 0.1F,
                                                                .q = q,
                                                                .k = k,
                                                                .v = k + 3 * width};
            auto* const of_sequence = to + s * (y.size() / 2);
            take(detail::attention_heads<float, K>{first, 1, 6, 2, 0, 0, 0, 0}, of_sequence,
                 of_sequence + queries * 6 * width);
          }
        },
        *work);
  }
};

}  // namespace

TEMPLATE_TEST_CASE(
    "attention: heads of several sequences are shared by threads, with the same bits", "", float,
    f16) {
  for (auto const queries : {1U, 3U, 50U}) {
    auto calls = two_sequences<TestType>{queries};
    test::fill(calls.memory.data(), calls.memory.size(), queries);
    calls.forward();
    auto const alone = std::exchange(calls.y, std::vector<float>(calls.y.size()));
    auto team = five_threads{};
    calls.forward();
    CHECK(team.tasks == (queries <= two_sequences<TestType>::run::few ? 5 : 2));
    CHECK(test::same_bits(calls.y, alone));
  }
}
