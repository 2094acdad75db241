// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

namespace {

struct centered_product {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<4, 3>> weight;
    tensor_in<Storage, shape<4>> shift;
    TESSERA_PARAMETERS(weight, shift)
  };
  static constexpr bool row_wise = false;
  static constexpr auto forward(auto const& p, auto x) {
    auto const centered = x - mean(x, axis<-1>, keep) + p.shift;
    return tanh(matmul(centered * max(x, axis<0>, keep), p.weight));
  }
};
template <class Backend> using batch = tensor<double, shape<3, 4>, Backend>;

}  // namespace

TEST_CASE("trace: a forward-only layer has its gradient on the device, to the bit") {
  static_assert(device::is_fake);
  auto const slopes_on = []<class Backend>(std::type_identity<Backend>) {
    using X = batch<Backend>;
    auto const pass = std::make_unique<differentiation<centered_product, X>>();
    auto const p = std::make_unique<parameters_of<centered_product, owned<double, Backend>>>();
    auto const x = std::make_unique<X>();
    auto const dx = std::make_unique<X>();
    test::fill_parameters(*p, 1);
    test::fill(*x, 2);
    test::fill(pass->dy, 3);
    clear_on<Backend>(pass->gradient);
    pass->forward(*p, *x);
    test::fill(pass->dy, 3);
    pass->backward(*p, *x, view_of<X>(*dx), pass->gradient, plain_context{});
    auto numbers = std::vector<double>(dx->begin(), dx->end());
    for_each_parameter(
        [&](name const&, auto const& w) { numbers.insert(numbers.end(), w.begin(), w.end()); },
        pass->gradient);
    return numbers;
  };
  auto const by_device = slopes_on(std::type_identity<cuda>{});
  CHECK(by_device == slopes_on(std::type_identity<reference>{}));
  CHECK(std::count(by_device.begin(), by_device.end(), 0.0) == 0);
}
