// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tessera.hpp>

#include <memory>

namespace run_time {

template <class P> void fill_parameters(P& p) {
  auto g = tessera::torch_generator(1);
  tessera::for_each_parameter([&](tessera::path_name const&, auto& w) { g.uniform(w, 0.1); }, p);
}

/// A recurrent layer and a linear one, which is given its own answers, one sample after another.
template <class Recurrent, std::size_t Hidden, class Backend = tessera::default_backend>
struct stream {
  using model = tessera::sequential<tessera::named<"recurrent", Recurrent>,
                                    tessera::named<"linear", tessera::linear<Hidden, 1>>>;
  using X = tessera::tensor<float, tessera::shape<1, 1>, Backend>;

  std::unique_ptr<tessera::parameters_of<model, tessera::owned<float>>> p =
      std::make_unique<tessera::parameters_of<model, tessera::owned<float>>>();
  std::unique_ptr<tessera::parameters_of<model, tessera::packed<float>>> q =
      std::make_unique<tessera::parameters_of<model, tessera::packed<float>>>();
  std::unique_ptr<tessera::streaming<model, X>> run =
      std::make_unique<tessera::streaming<model, X>>();
  X x = X{{0.3F}};

  stream() {
    fill_parameters(*p);
    tessera::pack_parameters(*p, *q);
    run->state = {};
  }
  auto step() -> float { return x.values[0] = run->step(*q, x).data()[0]; }
};

}  // namespace run_time
