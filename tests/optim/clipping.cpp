// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

template <class Storage> struct three {
  tensor_in<Storage, shape<5>> a;
  tensor_in<Storage, shape<40>> b;
  tensor_in<Storage, shape<3>> c;
  TESSERA_PARAMETERS(a, b, c)
};

// -- reference: tests/reference/optimizer.py ------------------------------------------------------
TEST_CASE("clip_norm: agrees with torch") {
  auto const g = test::golden("optimizer");
  auto d = three<owned<double>>{};
  auto i = std::size_t{0};
  for_each_parameter(
      [&](path_name const&, auto& w) {
        for (auto& v : w) v = g["clip.before"][i++];
      },
      d);
  CHECK(clip_norm(d, 1.0) == Approx(g["clip.norm"][0]).epsilon(1e-14));
  i = 0;
  for_each_parameter(
      [&](path_name const&, auto& w) {
        for (auto const v : w) CHECK(v == Approx(g["clip.after"][i++]).epsilon(1e-14));
      },
      d);
}
TEST_CASE("clip_norm: a short gradient stays as it is") {
  auto d = three<owned<float>>{};
  d.b.values[7] = 0.5F;
  CHECK(clip_norm(d, 1.0) == 0.5);
  CHECK(d.b.values[7] == 0.5F);
}
TEST_CASE("clip_value: every number by itself") {
  auto d = three<owned<float>>{};
  d.a = {{-3, -0.5, 0, 0.5, 3}};
  clip_value(d, 1);
  CHECK(test::distance(d.a, {-1, -0.5, 0, 0.5, 1}) == 0);
}
TEST_CASE("clipping: a bound that is none is refused; what is left is told") {
  auto p = parameters_of<linear<2, 2>, owned<double>>{};
  test::fill_parameters(p, 1);
  for (auto const bad : {-1.0, std::nan("")}) {
    CHECK_THROWS_AS(clip_norm(p, bad), std::invalid_argument);
    CHECK_THROWS_AS(clip_value(p, bad), std::invalid_argument);
    CHECK_THROWS_AS(clip_to(p, 2, bad), std::invalid_argument);
  }
  auto const norm = global_norm(p);
  auto const left = clip_to(p, norm, norm / 2);
  CHECK(left == Approx(global_norm(p)));
  CHECK(left == Approx(norm / 2));
}
namespace {
/// What torch's clip_grad_norm_ makes of a gradient that holds `value`, beside ones.
void clips_what_is_no_number(auto& gradient) {
  auto const clip = [&](float value, double most) {
    clear_parameters(gradient);
    for_each_parameter([](path_name const&, auto& w) { std::fill_n(w.data(), w.size(), 1.0F); },
                       gradient);
    gradient.weight.data()[1] = value;
    auto const norm = clip_norm(gradient, most);
    device::synchronize();
    return norm;
  };
  CHECK(std::isnan(clip(NAN, 1)));
  for_each_parameter(
      [](path_name const&, auto const& w) {
        for (auto i = std::size_t{0}; i < w.size(); ++i) CHECK(std::isnan(w.data()[i]));
      },
      gradient);
  CHECK(clip(INFINITY, 1) == INFINITY);
  CHECK(std::isnan(gradient.weight.data()[1]));
  CHECK(gradient.weight.data()[0] == 0);
  CHECK(clip(1, 0) > 1);
  CHECK(gradient.bias.data()[1] == 0);
  CHECK(clip(1, 100) > 1);
  CHECK(gradient.bias.data()[1] == 1);
}
}  // namespace

TEST_CASE("clip_norm: of a norm that is NaN all numbers are, on host and device") {
  auto p = parameters_of<linear<2, 2>, owned<float>>{};
  clips_what_is_no_number(p);
  auto const q = device::make<parameters_of<linear<2, 2>, owned<float, cuda>>>();
  clips_what_is_no_number(*q);
}
