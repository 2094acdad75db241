// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/bridge/xtensor.hpp>
#include <tessera/data/tensor_batches.hpp>

#include <xtensor/xview.hpp>

#include <set>

using namespace tessera;

namespace {
/// Example i is i, i + 0.1, ...
template <class T, std::size_t N>
[[nodiscard]] auto counted_examples(std::array<std::size_t, N> s) {
  auto result = xt::xtensor<T, N>(s);
  auto const each = result.size() / s[0];
  for (auto i = std::size_t{0}; i < result.size(); ++i)
    result.data()[i] =
        static_cast<T>(static_cast<double>(i / each) + 0.1 * static_cast<double>(i % each));
  return result;
}
}  // namespace

TEST_CASE("tensor_batches: every example once, with its class, whatever the chunks") {
  auto source = tensor_batches(counted_examples<float, 3>({11, 2, 3}),
                               counted_examples<std::int64_t, 1>({11}), {.batch = 4, .seed = 3});
  CHECK(source.size() == 3);
  for (auto const chunks : {1U, 2U, 3U}) {
    source.begin(7);
    auto seen = std::multiset<std::int32_t>{};
    for (auto b = std::size_t{0}; b < 3; ++b)
      for (auto c = std::size_t{0}; c < chunks; ++c) {
        auto s =
            slot<tensor<float, shape<at_most(4), 2, 3>>, tensor<std::int32_t, shape<at_most(4)>>>{};
        source.load(b, c, chunks, s);
        auto const x = s.x.read();
        REQUIRE(x.extent_of<0>() == s.target.read().extent_of<0>());
        for (auto i = std::size_t{0}; i < x.extent_of<0>(); ++i) {
          seen.insert(s.target.read()(i));
          CHECK(x(i, 0, 0) == static_cast<float>(s.target.read()(i)));
          CHECK(x(i, 1, 2) == Approx(s.target.read()(i) + 0.5));
        }
      }
    CHECK(seen.size() == 11);
    CHECK(std::set<std::int32_t>(seen.begin(), seen.end()).size() == 11);
  }
}
TEST_CASE("tensor_batches: time first, a target for each example, conditions beside") {
  using C = tensor<float, shape<at_most(3), 2>>;
  auto source =
      tensor_batches(counted_examples<float, 3>({5, 4, 2}), counted_examples<float, 2>({5, 1}),
                     conditions_of<C>(counted_examples<float, 2>({5, 2})),
                     {.batch = 3, .x_axis = 1, .shuffles = false});
  auto s = slot_of<decltype(source), tensor<float, shape<4, at_most(3), 2>>,
                   tensor<float, shape<at_most(3), 1>>>{};
  source.load(1, 0, 1, s);
  CHECK(s.x.read().extent_of<1>() == 2);
  for (auto i = std::size_t{0}; i < 2; ++i) {
    auto const which = static_cast<float>(3 + i);
    for (auto t = std::size_t{0}; t < 4; ++t)
      CHECK(s.x.read()(t, i, 1) == Approx(which + 0.1F * static_cast<float>(2 * t + 1)));
    CHECK(s.target.read()(i, 0) == which);
    CHECK(s.extra.read()(i, 1) == Approx(which + 0.1F));
  }
  auto const lent = source.context(s, plain_context{});
  CHECK(lent.value<tag::condition>().data() == s.extra.read().data());
  CHECK(lent.value<tag::condition>().extent_of<0>() == 2);
}
TEST_CASE("tensor_batches: the target's examples along its second axis") {
  auto source =
      tensor_batches(counted_examples<float, 2>({5, 4}), counted_examples<std::int32_t, 2>({5, 4}),
                     {.batch = 3, .x_axis = 1, .target_axis = 1, .shuffles = false});
  auto s = slot<tensor<float, shape<4, 3>>, tensor<std::int32_t, shape<4, 3>>>{};
  source.load(0, 0, 1, s);
  for (auto i = std::size_t{0}; i < 3; ++i) CHECK(s.target.read()(3, i) == static_cast<int>(i));
}
TEST_CASE("tensor_batches: memory of another owner") {
  auto x = std::vector<float>{1, 2, 3, 4};
  auto y = std::vector<float>{5, 6};
  auto source = tensor_batches(
      xt::adapt(x.data(), x.size(), xt::no_ownership(), std::array<std::size_t, 2>{2, 2}),
      xt::adapt(y.data(), y.size(), xt::no_ownership(), std::array<std::size_t, 2>{2, 1}),
      {.batch = 2, .shuffles = false});
  x[3] = 40;
  auto s = slot<tensor<float, shape<2, 2>>, tensor<float, shape<2, 1>>>{};
  source.load(0, 0, 1, s);
  CHECK(s.x.read()(1, 1) == 40);
}
TEST_CASE("tensor_batches: what does not fit is refused by its numbers") {
  auto const x = counted_examples<float, 2>({5, 4});
  CHECK_THROWS_WITH(tensor_batches(x, counted_examples<float, 2>({4, 1})),
                    "tensor_batches: 5 inputs, but 4 targets");
  CHECK_THROWS_AS(tensor_batches(x, x, {.batch = 0}), std::invalid_argument);
  auto source = tensor_batches(x, x, {.x_axis = 2, .shuffles = false});
  auto s = slot<tensor<float, shape<at_most(32), 4>>, tensor<float, shape<at_most(32), 4>>>{};
  CHECK_THROWS_WITH(source.load(0, 0, 1, s), "tensor_batches: no axis 2 in the 2 of x");
  auto wrong = slot<tensor<float, shape<at_most(32), 3>>, tensor<float, shape<at_most(32), 4>>>{};
  CHECK_THROWS_WITH(tensor_batches(x, x).load(0, 0, 1, wrong),
                    "batches: x has 4 at axis 1, the model is compiled for 3");
}
TEST_CASE("tensor_batches: a view of a part is refused, a copy of it is taken") {
  auto const x = xt::xtensor<float, 2>(std::array<std::size_t, 2>{10, 3}, 1.0F);
  auto const y = xt::xtensor<float, 2>(std::array<std::size_t, 2>{10, 1}, 1.0F);
  auto const refuses = [](auto const& inputs, auto const& targets, char const* what) {
    CHECK_THROWS_WITH(tensor_batches(inputs, targets, {.batch = 2}),
                      Catch::Contains(std::string{"expected "} + what + " in one piece"));
  };
  refuses(xt::view(x, xt::range(5, 10)), xt::xtensor<float, 2>(xt::view(y, xt::range(5, 10))),
          "inputs");
  refuses(xt::view(x, xt::all(), xt::range(0, 2)), y, "inputs");
  refuses(x, xt::view(y, xt::range(1, 10)), "targets");
  refuses(xt::xarray<float, xt::layout_type::column_major>(x), y, "inputs");
  CHECK(tensor_batches(x, y, {.batch = 2}).size() == 5);
  CHECK(tensor_batches(xt::xarray<float>(x), y, {.batch = 2}).size() == 5);
}
TEST_CASE("tensor_batches: a class that the model's integers do not hold is refused by its place") {
  using classified = slot<tensor<float, shape<3, 2>>, tensor<std::int32_t, shape<3>>>;
  auto const load = [](auto const& targets) {
    auto s = classified{};
    tensor_batches(counted_examples<double, 2>({3, 2}), targets, {.batch = 3, .shuffles = false})
        .load(0, 0, 1, s);
    return s.target.read()(2);
  };
  auto const message = [](std::string const& value) {
    return "batches: target has " + value +
           " at number 0 of example 2, the model is compiled for integers of 32 bits";
  };
  using classes = xt::xtensor<std::int64_t, 1>;
  CHECK_THROWS_WITH(load(classes{0, 1, (std::int64_t{1} << 32) + 2}), message("4294967298"));
  CHECK_THROWS_WITH(load(classes{0, 1, -(std::int64_t{1} << 31) - 1}), message("-2147483649"));
  CHECK(load(classes{0, 1, -(std::int64_t{1} << 31)}) == std::numeric_limits<std::int32_t>::min());
  CHECK_THROWS_WITH(load(xt::xtensor<std::uint32_t, 1>{0, 1, 1U << 31U}), message("2147483648"));
  CHECK_THROWS_WITH(load(xt::xtensor<double, 1>{0, 1, 2.9}), message("2.9"));
  CHECK_THROWS_WITH(load(xt::xtensor<float, 1>{0, 1, 0x1p31F}), message("2147483648"));
  CHECK_THROWS_WITH(load(xt::xtensor<double, 1>{0, 1, NAN}), message("nan"));
  CHECK(load(xt::xtensor<double, 1>{0, 1, 2147483647}) == 2147483647);
  CHECK(load(xt::xtensor<float, 1>{0, 1, -0x1p31F}) == std::numeric_limits<std::int32_t>::min());
  CHECK(load(xt::xtensor<std::uint8_t, 1>{0, 1, 255}) == 255);
}
