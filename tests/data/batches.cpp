// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/data/batches.hpp>

#include <set>

using namespace tessera;

namespace {
/// Input and target of sample n of recording r: (100·r + n, -n) and n + 0.5.
[[nodiscard]] auto counted_samples(std::size_t lanes, std::size_t length) {
  auto all = std::make_shared<recordings>();
  for (auto r = std::size_t{0}; r < lanes; ++r) {
    auto one = recording{};
    one.inputs = xt::xtensor<float, 2>(std::array<std::size_t, 2>{length, 2});
    one.targets = xt::xtensor<float, 2>(std::array<std::size_t, 2>{length, 1});
    for (auto n = std::size_t{0}; n < length; ++n) {
      one.inputs(n, 0) = static_cast<float>(100 * r + n);
      one.inputs(n, 1) = -static_cast<float>(n);
      one.targets(n, 0) = static_cast<float>(n) + 0.5F;
    }
    all->push_back(one);
  }
  return all;
}
using X = tensor<float, shape<at_most(5), at_most(4), 2>>;
using Y = tensor<float, shape<at_most(5), at_most(4), 1>>;
}  // namespace

TEST_CASE("batches: every window once in an epoch, whatever the chunks") {
  auto const data = counted_samples(2, 11);
  for (auto const chunks : {1U, 2U, 3U}) {
    auto source = window_batches(data, windows(as_parts(*data), 3), 4, false, 1);
    source.begin(0);
    CHECK(source.size() == 5);
    auto seen = std::multiset<float>{};
    for (auto b = std::size_t{0}; b < source.size(); ++b)
      for (auto c = std::size_t{0}; c < chunks; ++c) {
        auto x = X{};
        auto y = Y{};
        auto const [vx, vy] = source.load(b, c, chunks, x, y);
        CHECK(vx.extent_of<0>() == 3);
        CHECK(vy.extent_of<1>() == vx.extent_of<1>());
        for (auto i = std::size_t{0}; i < vx.extent_of<1>(); ++i) {
          seen.insert(vx(0, i, 0));
          for (auto t = std::size_t{0}; t < 3; ++t) {
            CHECK(vx(t, i, 0) == vx(0, i, 0) + static_cast<float>(t));
            CHECK(vy(t, i, 0) == 0.5F - vx(t, i, 1));
          }
        }
      }
    CHECK(seen.size() == 18);
    CHECK(std::set<float>(seen.begin(), seen.end()).size() == 18);
  }
}
TEST_CASE("batches: the chunks of a batch, one after another, are the batch") {
  auto const data = counted_samples(2, 11);
  auto source = window_batches(data, windows(as_parts(*data), 3), 4, false, 9);
  source.begin(3);
  auto x = X{};
  auto y = Y{};
  auto const one = source.load(1, 0, 1, x, y).first;
  for (auto c = std::size_t{0}; c < 2; ++c) {
    auto px = X{};
    auto py = Y{};
    auto const half = source.load(1, c, 2, px, py).first;
    CHECK(half.extent_of<1>() == 2);
    for (auto i = std::size_t{0}; i < 2; ++i) CHECK(half(0, i, 0) == one(0, 2 * c + i, 0));
  }
}
TEST_CASE("batches: lanes go on where they ended") {
  auto const data = counted_samples(3, 12);
  auto source = lane_batches(data, 5);
  CHECK(source.size() == 3);
  auto x = X{};
  auto y = Y{};
  for (auto b = std::size_t{0}; b < 3; ++b) {
    auto const [vx, vy] = source.load(b, 0, 1, x, y);
    CHECK(vx.extent_of<0>() == (b < 2 ? 5U : 2U));
    CHECK(vx.extent_of<1>() == 3);
    for (auto lane = std::size_t{0}; lane < 3; ++lane)
      CHECK(vx(0, lane, 0) == static_cast<float>(100 * lane + 5 * b));
  }
}
TEST_CASE("batches: what does not fit is refused by its numbers") {
  auto const data = counted_samples(5, 12);
  auto x = X{};
  auto y = Y{};
  auto too_long = window_batches(data, windows(as_parts(*data), 6), 4, true);
  CHECK_THROWS_WITH(too_long.load(0, 0, 1, x, y),
                    "batches: a batch has 6 time steps, the model is compiled for at most 5");
  auto too_wide = lane_batches(data, 5);
  CHECK_THROWS_WITH(too_wide.load(0, 0, 1, x, y),
                    "batches: a batch has 5 lanes, the model is compiled for at most 4");
  auto narrow = tensor<float, shape<at_most(5), at_most(8), 3>>{};
  auto y_of_eight = tensor<float, shape<at_most(5), at_most(8), 1>>{};
  CHECK_THROWS_WITH(too_wide.load(0, 0, 1, narrow, y_of_eight),
                    Catch::Contains("expected 3 columns"));
  CHECK_THROWS_AS(window_batches(data, windows(as_parts(*data), 13), 4), std::invalid_argument);
  CHECK_THROWS_AS(window_batches(data, windows(as_parts(*data), 3), 0), std::invalid_argument);
  CHECK_THROWS_AS(lane_batches(data, 0), std::invalid_argument);
}
TEST_CASE("batches: windows of recordings that are not there are refused") {
  auto const data = counted_samples(2, 90);
  CHECK_THROWS_WITH(window_batches(data, windows({{7, 0, 90}}, 8), 4),
                    Catch::Contains("a part is of recording 7"));
  CHECK_THROWS_WITH(window_batches(data, windows({{1, 80, 200}}, 8), 4),
                    Catch::Contains("a part ends at sample 200, recording 1 has 90"));
}
