// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include <string>
#include <vector>

using namespace tessera;

template <class Storage> struct pair_of {
  tensor_in<Storage, shape<2, 3>> weight;
  tensor_in<Storage, shape<2>> bias;
  TESSERA_PARAMETERS(weight, bias)
};
template <class Storage> struct nested {
  pair_of<Storage> first;
  pair_of<Storage> each[2];
  hana::tuple<pair_of<Storage>, nothing> rest;
  [[no_unique_address]] absent<0> nowhere;
  TESSERA_PARAMETERS(first, each, rest, nowhere)
};
struct whole_block {
  hana::tuple<nothing, pair_of<owned<float>>, pair_of<owned<float>>> layers;
  using parts = decltype(layers);
  static void visit(auto const& f, auto&... p) { f("layers", p.layers...); }
};
static_assert(std::is_aggregate_v<pair_of<owned<float>>>);
static_assert(std::is_trivially_copyable_v<nested<owned<float>>>);
static_assert(detail::numbers_in<pair_of<counted>>() == 8);
static_assert(detail::numbers_in<nested<counted>>() == 4 * 8);
static_assert(pair_of<owned<float>>::member_name(1) == "bias");

TEST_CASE("parameters: visited in order, by path, with others alongside") {
  auto p = nested<owned<float>>{};
  auto const views = nested<viewed<float>>{};
  auto paths = std::vector<std::string>{};
  auto total = std::size_t{0};
  for_each_parameter(
      [&](path_name const& path, auto& w, auto const& v) {
        paths.emplace_back(path.c_str());
        total += w.size();
        CHECK(v.data() == nullptr);
        w.values[0] = static_cast<float>(paths.size());
      },
      p, views);
  CHECK(paths == std::vector<std::string>{"first.weight", "first.bias", "each.0.weight",
                                          "each.0.bias", "each.1.weight", "each.1.bias",
                                          "rest.0.weight", "rest.0.bias"});
  CHECK(total == 32);
  CHECK(p.each[1].weight.values[0] == 5);
}
TEST_CASE("parameters: all numbers as one block, or tensor by tensor") {
  static_assert(owns_parameters<whole_block> && owns_parameters<nested<owned<float>>>);
  static_assert(not owns_parameters<nested<viewed<float>>> && not owns_parameters<nothing>);
  static_assert(
      std::same_as<
          backend_of<decltype(numbers_of(std::declval<pair_of<owned<double, reference>>&>()))>,
          reference>);
  auto p = whole_block{};
  auto const q = [] {
    auto result = whole_block{};
    result.layers[hana::size_c<1>].weight.values[3] = 5;
    result.layers[hana::size_c<2>].bias.values[1] = 7;
    return result;
  }();
  auto calls = 0;
  for_numbers(
      [&](auto to, auto from) {
        ++calls;
        CHECK(to.size() * sizeof(float) == sizeof(p));
        to += from * 2.0F;
      },
      p, q);
  CHECK(calls == 1);
  CHECK(p.layers[hana::size_c<1>].weight.values[3] == 10);
  CHECK(p.layers[hana::size_c<2>].bias.values[1] == 14);

  auto owned_numbers = pair_of<owned<float>>{};
  auto views = pair_of<viewed<float>>{view_of<decltype(owned_numbers.weight)>(owned_numbers.weight),
                                      view_of<decltype(owned_numbers.bias)>(owned_numbers.bias)};
  auto sizes = std::vector<std::size_t>{};
  for_numbers(
      [&](auto to) {
        sizes.push_back(to.size());
        to += 1.0F;
      },
      views);
  CHECK(sizes == std::vector<std::size_t>{6, 2});
  CHECK(owned_numbers.weight.values[5] == 1);
}
namespace {
struct quantized {
  tensor<float, shape<16>> scale;
  tensor<std::int8_t, shape<4, 16>> weight;
  TESSERA_PARAMETERS(scale, weight)
};
struct counting {  // a member that is no parameter
  tensor<float, shape<16>> weight;
  int steps;
  TESSERA_PARAMETERS(weight)
};
}  // namespace
TEST_CASE(
    "parameters: tensors of other scalars, and members beside them, are no block of numbers") {
  static_assert(not owns_parameters<quantized> && not owns_parameters<counting>);
  static_assert(not owns_parameters<hana::tuple<pair_of<owned<float>>, pair_of<owned<double>>>>);
  auto p = quantized{};
  p.scale.values[3] = 1;
  p.weight.values[5] = 7;
  auto scalars = std::vector<std::size_t>{};
  for_numbers(
      [&](auto w) {
        scalars.push_back(sizeof(w.data()[0]));
        for (auto& v : w) v += v;
      },
      p);
  CHECK(scalars == std::vector<std::size_t>{4, 1});
  CHECK(p.scale.values[3] == 2);
  CHECK(p.weight.values[5] == 14);
  auto c = counting{.weight = {}, .steps = 3};
  for_numbers([](auto w) { w += 1.0F; }, c);
  CHECK(c.steps == 3);
}
TEST_CASE("parameters: one that is absent has no memory") {
  auto a = absent<0>{};
  CHECK(data_or_null<float>(a) == nullptr);
  auto p = pair_of<owned<float>>{};
  CHECK(data_or_null<float>(p.bias) == p.bias.data());
}
