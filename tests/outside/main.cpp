// SPDX-License-Identifier: MIT
// The U-Net's block, the GPT's block and the LSTM on a backend that the library does not know, each
// followed by a layer that it does not know.
#include <tessera/models/gpt.hpp>
#include <tessera/models/unet.hpp>

#include <cstdio>
#include <memory>

#include "fixed_point.hpp"
#include "soft_clip.hpp"

using namespace tessera;

namespace {

auto failures = 0;
void check(bool holds, char const* model, char const* what) {
  if (not holds) std::printf("%s: %s\n", model, what), ++failures;
}

template <class Model, class P> void fill(P& p, std::uint32_t seed) {
  auto generator = torch_generator(seed);
  Model::initialize(p, generator);
  for_each_parameter(
      [&](path_name const& path, auto& w) {
        if (path == "1.scale") generator.uniform(w, 1.0);
      },
      p);
}

/// Inference and one training pass on both backends.
template <class Model, class S, class C>
void compare(char const* model, std::size_t multiply_adds, C const& condition) {
  using R = tensor<float, S, reference>;
  using X = tensor<float, S, fixed_point>;
  auto const p = std::make_unique<parameters_of<Model, owned<float, reference>>>();
  auto const q = std::make_unique<parameters_of<Model, owned<float, fixed_point>>>();
  using D = tensor<float, shape_of<C>, fixed_point>;
  auto const run = std::make_unique<inference<Model, R, given_as<tag::condition, C>>>();
  auto const pass = std::make_unique<differentiation<Model, X, given_as<tag::condition, D>>>();
  auto const r = std::make_unique<R>();
  auto const x = std::make_unique<X>();
  fill<Model>(*p, 1);
  fill<Model>(*q, 1);
  auto generator = torch_generator(2);
  generator.uniform(*r, 1.0);
  for (auto i = std::size_t{0}; i < S::capacity; ++i) x->values[i] = r->values[i];
  auto d = D{};
  for (auto i = std::size_t{0}; i < d.size(); ++i) d.values[i] = condition.values[i];

  fixed_point::multiply_adds = 0;
  auto const want = run->resume(*p, *r, given(condition));
  auto const got = pass->forward(*q, *x, given(d));
  auto worst = 0.0F;
  for (auto i = std::size_t{0}; i < got.size(); ++i)
    worst = std::max(worst, std::abs(got.data()[i] - want.data()[i]));
  check(worst > 0, model, "integers should round");
  check(worst < 0.01F, model, "too far from the reference");
  check(fixed_point::multiply_adds == multiply_adds, model, "another number of multiply-adds");

  for (auto i = std::size_t{0}; i < got.size(); ++i) pass->dy.data()[i] = 1;
  pass->backward(*q, *x, given(d));
  auto slopes = std::size_t{0};
  for_each_parameter(
      [&](path_name const&, auto const& w) {
        auto any = false;
        for (auto i = std::size_t{0}; i < w.size(); ++i) any = any || w.values[i] != 0;
        slopes += any ? 1 : 0;
      },
      pass->gradient);
  check(slopes > 2, model, "no gradient");
  std::printf("%s: within %.4f of the reference, %zu multiply-adds\n", model,
              static_cast<double>(worst), fixed_point::multiply_adds);
}

constexpr auto images = unet_options{.channels = {8}, .groups = 2};
constexpr auto words = gpt_options{.width = 16, .heads = 2, .context = 12};

}  // namespace

auto main() -> int {
  auto const c = tensor<float, shape<2, 32>, reference>{};
  using picture = shape<2, 5, 5, 4>;
  // a 3x3 window on 5x5 pixels with a border: 13·13 pairs of rows and of columns
  compare<sequential<unet_block<images, 4, 8>, soft_clip<8>>, picture>(
      "U-Net block", 2 * (13 * 13 * (4 * 8 + 8 * 8) + 25 * 4 * 8 + 32 * 8), c);
  compare<sequential<gpt_block<words>, soft_clip<16>>, shape<12, 2, 16>>(
      "GPT block", 12 * 2 * (4 * 16 * 16 + 2 * 16 * 64), c);
  compare<sequential<lstm<6, 9>, soft_clip<9>>, shape<7, 2, 6>>("LSTM", 7 * 2 * 4 * 9 * (6 + 9), c);

  auto p = parameters_of<sequential<lstm<3, 4>, soft_clip<4>>, owned<double>>{};
  auto generator = torch_generator(3);
  for_each_parameter([&](path_name const&, auto& w) { generator.uniform(w, 0.7); }, p);
  auto x = tensor<double, shape<5, 2, 3>>{};
  generator.uniform(x, 1.0);
  using X = tensor<double, shape<5, 2, 3>>;
  check(gradient_check<sequential<lstm<3, 4>, soft_clip<4>>, X>(p, view_of<X>(x)).passed,
        "soft_clip", "another gradient than central differences");
  return failures;
}
