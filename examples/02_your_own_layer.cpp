// SPDX-License-Identifier: MIT
// A layer of your own is its formula: the derivative, the memory and the error messages follow.
#include <tessera/tessera.hpp>

#include <cstdio>
#include <memory>

using namespace tessera;

/// Gated RMS norm: y = x·sigmoid(w·x) / rms(x).
template <std::size_t Features> struct gated_norm {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<Features>> weight;
    TESSERA_PARAMETERS(weight)
  };
  template <class S> using expected_shape = with_last<S, Features>;
  static constexpr auto forward(auto const& p, auto x) {
    return x * sigmoid(p.weight * x) * rsqrt(mean(square(x), axis<-1>, keepdims) + 1e-5);
  }
};

using model = sequential<linear<4, 8>, residual<gated_norm<8>>, lstm<8, 3>>;
using X = tensor<double, shape<5, 2, 4>>;

auto main() -> int {
  auto p = parameters_of<model, owned<double>>{};
  auto x = X{};
  auto generator = torch_generator(1);
  for_each_parameter([&](path_name const&, auto& w) { generator.uniform(w, 0.5); }, p);
  generator.uniform(x.data(), x.size(), -1, 1);

  auto const report = gradient_check<model, X>(p, x);
  std::printf("%zu derivatives against central differences: %s, the worst by %.0e\n",
              report.checked, report.passed ? "right" : "wrong", report.worst);
  return report.passed ? 0 : 1;
}
