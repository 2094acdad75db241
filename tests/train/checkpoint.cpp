// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/train/checkpoint.hpp>
#include <tessera/train/described.hpp>
#include <tessera/train/parts.hpp>

using namespace tessera;

namespace {
using model = sequential<lstm<3, 4>, linear<4, 2>>;
using X = tensor<float, shape<5, 2, 3>>;
template <class Optimizer> using trained = training<model, X, Optimizer, 2>;

template <class T> void fill_training(T& t, unsigned seed) {
  test::fill_parameters(t.parameters, seed);
  for_each_moment(t.moments, [&](path_name const&, auto& part) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>>)
      part = 17;
    else
      test::fill_parameters(part, ++seed);
  });
  for (auto& pass : t.passes)
    test::fill(reinterpret_cast<float*>(&pass.state), sizeof pass.state / sizeof(float), ++seed);
}
auto no_parts = std::tuple<>{};
[[nodiscard]] auto made_by(char const* who) { return training_facts{{"model", who}}; }

/// An optimizer of one's own.
struct lion {
  double rate = 1e-3;
  double beta_1 = 0.9;
  double beta_2 = 0.99;

  template <class P> struct moments {
    P average;
    std::uint64_t steps;
    TESSERA_PARAMETERS(average, steps)
  };
  template <class P> void update(P& p, P const& gradient, moments<P>& m) const {
    ++m.steps;
    for_numbers(
        [&](auto w, auto g, auto a) {
          using T = scalar_of<decltype(w)>;
          auto const mixed = a * static_cast<T>(beta_1) + g * static_cast<T>(1 - beta_1);
          w -= where(mixed > T{0}, T{1}, where(mixed < T{0}, T{-1}, T{0})) * static_cast<T>(rate);
          assign(a, a * static_cast<T>(beta_2) + g * static_cast<T>(1 - beta_2));
        },
        p, gradient, m.average);
  }
};

template <class Optimizer> void check_round_trip() {
  auto const folder = test::folder{};
  auto const a = std::make_unique<trained<Optimizer>>();
  auto const b = std::make_unique<trained<Optimizer>>();
  *a = {};
  *b = {};
  fill_training(*a, 1);
  auto const progress = training_progress{.epoch = 3,
                                          .batch = 5,
                                          .step = 35,
                                          .updates = 35,
                                          .seed = 9,
                                          .best = 0.25,
                                          .best_epoch = 2,
                                          .validations = 3};
  auto best = a->parameters;
  test::fill_parameters(best, 77);
  save_checkpoint(folder / "c", *a, best, progress, made_by("small"), "{}", no_parts);
  auto found = training_progress{};
  auto best_found = best;
  best_found = {};
  load_checkpoint(folder / "c", *b, best_found, found, made_by("small"), "{}", no_parts);
  CHECK(std::memcmp(a.get(), b.get(), sizeof *a) == 0);
  CHECK(std::memcmp(&found, &progress, sizeof found) == 0);
  CHECK(test::same_parameters(best, best_found));
  CHECK(folder.files() == 1);
}
}  // namespace

