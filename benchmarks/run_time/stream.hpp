// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tessera.hpp>

#include <memory>

using namespace tessera;

template <class P> void fill_parameters(P& p) {
  auto g = torch_generator(1);
  for_each_parameter([&](path_name const&, auto& w) { g.uniform(w, 0.1); }, p);
}

/// A recurrent layer and a linear one, which is given its own answers, one sample after another.
template <class Recurrent, std::size_t Hidden> struct stream {
  using model = sequential<named<"recurrent", Recurrent>, named<"linear", linear<Hidden, 1>>>;
  using X = tensor<float, shape<1, 1>>;

  std::unique_ptr<parameters_of<model, owned<float>>> p =
      std::make_unique<parameters_of<model, owned<float>>>();
  std::unique_ptr<parameters_of<model, packed<float>>> q =
      std::make_unique<parameters_of<model, packed<float>>>();
  std::unique_ptr<streaming<model, X>> run = std::make_unique<streaming<model, X>>();
  X x = X{{0.3F}};

  stream() {
    fill_parameters(*p);
    pack_parameters(*p, *q);
    run->state = {};
  }
  auto step() -> float { return x.values[0] = run->step(*q, x).data()[0]; }
};
