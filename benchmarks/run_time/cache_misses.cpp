// SPDX-License-Identifier: MIT
// `cache_misses <row> <repetitions>`: what benchmarks/run_time/cache_misses.py counts under
// valgrind. Prints the multiply-adds of one repetition.
#include <tessera/models/gpt.hpp>
#include <tessera/ops/matmul.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/tessera.hpp>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#if TESSERA_HAS_OPENBLAS
#include <cblas.h>
#endif

using namespace tessera;

namespace {

/// Something to repeat, and its multiply-adds.
struct work {
  double multiply_adds;
  std::function<void()> once;
};
using rows = std::map<std::string, std::function<work()>>;

template <std::size_t N> struct square {
  tensor<float, shape<N, N>> a;
  tensor<float, shape<N, N>> b;
  tensor<float, shape<N, N>> c;
};
template <std::size_t N> auto squares() -> std::shared_ptr<square<N>> {
  auto of = std::make_shared<square<N>>();
  auto g = torch_generator(1);
  g.uniform(of->a.data(), of->a.size(), -1, 1);
  g.uniform(of->b.data(), of->b.size(), -1, 1);
  return of;
}
template <std::size_t N> void add_products(rows& to) {
  constexpr auto multiply_adds = static_cast<double>(N * N * N);
  to["product/" + std::to_string(N)] = [] {
    return work{multiply_adds, [of = squares<N>()] { of->c = matmul(of->a, of->b); }};
  };
#if TESSERA_HAS_OPENBLAS
  to["openblas/product/" + std::to_string(N)] = [] {
    return work{multiply_adds, [of = squares<N>()] {
                  constexpr auto n = static_cast<blasint>(N);
                  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, of->a.data(),
                              n, of->b.data(), n, 0, of->c.data(), n);
                }};
  };
#endif
}

/// A training step on whole random numbers below `values`.
template <class Model, class X, class Y, class Loss>
auto training_step(double multiply_adds, Loss loss, unsigned values) -> work {
  struct all {
    training<Model, X, adam> t{};
    X x;
    Y y;
  };
  auto of = std::make_shared<all>();
  auto g = torch_generator(1);
  Model::initialize(of->t.parameters, g);
  for (auto& v : of->x) v = static_cast<scalar_of<X>>(g.randint(values));
  for (auto& v : of->y) v = static_cast<scalar_of<Y>>(g.randint(values));
  return {multiply_adds, [of, loss] {
            of->t.restart();
            of->t.step(of->x, of->y, loss, adam{});
          }};
}

auto lstm_step() -> work {
  constexpr auto time = std::size_t{50};
  constexpr auto batch = std::size_t{32};
  constexpr auto hidden = std::size_t{64};
  constexpr auto one = 4 * hidden * (2 + 3 * hidden) + 3 * hidden;
  return training_step<sequential<lstm<1, hidden>, linear<hidden, 1>>,
                       tensor<float, shape<time, batch, 1>>, tensor<float, shape<time, batch, 1>>>(
      static_cast<double>(time * batch * one), mse{}, 2);
}
auto gpt_step() -> work {
  constexpr auto time = std::size_t{64};
  constexpr auto batch = std::size_t{4};
  constexpr auto width = std::size_t{128};
  constexpr auto blocks = std::size_t{2};
  constexpr auto one = 3 * (blocks * (12 * width * width + time * width) + 128 * width);
  return training_step<
      gpt<gpt_options{
          .vocabulary = 128, .width = width, .blocks = blocks, .heads = 4, .context = time}>,
      tensor<float, shape<time, batch>>, tensor<std::int32_t, shape<time, batch>>>(
      static_cast<double>(time * batch * one), cross_entropy{}, 128);
}

auto all_rows() -> rows {
  auto result = rows{};
  [&]<std::size_t... N>(std::index_sequence<N...>) {
    (add_products<N>(result), ...);
  }(std::index_sequence<64, 128, 256, 512, 1024>{});
  result["lstm_step/T50_B32_H64"] = lstm_step;
  result["gpt_step/B4_T64_D128_x2"] = gpt_step;
  return result;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  auto const all = all_rows();
  auto const found = argc == 3 ? all.find(argv[1]) : all.end();
  if (found == all.end()) {
    for (auto const& [name, _] : all) std::puts(name.c_str());
    return argc == 1 ? 0 : 2;
  }
#if TESSERA_HAS_OPENBLAS
  openblas_set_num_threads(1);
#endif
  auto repetitions = 0;
  std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), repetitions);
  auto const of = found->second();
  for (auto i = 0; i < repetitions; ++i) of.once();
  std::printf("%.0f\n", of.multiply_adds);
  return 0;
}
