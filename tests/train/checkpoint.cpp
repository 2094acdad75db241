// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/train/checkpoint.hpp>

using namespace tessera;

namespace {
using model = sequential<lstm<3, 4>, linear<4, 2>>;
using X = tensor<float, shape<5, 2, 3>>;
template <class Optimizer> using trained = training<model, X, Optimizer, 2>;

template <class T> void fill_training(T& t, unsigned seed) {
  test::fill_parameters(t.parameters, seed);
  detail::for_each_moment(t.moments,
                          [&](char const*, auto& part) { test::fill_parameters(part, ++seed); });
  t.moments.steps = 17;
  for (auto& pass : t.passes)
    test::fill(reinterpret_cast<float*>(&pass.state), sizeof pass.state / sizeof(float), ++seed);
}
template <class Optimizer> void check_round_trip() {
  auto const folder = test::folder{};
  auto const a = std::make_unique<trained<Optimizer>>();
  auto const b = std::make_unique<trained<Optimizer>>();
  *a = {};
  *b = {};
  fill_training(*a, 1);
  auto const progress = training_progress{
      .epoch = 3, .batch = 5, .step = 35, .seed = 9, .best = 0.25, .best_epoch = 2};
  auto best = a->parameters;
  test::fill_parameters(best, 77);
  save_checkpoint(folder / "c", *a, best, progress, "small", "{}");
  auto found = training_progress{};
  auto best_found = best;
  best_found = {};
  load_checkpoint(folder / "c", *b, best_found, found, "small", "{}");
  CHECK(std::memcmp(a.get(), b.get(), sizeof *a) == 0);
  CHECK(std::memcmp(&found, &progress, sizeof found) == 0);
  CHECK(test::same_parameters(best, best_found));
  CHECK(folder.files() == 1);
}
}  // namespace

TEST_CASE("checkpoint: everything comes back, bit for bit") {
  check_round_trip<adam>();
  check_round_trip<sgd>();
}
TEST_CASE("checkpoint: another model is refused by name and shapes, and nothing is loaded") {
  auto const folder = test::folder{};
  auto const a = std::make_unique<trained<adam>>();
  *a = {};
  fill_training(*a, 1);
  auto best = a->parameters;
  auto progress = training_progress{.epoch = 3};
  save_checkpoint(folder / "c", *a, best, progress, "small", "{}");

  using larger = sequential<lstm<3, 6>, linear<6, 2>>;
  auto const b = std::make_unique<training<larger, X, adam, 2>>();
  *b = {};
  fill_training(*b, 2);
  auto const before = std::make_unique<training<larger, X, adam, 2>>(*b);
  auto b_best = b->parameters;
  CHECK_THROWS_WITH(
      load_checkpoint(folder / "c", *b, b_best, progress, "small", "{}"),
      Catch::Contains("\"model.0.weight_ih_l0\": expected shape (24, 3), got (16, 3)"));
  CHECK(std::memcmp(b.get(), before.get(), sizeof *b) == 0);
  CHECK(progress.epoch == 3);
  CHECK_THROWS_WITH(load_checkpoint(folder / "c", *a, best, progress, "large", "{}"),
                    Catch::Contains("was made by the model \"small\", expected \"large\""));
  save_parameters(folder / "p", a->parameters);
  CHECK_THROWS_WITH(load_checkpoint(folder / "p", *a, best, progress, "small", "{}"),
                    Catch::Contains("is no checkpoint"));
  CHECK_THROWS_AS(load_checkpoint(folder / "none", *a, best, progress, "small", "{}"), file_error);
}
TEST_CASE("checkpoint: one that is cut off is refused, wherever it is") {
  auto const folder = test::folder{};
  auto const a = std::make_unique<trained<adam>>();
  *a = {};
  auto best = a->parameters;
  auto progress = training_progress{};
  save_checkpoint(folder / "c", *a, best, progress, "small", "{}");
  auto const whole = test::text_of(folder / "c");
  for (auto n = std::size_t{0}; n < whole.size(); n += 97) {
    write_file(folder / "cut", whole.substr(0, n));
    CHECK_THROWS_AS(load_checkpoint(folder / "cut", *a, best, progress, "small", "{}"),
                    safetensors_error);
  }
}
TEST_CASE("checkpoint: other settings, and a progress that cannot be, are refused by name") {
  auto const folder = test::folder{};
  auto const a = std::make_unique<trained<adam>>();
  *a = {};
  auto best = a->parameters;
  auto progress = training_progress{.epoch = 1, .step = 9, .best = 0.5, .best_epoch = 1};
  auto const loads = [&] {
    auto found = training_progress{};
    load_checkpoint(folder / "c", *a, best, found, "small", "rate: 0.1\nseed: 3");
  };
  save_checkpoint(folder / "c", *a, best, progress, "small", "seed: 3\nrate: 0.1\n");
  CHECK_NOTHROW(loads());
  save_checkpoint(folder / "c", *a, best, progress, "small", "rate: 0.2\nseed: 3\n");
  CHECK_THROWS_WITH(loads(), Catch::Contains("other settings: rate: expected 0.1, got 0.2"));
  save_checkpoint(folder / "c", *a, best, progress, "small", "rate: 0.1\n");
  CHECK_THROWS_WITH(loads(), Catch::Contains("other settings: seed: expected 3, got none"));
  progress.best_epoch = 2;
  save_checkpoint(folder / "c", *a, best, progress, "small", "rate: 0.1\nseed: 3\n");
  CHECK_THROWS_WITH(loads(), Catch::Contains("its progress is none: best_epoch"));
}
