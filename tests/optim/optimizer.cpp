// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

template <class Storage, std::size_t N> struct numbers {
  tensor_in<Storage, shape<N>> values;
  TESSERA_PARAMETERS(values)
};

/// Parameters, gradients by step, 30 steps.
template <class T, class Backend, class Optimizer>
auto after_thirty(test::golden const& g, Optimizer const& optimizer) {
  using P = numbers<owned<T, Backend>, 40>;
  auto p = P{};
  auto d = P{};
  auto m = typename Optimizer::template moments<P>{};
  test::load(p.values, g["start"]);
  for (auto s = std::size_t{0}; s < 30; ++s) {
    for (auto i = std::size_t{0}; i < 40; ++i)
      d.values.values[i] = static_cast<T>(g["gradients"][s * 40 + i]);
    optimizer.update(p, d, m);
  }
  return p.values;
}
template <class Optimizer>
void agrees(test::golden const& g, std::string const& name, Optimizer const& optimizer) {
  INFO(name);
  using P = numbers<owned<double>, 2>;
  auto p = P{};
  auto d = P{};
  auto m = typename Optimizer::template moments<P>{};
  p.values = {{1, -2}};
  d.values = {{0.1, -0.2}};
  for (auto s = 0; s < 3; ++s) optimizer.update(p, d, m);
  CHECK(test::distance(p.values, g[name + ".three"]) <= 1e-15);
  auto const twice = after_thirty<double, simd>(g, optimizer);
  CHECK(test::distance(twice, g[name + ".float64"]) <= 1e-14);
  CHECK(test::distance(after_thirty<float, simd>(g, optimizer), g[name + ".float32"]) <= 1e-6);
  CHECK(test::same_bits(twice, after_thirty<double, reference>(g, optimizer)));
  CHECK(test::same_bits(after_thirty<float, simd>(g, optimizer),
                        after_thirty<float, reference>(g, optimizer)));
}

// -- reference: tests/reference/optimizer.py ------------------------------------------------------
TEST_CASE("optimizers: agree with torch, and by vectors as one by one") {
  auto const g = test::golden("optimizer");
  agrees(g, "sgd", sgd{.rate = 0.1});
  agrees(g, "sgd", gradient_descent{.rate = 0.1});
  agrees(g, "momentum", sgd{.rate = 0.1, .momentum = 0.9});
  agrees(g, "nesterov", sgd{.rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
  agrees(g, "dampening", sgd{.rate = 0.1, .momentum = 0.9, .dampening = 0.3});
  agrees(g, "adam", adam{});
  agrees(g, "adam_decay",
         adam{.rate = 0.02, .beta_1 = 0.8, .beta_2 = 0.99, .epsilon = 1e-6, .weight_decay = 0.1});
  agrees(g, "adamw", adamw{.rate = 0.02});
  agrees(g, "adam_quick", adam{.rate = 0.02, .beta_1 = 0.3, .beta_2 = 0.9});
}
TEST_CASE("optimizers: a mean that keeps nothing is the gradient, whatever it was") {
  using P = numbers<owned<float>, 1>;
  auto p = P{};
  auto d = P{};
  auto m = adam::moments<P>{};
  auto const g = test::golden("optimizer");
  auto const& expected = g["adam_forgets"];
  auto const gradients = std::array{1e9F, 1.0F, -2.0F};
  for (auto i = std::size_t{0}; i < gradients.size(); ++i) {
    d.values(0) = gradients[i];
    adam{.rate = 0.1, .beta_1 = 0, .beta_2 = 0}.update(p, d, m);
    CHECK(p.values(0) == Approx(expected[i]).margin(1e-7));
  }
}
TEST_CASE("optimizers: the golden digits of the conventions") {
  auto const three = [](auto const& optimizer) {
    using P = numbers<owned<double>, 2>;
    auto p = P{};
    auto d = P{};
    auto m = typename std::remove_cvref_t<decltype(optimizer)>::template moments<P>{};
    p.values = {{1, -2}};
    d.values = {{0.1, -0.2}};
    for (auto s = 0; s < 3; ++s) optimizer.update(p, d, m);
    return p.values;
  };
  CHECK(test::distance(three(sgd{.rate = 0.1, .momentum = 0.9}), {0.9439, -1.8878}) < 1e-12);
  CHECK(test::distance(
            three(sgd{.rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true}),
            {0.9116139126, -1.8232278251}) < 1e-10);
  CHECK(test::distance(three(adam{}), {0.9970000003, -1.9970000001}) < 1e-10);
  CHECK(test::distance(three(adamw{}), {0.9969700306, -1.9969400307}) < 1e-10);
  CHECK(test::distance(three(adam{.weight_decay = 0.1}), {0.997000048, -1.997000024}) < 1e-9);
}
TEST_CASE("optimizers: padding stays zero") {
  using P = numbers<owned<float>, 3>;
  auto p = P{};
  auto d = P{};
  auto m = adam::moments<P>{};
  p.values = {{1, 2, 3}};
  d.values = {{1, 1, 1}};
  for (auto s = 0; s < 5; ++s) adam{.weight_decay = 0.1}.update(p, d, m);
  for (auto i = std::size_t{3}; i < decltype(p.values)::padded; ++i) CHECK(p.values.values[i] == 0);
}
TEST_CASE("optimizers: nesterov without momentum or with dampening is refused, as by torch") {
  using P = parameters_of<linear<2, 2>, owned<float>>;
  auto p = P{};
  auto const gradient = P{};
  auto m = sgd::moments<P>{};
  CHECK_THROWS_AS(sgd{.nesterov = true}.update(p, gradient, m), std::invalid_argument);
  auto const dampened = sgd{.momentum = 0.9, .dampening = 0.3, .nesterov = true};
  CHECK_THROWS_AS(dampened.update(p, gradient, m), std::invalid_argument);
}
TEST_CASE("optimizers: what torch refuses is refused by name, and nothing has changed") {
  using P = parameters_of<linear<2, 2>, owned<float>>;
  auto const refused = [](auto const& rule, std::string const& message) {
    auto p = P{};
    test::fill_parameters(p, 1);
    auto const before = p;
    auto m = typename std::remove_cvref_t<decltype(rule)>::template moments<P>{};
    CHECK_THROWS_WITH(rule.update(p, before, m), message);
    CHECK(test::same_parameters(p, before));
  };
  auto const of_sgd = std::string{"sgd: rate, momentum and weight_decay must be 0 or more"};
  refused(gradient_descent{.rate = -0.1}, "gradient_descent: the rate must be 0 or more");
  refused(gradient_descent{.rate = NAN}, "gradient_descent: the rate must be 0 or more");
  refused(sgd{.rate = -0.1}, of_sgd);
  refused(sgd{.momentum = -0.1}, of_sgd);
  refused(sgd{.weight_decay = -0.1}, of_sgd);
  auto const of_numbers = std::string{"adam: rate, epsilon and weight_decay must be 0 or more"};
  refused(adam{.rate = -0.1}, of_numbers);
  refused(adam{.epsilon = -1e-8}, of_numbers);
  refused(adamw{.weight_decay = -0.1}, of_numbers);
  auto const of_betas = std::string{"adam: beta_1 and beta_2 must be from 0 to below 1"};
  refused(adam{.beta_1 = 1}, of_betas);
  refused(adamw{.beta_1 = -0.1}, of_betas);
  refused(adam{.beta_2 = 1.5}, of_betas);
  refused(adam{.beta_2 = NAN}, of_betas);
}
