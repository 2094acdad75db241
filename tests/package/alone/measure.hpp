// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/objects.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

/// What a file sees of a model: its objects' sizes, and the bits that they compute.
struct measured {
  std::vector<std::size_t> layout;
  std::vector<float> numbers;

  friend auto operator==(measured const&, measured const&) -> bool = default;
};

// Of each file its own: a linker keeps one copy of a template for the program.
namespace {

void add(measured& to, auto const& values) {
  for (auto i = std::size_t{0}; i < values.size(); ++i)
    to.numbers.push_back(static_cast<float>(values.data()[i]));
}
template <class... Object> void add_layout(measured& to) {
  (to.layout.push_back(sizeof(Object)), ...);
  (to.layout.push_back(alignof(Object)), ...);
}

/// Inputs are small whole numbers, which tables take, too.
template <class Model, class X, class Context>
[[maybe_unused]] auto measure(Context const& context) -> measured {
  using storage = tessera::owned<float, tessera::backend_of<X>>;
  using parameters = tessera::parameters_of<Model, storage>;
  using run = tessera::inference_for<Model, X, Context>;
  using pass = tessera::differentiation_for<Model, X, Context>;
  auto const p = std::make_unique<parameters>();
  tessera::clear(*p);
  auto seed = std::uint32_t{1};
  tessera::for_each_parameter(
      [&](tessera::path_name const&, auto& w) {
        for (auto i = std::size_t{0}; i < w.size(); ++i) {
          seed = seed * 1103515245U + 12345U;
          w.data()[i] = static_cast<float>(seed >> 20 & 255U) / 512 - 0.25F;
        }
      },
      *p);
  auto const x = std::make_unique<X>();
  for (auto i = std::size_t{0}; i < x->size(); ++i) x->values[i] = static_cast<float>(i % 5);

  // Those of a model that has some stand behind its parameters.
  using statistics = tessera::statistics_of<Model, storage>;
  auto const memory = std::make_unique<statistics>();
  tessera::for_each_parameter([](tessera::path_name const&, auto& w) { w = {}; }, *memory);
  auto const with_statistics = [&](auto const& call) {
    if constexpr (std::is_empty_v<statistics>)
      return call();
    else
      return call(*memory);
  };

  auto result = measured{};
  add_layout<parameters, X, run, pass>(result);
  auto const r = std::make_unique<run>();
  tessera::clear(*r);
  add(result, with_statistics([&](auto const&... s) { return r->resume(*p, s..., *x, context); }));
  auto const d = std::make_unique<pass>();
  tessera::clear(*d);
  add(result, with_statistics([&](auto const&... s) { return d->forward(*p, s..., *x, context); }));
  for (auto i = std::size_t{0}; i < d->dy.size(); ++i) d->dy.data()[i] = 0.5F;
  with_statistics([&](auto const&... s) { d->backward(*p, s..., *x, context); });
  tessera::for_each_parameter([&](tessera::path_name const&, auto const& w) { add(result, w); },
                              d->gradient);
  return result;
}
template <class Model, class X> [[maybe_unused]] auto measure() -> measured {
  return measure<Model, X>(tessera::plain_context{});
}

template <class Loss, class Y, class Target> [[maybe_unused]] auto measure_loss() -> measured {
  auto y = Y{};
  auto target = Target{};
  for (auto i = std::size_t{0}; i < y.size(); ++i) y.values[i] = static_cast<float>(i % 7);
  for (auto i = std::size_t{0}; i < target.size(); ++i)
    target.values[i] = static_cast<typename Target::scalar_type>(i % 3);
  auto dy = Y{};
  auto result = measured{};
  add_layout<Y, Target>(result);
  result.numbers.push_back(Loss{}.value_and_slope(tessera::as_const(y), tessera::as_const(target),
                                                  tessera::view_of<Y>{dy.values}, 0.25F));
  add(result, dy);
  return result;
}

/// The way into noise and back.
template <class Diffusion, class X> [[maybe_unused]] auto measure_diffusion() -> measured {
  constexpr auto noise = Diffusion{};
  auto image = X{};
  auto other = X{};
  auto x = X{};
  for (auto i = std::size_t{0}; i < x.size(); ++i) {
    image.values[i] = static_cast<float>(i % 5) / 5;
    other.values[i] = static_cast<float>(i % 7) / 7;
  }
  auto result = measured{};
  add_layout<Diffusion, X>(result);
  noise.add_noise(3, image, other, tessera::view_of<X>{x.values});
  add(result, x);
  noise.denoise(3, tessera::view_of<X>{x.values}, other, image);
  add(result, x);
  return result;
}

}  // namespace
