// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/train/rounded_weights.hpp>

#include "small.hpp"

using namespace tessera;

TEST_CASE("rounded_weights: bf16 inside of the scope, all bits after it") {
  using P = parameters_of<small::model, owned<float>>;
  auto p = P{};
  test::fill_parameters(p, 1);
  auto const exact = p;
  auto rounded = rounded_weights<P>(true);
  {
    auto const scope = rounded.round(p);
    for_each_parameter(
        [](path_name const&, auto const& got, auto const& want) {
          for (auto i = std::size_t{0}; i < got.size(); ++i)
            CHECK(got.data()[i] == static_cast<float>(bf16(want.data()[i])));
        },
        p, exact);
    CHECK_FALSE(test::same_parameters(p, exact));
  }
  CHECK(test::same_parameters(p, exact));
  auto none = rounded_weights<P>(false);
  auto const scope = none.round(p);
  CHECK(test::same_parameters(p, exact));
}
TEST_CASE("rounded_weights: a step is taken from the gradient of rounded weights") {
  auto const data = small::points{};
  auto const rate = gradient_descent{.rate = 0.5};
  auto const t =
      small::make({.max_epochs = 1, .limit_train_batches = 1, .precision = "bf16"}, rate);
  auto const by_hand = std::make_unique<small::training_of<gradient_descent>>();
  clear(*by_hand);
  by_hand->parameters = t->parameters();
  auto source = data.source(false);
  {
    using loads = detail::batch_pass<small::training_of<gradient_descent>, mse>;
    auto rounding = rounded_weights<decltype(by_hand->parameters)>(true);
    auto const scope = rounding.round(by_hand->parameters);
    auto pass = loads(*by_hand, t->team(), {});
    auto const slots = detail::slots_of<small::training_of<gradient_descent>,
                                        tensor<float, shape<at_most(24), 1>>>(source);
    source.begin(0);
    pass.load(source, 0, slots);
    (void)pass.differentiate(source, slots, pass.terms_of(slots), {});
  }
  by_hand->update(rate);
  t->fit(source);
  CHECK(test::same_parameters(t->parameters(), by_hand->parameters));
  auto const plain = small::make({.max_epochs = 1, .limit_train_batches = 1}, rate);
  plain->fit(source);
  CHECK_FALSE(test::same_parameters(t->parameters(), plain->parameters()));
}