TEST_CASE("checkpoint: everything comes back, bit for bit") {
  check_round_trip<adam>();
  check_round_trip<sgd>();
  check_round_trip<gradient_descent>();
  check_round_trip<lion>();
}
TEST_CASE("checkpoint: another model is refused by name and shapes, and nothing is loaded") {
  auto const folder = test::folder{};
  auto const a = std::make_unique<trained<adam>>();
  *a = {};
  fill_training(*a, 1);
  auto best = a->parameters;
  auto progress = training_progress{.epoch = 3};
  save_checkpoint(folder / "c", *a, best, progress, made_by("small"), "{}", no_parts);

  using larger = sequential<lstm<3, 6>, linear<6, 2>>;
  auto const b = std::make_unique<training<larger, X, adam, 2>>();
  *b = {};
  fill_training(*b, 2);
  auto const before = std::make_unique<training<larger, X, adam, 2>>(*b);
  auto b_best = b->parameters;
  CHECK_THROWS_WITH(
      load_checkpoint(folder / "c", *b, b_best, progress, made_by("small"), "{}", no_parts),
      Catch::Contains("\"model.0.weight_ih_l0\": expected shape (24, 3), got (16, 3)"));
  CHECK(std::memcmp(b.get(), before.get(), sizeof *b) == 0);
  CHECK(progress.epoch == 3);
  CHECK_THROWS_WITH(
      load_checkpoint(folder / "c", *a, best, progress, made_by("large"), "{}", no_parts),
      Catch::Contains("was made with the model \"small\", expected \"large\""));
  save_parameters(folder / "p", a->parameters);
  CHECK_THROWS_WITH(
      load_checkpoint(folder / "p", *a, best, progress, made_by("small"), "{}", no_parts),
      Catch::Contains("is no checkpoint"));
  CHECK_THROWS_AS(
      load_checkpoint(folder / "none", *a, best, progress, made_by("small"), "{}", no_parts),
      file_error);
}
TEST_CASE("checkpoint: another version is refused by its name, and nothing is loaded") {
  auto const folder = test::folder{};
  auto const a = std::make_unique<trained<adam>>();
  fill_training(*a, 1);
  auto best = a->parameters;
  auto progress = training_progress{.epoch = 3};
  save_checkpoint(folder / "c", *a, best, progress, made_by("small"), "{}", no_parts);
  auto text = test::text_of(folder / "c");
  auto const said = std::string{R"("tessera.checkpoint":"2")"};
  REQUIRE(text.find(said) != std::string::npos);
  text[text.find(said) + said.size() - 2] = '3';
  write_file(folder / "c", text);

  auto const b = std::make_unique<trained<adam>>();
  fill_training(*b, 2);
  auto const before = std::make_unique<trained<adam>>(*b);
  auto b_best = b->parameters;
  auto found = training_progress{.epoch = 7};
  CHECK_THROWS_WITH(
      load_checkpoint(folder / "c", *b, b_best, found, made_by("small"), "{}", no_parts),
      Catch::EndsWith("is a checkpoint of version 3, expected 2"));
  CHECK(std::memcmp(b.get(), before.get(), sizeof *b) == 0);
  CHECK(test::same_parameters(b_best, before->parameters));
  CHECK(found.epoch == 7);
}
TEST_CASE("checkpoint: one that is cut off is refused, wherever it is") {
  auto const folder = test::folder{};
  auto const a = std::make_unique<trained<adam>>();
  *a = {};
  auto best = a->parameters;
  auto progress = training_progress{};
  save_checkpoint(folder / "c", *a, best, progress, made_by("small"), "{}", no_parts);
  auto const whole = test::text_of(folder / "c");
  for (auto n = std::size_t{0}; n < whole.size(); n += 97) {
    write_file(folder / "cut", whole.substr(0, n));
    CHECK_THROWS_AS(
        load_checkpoint(folder / "cut", *a, best, progress, made_by("small"), "{}", no_parts),
        safetensors_error);
  }
}
TEST_CASE("checkpoint: other settings, and a progress that cannot be, are refused by name") {
  auto const folder = test::folder{};
  auto const a = std::make_unique<trained<adam>>();
  *a = {};
  auto best = a->parameters;
  auto progress = training_progress{
      .epoch = 1, .step = 9, .updates = 9, .best = 0.5, .best_epoch = 1, .validations = 1};
  auto const loads = [&] {
    auto found = training_progress{};
    load_checkpoint(folder / "c", *a, best, found, made_by("small"), "rate: 0.1\nseed: 3",
                    no_parts);
  };
  save_checkpoint(folder / "c", *a, best, progress, made_by("small"), "seed: 3\nrate: 0.1\n",
                  no_parts);
  CHECK_NOTHROW(loads());
  save_checkpoint(folder / "c", *a, best, progress, made_by("small"), "rate: 0.2\nseed: 3\n",
                  no_parts);
  CHECK_THROWS_WITH(loads(), Catch::Contains("other settings: rate: expected 0.1, got 0.2"));
  save_checkpoint(folder / "c", *a, best, progress, made_by("small"), "rate: 0.1\n", no_parts);
  CHECK_THROWS_WITH(loads(), Catch::Contains("other settings: seed: expected 3, got none"));
  progress.best_epoch = 3;
  save_checkpoint(folder / "c", *a, best, progress, made_by("small"), "rate: 0.1\nseed: 3\n",
                  no_parts);
  CHECK_THROWS_WITH(loads(), Catch::Contains("its progress is none: best_epoch"));
}

