// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/data/batches.hpp>

#include <cmath>
#include <limits>
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
using pair_of_tensors = slot<X, Y>;
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
        auto s = pair_of_tensors{};
        source.load(b, c, chunks, s);
        auto const vx = s.x.read();
        auto const vy = s.target.read();
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
  auto s = pair_of_tensors{};
  source.load(1, 0, 1, s);
  auto const one = s.x.read();
  for (auto c = std::size_t{0}; c < 2; ++c) {
    auto part = pair_of_tensors{};
    source.load(1, c, 2, part);
    auto const half = part.x.read();
    CHECK(half.extent_of<1>() == 2);
    for (auto i = std::size_t{0}; i < 2; ++i) CHECK(half(0, i, 0) == one(0, 2 * c + i, 0));
  }
}
TEST_CASE("batches: lanes go on where they ended") {
  auto const data = counted_samples(3, 12);
  auto source = lane_batches(data, 5);
  CHECK(source.size() == 3);
  auto s = pair_of_tensors{};
  for (auto b = std::size_t{0}; b < 3; ++b) {
    source.load(b, 0, 1, s);
    auto const vx = s.x.read();
    CHECK(vx.extent_of<0>() == (b < 2 ? 5U : 2U));
    CHECK(vx.extent_of<1>() == 3);
    for (auto lane = std::size_t{0}; lane < 3; ++lane)
      CHECK(vx(0, lane, 0) == static_cast<float>(100 * lane + 5 * b));
  }
}
TEST_CASE("batches: of a window, the last target alone") {
  auto const data = counted_samples(2, 11);
  auto source = window_batches(data, windows(as_parts(*data), 3), 4, true, 0, window_targets::last);
  auto s = slot<X, tensor<float, shape<at_most(4), 1>>>{};
  source.load(2, 0, 1, s);
  REQUIRE(s.target.read().extent_of<0>() == 4);
  for (auto i = std::size_t{0}; i < 4; ++i)
    CHECK(s.target.read()(i, 0) == 0.5F - s.x.read()(2, i, 1));
  auto classes = slot<X, tensor<std::int32_t, shape<at_most(4)>>>{};
  for (auto& r : *data)
    for (auto& number : r.targets) number = std::floor(number);
  source.load(4, 0, 1, classes);
  CHECK(classes.target.read().extent_of<0>() == 2);
  CHECK(classes.target.read()(1) == 10);
}
TEST_CASE("batches: a chunk has no example where the batch ends before it") {
  CHECK(share_of(10, 16, 0, 4).count == 4);
  CHECK(share_of(10, 16, 2, 4).count == 2);
  CHECK(share_of(10, 16, 3, 4).count == 0);
  CHECK(share_of(3, 3, 1, 2).first == 2);
}
TEST_CASE("batches: what does not fit is refused by its numbers") {
  auto const data = counted_samples(5, 12);
  auto s = pair_of_tensors{};
  auto too_long = window_batches(data, windows(as_parts(*data), 6), 4, true);
  CHECK_THROWS_WITH(too_long.load(0, 0, 1, s),
                    "batches: x has 6 at axis 0, the model is compiled for at most 5");
  auto too_wide = lane_batches(data, 5);
  CHECK_THROWS_WITH(too_wide.load(0, 0, 1, s),
                    "batches: x has 5 at axis 1, the model is compiled for at most 4");
  auto narrow = slot<tensor<float, shape<at_most(5), at_most(8), 3>>,
                     tensor<float, shape<at_most(5), at_most(8), 1>>>{};
  CHECK_THROWS_WITH(too_wide.load(0, 0, 1, narrow),
                    "batches: x has 2 at axis 2, the model is compiled for 3");
  auto flat = slot<X, tensor<float, shape<at_most(5)>>>{};
  CHECK_THROWS_WITH(lane_batches(counted_samples(2, 12), 5).load(0, 0, 1, flat),
                    "batches: target has 3 axes, the model is compiled for 1");
  auto differ = counted_samples(2, 12);
  (*differ)[1].inputs = xt::xtensor<float, 2>(std::array<std::size_t, 2>{12, 3});
  CHECK_THROWS_WITH(lane_batches(differ, 5), Catch::Contains("columns of the first one"));
  CHECK_THROWS_AS(window_batches(data, windows(as_parts(*data), 13), 4), std::invalid_argument);
  CHECK_THROWS_AS(window_batches(data, windows(as_parts(*data), 3), 0), std::invalid_argument);
  CHECK_THROWS_AS(lane_batches(data, 0), std::invalid_argument);
}
TEST_CASE("batches: a number that a slot of whole numbers does not hold is refused") {
  auto const data = counted_samples(2, 12);
  auto const windows_of_data = window_batches(data, windows(as_parts(*data), 4), 3, true);
  auto const lanes = lane_batches(data, 4);
  auto classes = slot<X, tensor<std::int32_t, shape<at_most(5), at_most(4), 1>>>{};
  constexpr auto half =
      "batches: target has 1.5 at column 0 of sample 1, the model is compiled for integers of 32 "
      "bits";
  for (auto& r : *data)
    for (auto& number : r.targets) number = 0;
  (*data)[0].targets(1, 0) = 1.5F;
  CHECK_THROWS_WITH(windows_of_data.load(0, 0, 1, classes), half);
  CHECK_THROWS_WITH(lanes.load(0, 0, 1, classes), half);
  for (auto& r : *data)
    for (auto& number : r.targets) number = -1;
  windows_of_data.load(0, 0, 1, classes);
  CHECK(classes.target.read()(3, 2, 0) == -1);
  (*data)[1].targets(2, 0) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(lanes.load(0, 0, 1, classes),
                    Catch::Contains("target has nan at column 0 of sample 2"));
  auto bytes = slot<tensor<std::uint8_t, shape<at_most(5), at_most(4), 2>>, Y>{};
  (*data)[1].targets(2, 0) = 0;
  CHECK_THROWS_WITH(windows_of_data.load(0, 0, 1, bytes),
                    "batches: x has -1 at column 1 of sample 1, the model is compiled for unsigned "
                    "integers of 8 bits");
}
TEST_CASE("batches: windows of recordings that are not there are refused") {
  auto const data = counted_samples(2, 90);
  CHECK_THROWS_WITH(window_batches(data, windows({{7, 0, 90}}, 8), 4),
                    Catch::Contains("a part is of recording 7"));
  CHECK_THROWS_WITH(window_batches(data, windows({{1, 80, 200}}, 8), 4),
                    Catch::Contains("a part ends at sample 200, recording 1 has 90"));
}
