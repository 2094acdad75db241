// SPDX-License-Identifier: MIT
#pragma once

#include <support/backwards.hpp>
#include <support/test.hpp>

#include <initializer_list>
#include <thread>

#include <pthread.h>

/// Products of weights as they are stored, by both kernels.
namespace test {

using namespace tessera;

inline void any_quants(auto& blocks, torch_generator& r) {
  auto const half = [&] {
    auto const bits = static_cast<std::uint16_t>(r.randint(65536));
    return static_cast<std::uint16_t>(r.randint(9) == 0 ? bits & 0x83FFU : bits & 0xAFFFU);
  };
  for (auto& block : blocks) {
    for (auto& q : block.quants)
      q = static_cast<std::remove_reference_t<decltype(q)>>(r.randint(256));
    block.d = half();
    if constexpr (requires { block.m; }) block.m = half();
  }
}
/// Weights of any bytes, with scales of either sign, some of them zero or less than normal; of
/// bf16, numbers of which one in eight is less than normal.
template <class Block> auto any_blocks(std::size_t count, unsigned seed) -> std::vector<Block> {
  auto r = torch_generator(seed);
  auto result = std::vector<Block>(count);
  if constexpr (is_pairs<Block>) {
    for (auto& block : result)
      for (auto& number : block.numbers) {
        number = bf16(static_cast<float>(r.randint(2001)) * 1e-3F - 1.0F);
        if (r.randint(8) == 0) number.bits &= 0x807FU;
      }
    return result;
  } else {
    any_quants(result, r);
    return result;
  }
}
/// Both kernels with rows of x and blocks of W; y has more rows than most calls give it.
template <class stored, std::size_t In, std::size_t Out> struct both_kernels {
  static constexpr auto most = std::size_t{134};
  using weights = mapped_matrix<float, shape<Out, In>, simd, stored>;
  using X = tensor<float, shape<at_most(most), In>>;
  using Y = tensor<float, shape<at_most(most), Out>>;

  std::vector<stored> blocks = any_blocks<stored>(In * Out / numbers_of_stored<stored>, In + Out);
  tensor<float, shape<Out>> bias{};
  std::unique_ptr<X> x = std::make_unique<X>();
  std::unique_ptr<Y> want = std::make_unique<Y>();
  std::unique_ptr<Y> y = std::make_unique<Y>();
  weights w{};

  both_kernels() {
    w.values = blocks.data();
    fill(bias, 2);
    fill(*x, 3, 4);
  }
  template <class Backend> void run(Y& to, std::size_t rows, bool biased) {
    auto none = nothing{};
    kernel_for<detail::affine_map_fn, Backend>::run(
        as_const(x->sized(rows)), w, biased ? bias.data() : nullptr, to.sized(rows), none);
  }
  void alike(std::size_t rows, bool biased) {
    INFO(In << " to " << Out << ", " << rows << " rows");
    poison(*y);
    poison(*want);
    run<reference>(*want, rows, biased);
    run<simd>(*y, rows, biased);
    check_numbers(rows);
  }
  /// The first rows of y have the bits of what is wanted, of all 134 unless said.
  void check_numbers(std::size_t rows = most) const {
    using all = view<float const, shape<at_most(most * Out)>>;
    CHECK(same_numbers(all{want->data(), {{rows * Out}}}, all{y->data(), {{rows * Out}}}));
  }
  struct exact_sum {
    double value;
    double sizes;  ///< of what was added
  };
  /// Of a row and an output of weights that are numbers, with its bias.
  [[nodiscard]] auto exact(std::size_t row, std::size_t output) const -> exact_sum {
    auto sum = exact_sum{double{bias(output)}, std::abs(double{bias(output)})};
    for (auto k = std::size_t{0}; k < In; ++k) {
      auto const product = double{x->data()[row * In + k]} * double{w.numbers().at(output, k)};
      sum.value += product;
      sum.sizes += std::abs(product);
    }
    return sum;
  }
};
/// Two threads have the bits of one, each with a y of its own.
template <class Stored, class Backend> void by_two_threads() {
  auto both = both_kernels<Stored, 576, 320>{};
  constexpr auto rows = std::size_t{70};
  both.template run<Backend>(*both.want, rows, true);
  auto const other = std::make_unique<typename both_kernels<Stored, 576, 320>::Y>();
  auto const often = [&](auto& to) {
    for (auto i = 0; i < 20; ++i) both.template run<Backend>(to, rows, true);
  };
  auto thread = std::thread([&] { often(*other); });
  often(*both.y);
  thread.join();
  for (auto const* const y : {both.y.get(), other.get()})
    CHECK(std::memcmp(y->data(), both.want->data(), rows * 320 * sizeof(float)) == 0);
}
template <class Stored, std::size_t In, std::size_t Out> void kernels_agree() {
  auto kernels = both_kernels<Stored, In, Out>{};
  for (auto const rows : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 17U, 24U, 25U, 33U, 70U, 134U})
    kernels.alike(rows, rows % 2 == 0);
  auto r = torch_generator(9);
  put_extremes(kernels.x->data(), 9 * In, In / 16, r);
  for (auto const rows : {1U, 9U}) kernels.alike(rows, true);
}

/// The bytes of its stack that a thread touches for `f`.
template <class F> auto stack_of(F f) -> std::size_t {
  auto stack = std::vector<unsigned char>(std::size_t{1} << 19U, 0xA5);
  pthread_attr_t how;
  REQUIRE(pthread_attr_init(&how) == 0);
  REQUIRE(pthread_attr_setstack(&how, stack.data(), stack.size()) == 0);
  auto thread = pthread_t{};
  auto const run = [](void* of) -> void* {
    (*static_cast<F*>(of))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &how, run, &f) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&how);
  auto const touched = [](unsigned char one) { return one != 0xA5; };
  return static_cast<std::size_t>(stack.end() - std::ranges::find_if(stack, touched));
}
/// A product of many blocks has its share of the stack, and not more.
template <class F>
void keeps_to_its_stack(F run, std::size_t kilobytes = lane::pack<float>::width > 4 ? 64 : 16) {
  auto const nothing_done = stack_of([] {});
  auto const used = stack_of(run);
  CHECK(used - nothing_done > 4096);
  CHECK(used - nothing_done <= kilobytes * 1024 + 512);  // with what calls it
}
/// However many rows and blocks.
template <class Stored> void keeps_to_its_stack() {
  auto kernels = both_kernels<Stored, 8256, 34>{};
  for (auto const rows : {1U, 3U, 8U, 24U, 70U, 134U})
    keeps_to_its_stack([&] { kernels.template run<simd>(*kernels.y, rows, true); });
}

/// Threads share outputs or rows, with the same bits.
template <class Stored, class Backend = simd, std::size_t In = 576, std::size_t Out = 320>
void shared_alike(std::initializer_list<std::size_t> all_rows = {3, 70}) {
  auto kernels = both_kernels<Stored, In, Out>{};
  for (auto const rows : all_rows) {
    kernels.template run<Backend>(*kernels.want, rows, true);
    auto const team = backwards(3);
    kernels.template run<Backend>(*kernels.y, rows, true);
    CHECK(team.tasks > 1);
    CHECK(std::memcmp(kernels.y->data(), kernels.want->data(), rows * Out * sizeof(float)) == 0);
  }
}

}  // namespace test
