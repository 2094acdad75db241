// SPDX-License-Identifier: MIT
// Products y = x·Wᵀ with weights as files of language models have them, on one core, in the shapes
// of SmolLM2-135M: time, bytes of weights per second and operations per second, beside two bounds:
// what a plain read of the same memory gives, and products of bytes in registers. Weights of a
// shape are as many copies as no cache holds, each used once in a pass, as in a decoder. With ggml
// (CMake finds it, or TESSERA_GGML names its folder), its product of the same bytes stands beside.
//
//   quantized [part of a row's name]
#include <tessera/backend/simd/matrix_unit.hpp>
#include <tessera/tessera.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#ifdef __linux__
#include <time.h>
#endif

#if TESSERA_HAS_GGML
#include <ggml-cpu.h>
#include <ggml.h>
#endif

#define LITERAL_OF(...) #__VA_ARGS__
#define LITERAL(...) LITERAL_OF(__VA_ARGS__)

using namespace tessera;

namespace {

constexpr auto memory = std::size_t{96} << 20U;
auto wanted = std::string{};

/// Seconds that this thread computed for, where the system tells; else those that went by.
auto now() -> double {
#ifdef __linux__
  auto time = timespec{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
#else
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
#endif
}
/// The shortest of some runs.
auto seconds(auto const& run) -> double {
  auto best = 1e9;
  auto const end = now() + 0.3;
  for (auto i = 0; i < 3 || now() < end; ++i) {
    auto const from = now();
    run();
    best = std::min(best, now() - from);
  }
  return best;
}
/// Keeps a result from being left out.
void used(float value) { asm volatile("" : : "x"(value)); }

/// GB/s of a plain read.
auto read_rate(std::vector<std::byte> const& from) -> double {
  auto const time = seconds([&] {
    auto const* const words = reinterpret_cast<float const*>(from.data());
    auto const count = from.size() / sizeof(float) / 64 * 64;
    lane::pack<float> sum[8] = {};
    constexpr auto width = lane::pack<float>::width;
    for (auto i = std::size_t{0}; i + 8 * width <= count; i += 8 * width)
      for (auto v = std::size_t{0}; v < 8; ++v)
        sum[v] = from_bits(as_bits(sum[v]) ^ as_bits(lane::load(words + i + v * width)));
    float lanes[width];
    for (auto v = std::size_t{1}; v < 8; ++v) sum[0] = from_bits(as_bits(sum[0]) ^ as_bits(sum[v]));
    lane::store(lanes, sum[0]);
    used(lanes[0]);
  });
  return static_cast<double>(from.size()) / time * 1e-9;
}
/// GOP/s of products of bytes, multiply and add counted each, from registers alone: as many sums
/// as there are registers for, so that none waits for the one before.
template <class Sums> auto product_rate() -> double {
  constexpr auto rounds = std::size_t{1} << 16U;
  constexpr auto count = lane::word_lanes == 16 ? std::size_t{16} : std::size_t{8};
  auto w = lane::words(0x01020304U);
  auto const time = seconds([&] {
    Sums sums[count];
#pragma GCC unroll 16
    for (auto s = 0U; s < count; ++s) sums[s].value = lane::words(s);  // none is another one
    for (auto i = std::size_t{0}; i < rounds; ++i) {
      asm volatile("" : "+x"(w.value.data));  // not the same every time, to the compiler
#pragma GCC unroll 16
      for (auto& sum : sums) sum.add(w, w);
    }
    auto total = lane::to_float(sums[0].total());
#pragma GCC unroll 16
    for (auto const& sum : sums) total = total + lane::to_float(sum.total());
    float lanes[lane::word_lanes];
    lane::store(lanes, total);
    used(lanes[0]);
  });
  return static_cast<double>(rounds * count * lane::word_lanes * 4 * 2) / time * 1e-9;
}

#if TESSERA_HAS_GGML
template <class Stored> constexpr auto type_of_ggml() -> ggml_type {
  if constexpr (std::same_as<Stored, bf16> || is_pairs<Stored>)
    return GGML_TYPE_BF16;
  else if constexpr (std::same_as<Stored, float>)
    return GGML_TYPE_F32;
  else if constexpr (std::same_as<block_format_of<Stored>, q4_0>)
    return GGML_TYPE_Q4_0;
  else
    return std::same_as<block_format_of<Stored>, q4_1> ? GGML_TYPE_Q4_1 : GGML_TYPE_Q8_0;
}
/// Seconds of one product by ggml, of a graph with one for each copy of the weights.
template <class Stored>
auto by_ggml(std::byte const* weights, std::size_t bytes, std::size_t copies, std::size_t out,
             std::size_t in, std::size_t rows, float const* x, std::vector<float>& y) -> double {
  auto const size = std::size_t{64} << 20U;
  auto* const context = ggml_init({size + rows * out * 4 * copies, nullptr, false});
  auto* const graph = ggml_new_graph_custom(context, 4 * copies + 16, false);
  auto* const input = ggml_new_tensor_2d(context, GGML_TYPE_F32, static_cast<std::int64_t>(in),
                                         static_cast<std::int64_t>(rows));
  std::memcpy(input->data, x, rows * in * sizeof(float));
  ggml_tensor* last = nullptr;
  for (auto c = std::size_t{0}; c < copies; ++c) {
    ggml_set_no_alloc(context, true);
    auto* const w =
        ggml_new_tensor_2d(context, type_of_ggml<Stored>(), static_cast<std::int64_t>(in),
                           static_cast<std::int64_t>(out));
    ggml_set_no_alloc(context, false);
    w->data = const_cast<std::byte*>(weights + c * bytes);
    last = ggml_mul_mat(context, w, input);
    ggml_build_forward_expand(graph, last);
  }
  auto const time = seconds([&] { ggml_graph_compute_with_ctx(context, graph, 1); });
  y.assign(static_cast<float const*>(last->data),
           static_cast<float const*>(last->data) + rows * out);
  ggml_free(context);
  return time / static_cast<double>(copies);
}
#endif

template <class Stored, std::size_t Out, std::size_t In> struct matrices {
  using weights = mapped_matrix<float, shape<Out, In>, simd, Stored>;
  static constexpr auto bytes = Out * In / numbers_of_stored<Stored> * sizeof(Stored);
  static constexpr auto copies = std::max<std::size_t>(1, memory / bytes);
  std::vector<std::byte> all = std::vector<std::byte>(copies * bytes);

  matrices() {
    auto const one = std::make_unique<tensor<float, shape<Out, In>>>();
    auto g = torch_generator(1);
    g.uniform(one->data(), one->size(), -1, 1);
    if constexpr (std::same_as<Stored, float>) {
      std::memcpy(all.data(), one->data(), bytes);
    } else {
      auto const stored = std::make_unique<compact_matrix<float, shape<Out, In>, simd, Stored>>();
      stored->pack(weights_of<float>(*one));
      std::memcpy(all.data(), stored->values, bytes);
    }
    for (auto c = std::size_t{1}; c < copies; ++c)
      std::memcpy(all.data() + c * bytes, all.data(), bytes);
  }
  [[nodiscard]] auto operator[](std::size_t c) const -> weights {
    auto result = weights{};
    result.values = reinterpret_cast<Stored const*>(all.data() + c * bytes);
    return result;
  }
};

template <class Stored, std::size_t Out, std::size_t In, std::size_t Rows>
void row(std::string const& name, matrices<Stored, Out, In> const& w) {
  auto const x = std::make_unique<tensor<float, shape<Rows, In>>>();
  auto const y = std::make_unique<tensor<float, shape<Rows, Out>>>();
  auto g = torch_generator(2);
  g.uniform(x->data(), x->size(), -1, 1);
  auto none = nothing{};
  auto const used_copies = Rows > 16 ? std::size_t{1} : w.copies;
  auto const time =
      seconds([&] {
        for (auto c = std::size_t{0}; c < used_copies; ++c)
          kernel_for<detail::affine_map_fn, simd>::run(
              view<float const, shape<Rows, In>>{x->data()}, w[c],
              static_cast<float const*>(nullptr), view<float, shape<Rows, Out>>{y->data()}, none);
      }) /
      static_cast<double>(used_copies);
  auto const operations = 2.0 * Rows * Out * In;
  std::printf("%-28s %4zu %11.1f %7.2f %8.1f", name.c_str(), Rows, time * 1e6,
              static_cast<double>(w.bytes) / time * 1e-9, operations / time * 1e-9);
#if TESSERA_HAS_GGML
  auto theirs = std::vector<float>{};
  auto const peer =
      by_ggml<Stored>(w.all.data(), w.bytes, used_copies, Out, In, Rows, x->data(), theirs);
  auto worst = 0.0F;
  auto largest = 0.0F;
  for (auto i = std::size_t{0}; i < theirs.size(); ++i) {
    worst = std::max(worst, std::abs(theirs[i] - y->data()[i]));
    largest = std::max(largest, std::abs(theirs[i]));
  }
  std::printf(" %11.1f %6.2f %9.1e", peer * 1e6, peer / time, static_cast<double>(worst / largest));
#endif
  std::printf("\n");
  std::fflush(stdout);
}
template <class Stored, std::size_t Out, std::size_t In> void rows_of(std::string const& kind) {
  auto const name = kind + " " + std::to_string(Out) + " x " + std::to_string(In);
  if (name.find(wanted) == std::string::npos) return;
  auto const w = std::make_unique<matrices<Stored, Out, In>>();
  row<Stored, Out, In, 1>(name, *w);

  row<Stored, Out, In, 4>(name, *w);
  row<Stored, Out, In, 8>(name, *w);
  row<Stored, Out, In, 16>(name, *w);
  row<Stored, Out, In, 128>(name, *w);
  if constexpr (Out < 10000) row<Stored, Out, In, 512>(name, *w);
}
template <class Stored> void layers_of(std::string const& kind) {
  rows_of<Stored, 576, 576>(kind);
  rows_of<Stored, 1536, 576>(kind);
  rows_of<Stored, 576, 1536>(kind);
}

}  // namespace

auto main(int count, char** arguments) -> int {
  if (count > 1) wanted = arguments[1];
  std::printf("%s%s\n", LITERAL(TESSERA_TARGET), lane::has_matrix_unit() ? ", AMX" : "");
  std::printf("plain read of %zu MB: %.2f GB/s\n", memory >> 20U,
              read_rate(std::vector<std::byte>(memory, std::byte{1})));
  std::printf("products of bytes in registers: %.0f GOP/s with 4 bits, %.0f with 8\n",
              product_rate<lane::sums_of_4_bits>(), product_rate<lane::sums_of_8_bits>());
  std::printf("%-28s %4s %11s %7s %8s", "weights", "rows", "us", "GB/s", "GOP/s");
#if TESSERA_HAS_GGML
  std::printf(" %11s %6s %9s", "ggml, us", "faster", "differs");
#endif
  std::printf("\n");
  layers_of<as_stored<q4_1>>("q4_1 as stored");
  rows_of<as_stored<q4_1>, 49152, 1536>("q4_1 as stored");  // more than caches hold
  rows_of<as_stored<q4_1>, 4096, 11008>("q4_1 as stored");  // an x that is wider than the stack
  rows_of<as_stored<q8_0>, 49152, 576>("q8_0 as stored");
  rows_of<as_stored<q8_0>, 1536, 576>("q8_0 as stored");
  rows_of<as_stored<q4_0>, 1536, 576>("q4_0 as stored");
  rows_of<q4_1, 1536, 576>("q4_1 in floats");
  rows_of<bf16, 1536, 576>("bf16 in floats");
  rows_of<bf16, 49152, 576>("bf16 in floats");
  layers_of<as_stored<bf16>>("bf16 as stored");
  rows_of<as_stored<bf16>, 49152, 576>("bf16 as stored");
}
