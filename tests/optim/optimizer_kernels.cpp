// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

TEMPLATE_TEST_CASE("optimizer: a known divisor gives the bits of the division", "", float, double) {
  using T = TestType;
  using V = lane::pack<T>;
  auto g = torch_generator(5);
  auto const infinite = std::numeric_limits<T>::infinity();
  T x[V::width];
  T quotient[V::width];
  for (auto k = 0; k < 20'000; ++k) {
    auto const divisor = static_cast<T>(std::sqrt(1 - std::pow(0.999, 1 + k % 5000)));
    g.uniform(x, V::width, 0, k % 2 == 0 ? T(1) : T(1e-9));
    x[0] = k % 3 == 0 ? T{0} : infinite;
    lane::store(quotient, detail::known_divisor<T>(divisor).divide(lane::load(x)));
    for (auto i = std::size_t{0}; i < V::width; ++i)
      if (quotient[i] != x[i] / divisor) FAIL(x[i] << " / " << divisor);
  }
}

namespace {

template <class Storage, std::size_t Count> struct numbers {
  tensor_in<Storage, shape<Count>> values;
  TESSERA_PARAMETERS(values)
};
/// Parameters after steps by gradients among which some are not ordinary.
template <class T, class Backend, std::size_t Count, class Optimizer>
auto after_steps(Optimizer const& optimizer) {
  using P = numbers<owned<T, Backend>, Count>;
  auto p = P{};
  auto d = P{};
  auto m = typename Optimizer::template moments<P>{};
  auto g = torch_generator(6);
  g.uniform(p.values.data(), Count, -1, 1);
  for (auto s = 0; s < 20; ++s) {
    g.uniform(d.values.data(), Count, -1, 1);
    if (s > 10) test::put_extremes(d.values.data(), Count, Count / 25, g);
    optimizer.update(p, d, m);
  }
  return p.values;
}
/// Of few vectors, of many, and with what is left of one.
template <class T> void equals_reference(auto const& optimizer) {
  for_each_index<8>([&]<std::size_t I>() {
    constexpr auto count = std::array<std::size_t, 8>{1, 7, 16, 31, 32, 47, 48, 75}[I];
    CAPTURE(count);
    auto const by_vectors = after_steps<T, simd, count>(optimizer);
    CHECK(test::same_numbers(by_vectors, after_steps<T, reference, count>(optimizer)));
    auto finite = std::size_t{0};
    for (auto const x : by_vectors) finite += std::isfinite(x) ? 1 : 0;
    CHECK(finite > count * 40 / 75);
  });
}

}  // namespace

TEMPLATE_TEST_CASE("optimizer: vectors have the bits of the reference, also beyond ordinary slopes",
                   "", float, double) {
  equals_reference<TestType>(sgd{.rate = 0.1});
  equals_reference<TestType>(
      sgd{.rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
  equals_reference<TestType>(adam{.weight_decay = 0.1});
  equals_reference<TestType>(adamw{.rate = 0.02});
}