/// Ten steps; with a stop after the fifth, by a checkpoint into another object.
template <class Optimizer> auto ten_steps(Optimizer const& optimizer, bool stops) {
  using net = sequential<linear<3, 4>, tanh_layer, linear<4, 2>>;
  using batch = tensor<float, shape<5, 3>>;
  using trained_net = training<net, batch, Optimizer>;
  auto const folder = test::folder{};
  auto t = std::make_unique<trained_net>();
  test::fill_parameters(t->parameters, 1);
  auto x = batch{};
  auto y = tensor<float, shape<5, 2>>{};
  for (auto step = 0U; step < 10; ++step) {
    if (stops && step == 5) {
      auto const best = t->parameters;
      save_checkpoint(folder / "c", *t, best, {}, {}, "", no_parts);
      t = std::make_unique<trained_net>();
      auto found = training_progress{};
      auto read = best;
      load_checkpoint(folder / "c", *t, read, found, {}, "", no_parts);
    }
    test::fill(x, step);
    test::fill(y, step + 100);
    (void)t->step(x, y, mse{}, optimizer);
  }
  return t->parameters;
}
TEST_CASE("checkpoint: what goes on from it has the same bits, by any optimizer") {
  auto const check = [](auto const& optimizer) {
    CHECK(test::same_parameters(ten_steps(optimizer, false), ten_steps(optimizer, true)));
  };
  check(gradient_descent{.rate = 0.1});
  check(sgd{.rate = 0.1, .momentum = 0.9});
  check(adam{.rate = 0.1});
  check(adamw{.rate = 0.1});
  check(lion{.rate = 0.01});
}
TEST_CASE("checkpoint: parts of the step come back, facts are compared") {
  auto const folder = test::folder{};
  auto const a = std::make_unique<trained<adam>>();
  fill_training(*a, 1);
  auto best = a->parameters;
  using average = averaging<decltype(best)>;
  auto parts = std::tuple<norm_clipping, average>{norm_clipping{}, average{}};
  std::get<1>(parts).begin(a->parameters);
  auto progress = training_progress{};
  auto const facts = training_facts{{"model", "m"}, {"optimizer", described(adam{})}};
  save_checkpoint(folder / "c", *a, best, progress, facts, "", parts);
  auto again = std::tuple<norm_clipping, average>{norm_clipping{}, average{}};
  auto const found = load_checkpoint(folder / "c", *a, best, progress, facts, "", again);
  CHECK(test::same_parameters(std::get<1>(again).average(), a->parameters));
  CHECK(found.at("optimizer") == "adam(0.001, 0.9, 0.999, 1e-08, 0)");
  auto const other = training_facts{{"optimizer", described(adam{.rate = 0.5})}};
  CHECK_THROWS_WITH(load_checkpoint(folder / "c", *a, best, progress, other, "", parts),
                    Catch::Contains("the optimizer \"adam(0.001, 0.9, 0.999, 1e-08, 0)\", expected "
                                    "\"adam(0.5, 0.9, 0.999, 1e-08, 0)\""));
  CHECK_THROWS_WITH(
      load_checkpoint(folder / "c", *a, best, progress, {{"loss", "mse()"}}, "", parts),
      Catch::Contains("the loss \"\", expected \"mse()\""));
}
