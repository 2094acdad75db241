// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

TEST_CASE("lanes: n elements are read and written, and nothing beyond them") {
  constexpr auto width = tessera::whole_lanes<float>::width;
  for (auto n = std::size_t{0}; n <= 3 * width + 1; ++n) {
    auto from = std::vector<float>(n);  // the sanitizer watches its ends
    auto to = std::vector<float>(n + 2, -1.0F);
    for (auto i = std::size_t{0}; i < n; ++i) from[i] = static_cast<float>(i) + 0.5F;
    auto seen = std::size_t{0};
    for_each_vector<float>(n, [&](auto lanes, std::size_t i) {
      lanes.store(to.data() + 1 + i, lanes.load(from.data() + i));
      seen += lanes.count();
    });
    CHECK(seen == n);
    CHECK(to.front() == -1.0F);
    CHECK(to.back() == -1.0F);
    CHECK(std::equal(from.begin(), from.end(), to.begin() + 1));
  }
}
TEMPLATE_TEST_CASE("lanes: stores past the caches write n elements, from any place on", "", float,
                   double) {
  using T = TestType;
  constexpr auto line = 64 / sizeof(T);
  auto memory = std::vector<T>(8 * line);
  for (auto begin = std::size_t{0}; begin < 2 * line; ++begin)
    for (auto n = std::size_t{0}; n <= 5 * line; ++n) {
      std::fill(memory.begin(), memory.end(), T{-1});
      auto* const to = memory.data() + begin;
      auto seen = std::size_t{0};
      for_each_vector_nontemporal<T>(to, n, [&](auto lanes, std::size_t i) {
        CHECK(seen == i);
        lanes.store(to + i, lane::pack<T>(static_cast<T>(i)));
        seen += lanes.count();
      });
      lane::nontemporal_end();
      auto right = seen == n;
      for (auto i = std::size_t{0}; i < memory.size(); ++i)
        right = right && (memory[i] == T{-1}) == (i < begin || i >= begin + n);
      CHECK(right);
    }
}
TEST_CASE("lanes: a gather reads every stride-th element") {
  constexpr auto width = tessera::whole_lanes<double>::width;
  for (auto n = std::size_t{1}; n < width; ++n) {
    auto from = std::vector<double>(3 * (n - 1) + 1);
    for (auto i = std::size_t{0}; i < from.size(); ++i) from[i] = static_cast<double>(i);
    auto const v = tessera::first_lanes<double>{n}.gather(from.data(), 3);
    for (auto i = std::size_t{0}; i < n; ++i)
      CHECK(tessera::whole_lanes<double>::at(v, i) == static_cast<double>(3 * i));
  }
}
TEST_CASE("lanes: half-precision storage is computed in float") {
  auto const from = std::array{f16{1.5F}, f16{-0.25F}, f16{1024.0F}};
  float to[3];
  auto const lanes = tessera::first_lanes<float>{3};
  lanes.store(to, lanes.load(from.data()));
  CHECK(to[0] == 1.5F);
  CHECK(to[2] == 1024.0F);
  bf16 back[3];
  lanes.store(back, lanes.load(to));
  CHECK(static_cast<float>(back[1]) == -0.25F);
}
