// SPDX-License-Identifier: MIT
// What is reachable when one sample follows another: a step of an LSTM with one input and a linear
// layer, written by hand for this alone, as the peer `floor` of the rows stream/H<Hidden> and
// stream/relaxed_H<Hidden>. Its sums have no order to keep, as those of the latter.
#include "stream.hpp"

#include <benchmark/benchmark.h>

#if defined(__AVX2__) && defined(__FMA__)
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <immintrin.h>

namespace {

#ifdef __AVX512F__
using vector = __m512;
TESSERA_INLINE inline auto all(float x) -> vector { return _mm512_set1_ps(x); }
TESSERA_INLINE inline auto load(float const* p) -> vector { return _mm512_load_ps(p); }
TESSERA_INLINE inline void store(float* p, vector x) { _mm512_store_ps(p, x); }
TESSERA_INLINE inline auto fma(vector a, vector b, vector c) -> vector {
  return _mm512_fmadd_ps(a, b, c);
}
TESSERA_INLINE inline auto round(vector x) -> vector { return _mm512_roundscale_ps(x, 0); }
/// x·2^n, where n is whole.
TESSERA_INLINE inline auto scale(vector x, vector n) -> vector { return _mm512_scalef_ps(x, n); }
/// From 14 bits to 23.
TESSERA_INLINE inline auto inverse(vector x) -> vector {
  auto const guess = _mm512_rcp14_ps(x);
  return guess * fma(-x, guess, all(2));
}
TESSERA_INLINE inline auto sum(vector x) -> float { return _mm512_reduce_add_ps(x); }
#else
using vector = __m256;
TESSERA_INLINE inline auto all(float x) -> vector { return _mm256_set1_ps(x); }
TESSERA_INLINE inline auto load(float const* p) -> vector { return _mm256_load_ps(p); }
TESSERA_INLINE inline void store(float* p, vector x) { _mm256_store_ps(p, x); }
TESSERA_INLINE inline auto fma(vector a, vector b, vector c) -> vector {
  return _mm256_fmadd_ps(a, b, c);
}
TESSERA_INLINE inline auto round(vector x) -> vector { return _mm256_round_ps(x, 8); }
/// x·2^n, where n is whole and the result a normal number.
TESSERA_INLINE inline auto scale(vector x, vector n) -> vector {
  auto const exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), exponent));
}
TESSERA_INLINE inline auto inverse(vector x) -> vector { return _mm256_div_ps(all(1), x); }
TESSERA_INLINE inline auto sum(vector x) -> float {
  auto four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  four = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}
#endif
constexpr auto width = sizeof(vector) / sizeof(float);

/// e^x for |x| < 80, to about two units in the last place: 2^n·e^r, |r| <= log(2)/2.
TESSERA_INLINE inline auto exponential(vector x) -> vector {
  auto const n = round(x * all(1.44269504F));
  auto const r = fma(n, all(2.12194440e-4F), fma(n, all(-0.693359375F), x));
  auto const square = r * r;
  auto const low = fma(square, fma(r, all(1.F / 6), all(0.5F)), r + all(1));
  auto const high = fma(square, all(1.F / 720), fma(r, all(1.F / 120), all(1.F / 24)));
  return scale(fma(square * square, high, low), n);
}
TESSERA_INLINE inline auto logistic(vector x) -> vector {
  return inverse(all(1) + exponential(-x));
}
/// 1 - 2·logistic(-2x).
TESSERA_INLINE inline auto tangent(vector x) -> vector {
  return fma(all(-2), inverse(all(1) + exponential(x + x)), all(1));
}

/// The weights of the gates of a block of units lie beside each other, in the order of reading, and
/// are read to and fro where there are more than a cache of the first level holds: by one loop, as
/// two would read ahead a fifth slower.
template <std::size_t Hidden> class lstm_floor {
  static constexpr auto vectors = (Hidden + width - 1) / width;
  static constexpr auto most = width == 16 ? std::size_t{4} : std::size_t{2};
  static constexpr auto block = vectors < most ? vectors : most;  // vectors of units at a time
  static constexpr auto blocks = vectors / block;
  static constexpr auto gates = 4 * block;
  static constexpr auto parts = gates < 8 ? 8 / gates : std::size_t{1};  // of each sum
  static constexpr auto turns = Hidden >= 64;

 public:
  /// From parameters by torch's names.
  explicit lstm_floor(std::map<std::string, std::vector<float>> const& p) {
    auto const& of_x = p.at("recurrent.weight_ih_l0");
    auto const& of_h = p.at("recurrent.weight_hh_l0");
    for (auto o = std::size_t{0}; o < 4 * Hidden; ++o) {
      auto const gate = o / Hidden;
      auto const unit = o % Hidden;
      auto const at = unit / width % block * width + unit % width + gate * block * width;
      auto& own = rows_[unit / width / block];
      own.bias[at] = p.at("recurrent.bias_ih_l0")[o] + p.at("recurrent.bias_hh_l0")[o];
      own.of_x[at] = of_x[o];
      for (auto k = std::size_t{0}; k < Hidden; ++k) own.of_h[k][at] = of_h[o * Hidden + k];
    }
    std::copy_n(p.at("linear.weight").data(), Hidden, linear_);
    linear_bias_ = p.at("linear.bias")[0];
  }

  auto step(float x) -> float {
    auto answer = all(0);
    auto const back = turns && back_;
    for (auto b = std::size_t{0}; b < blocks; ++b)
      answer = of_block(back, back ? blocks - 1 - b : b, x, answer);
    now_ = 1 - now_;
    back_ = not back_;
    return linear_bias_ + sum(answer);
  }

 private:
  TESSERA_INLINE auto of_block(bool back, std::size_t b, float x, vector answer) -> vector {
    auto const& own = rows_[b];
    auto const* const h = h_[now_];
    vector gate[parts][gates];
#pragma GCC unroll 16
    for (auto g = std::size_t{0}; g < gates; ++g) {
      gate[0][g] = fma(all(x), load(own.of_x + g * width), load(own.bias + g * width));
#pragma GCC unroll 2
      for (auto part = std::size_t{1}; part < parts; ++part) gate[part][g] = all(0);
    }
#pragma GCC unroll 2
    for (auto i = std::size_t{0}; i < Hidden; i += parts) {
      auto const k = back ? Hidden - parts - i : i;
#pragma GCC unroll 2
      for (auto part = std::size_t{0}; part < parts; ++part) {
        auto const value = all(h[k + part]);
#pragma GCC unroll 16
        for (auto g = std::size_t{0}; g < gates; ++g)
          gate[part][g] = fma(value, load(own.of_h[k + part] + g * width), gate[part][g]);
      }
    }
#pragma GCC unroll 16
    for (auto g = std::size_t{0}; g < gates; ++g) {
#pragma GCC unroll 2
      for (auto part = std::size_t{1}; part < parts; ++part) gate[0][g] += gate[part][g];
    }
#pragma GCC unroll 4
    for (auto v = std::size_t{0}; v < block; ++v) {
      auto const at = (b * block + v) * width;
      auto const input = logistic(gate[0][v]);
      auto const forget = logistic(gate[0][block + v]);
      auto const candidate = tangent(gate[0][2 * block + v]);
      auto const output = logistic(gate[0][3 * block + v]);
      auto const c = fma(forget, load(c_ + at), input * candidate);
      auto const next = output * tangent(c);
      store(c_ + at, c);
      store(h_[1 - now_] + at, next);
      answer = fma(next, load(linear_ + at), answer);
    }
    return answer;
  }

  struct alignas(64) rows_of_block {
    float bias[gates * width];
    float of_x[gates * width];
    float of_h[Hidden][gates * width];
  };
  rows_of_block rows_[blocks]{};
  alignas(64) float h_[2][vectors * width]{};
  alignas(64) float c_[vectors * width]{};
  alignas(64) float linear_[vectors * width]{};
  float linear_bias_ = 0;
  std::size_t now_ = 0;
  bool back_ = false;
};

template <std::size_t Hidden> void floor(benchmark::State& state) {
  auto tesseras = run_time::stream<tessera::lstm<1, Hidden>, Hidden>{};
  auto parameters = std::map<std::string, std::vector<float>>{};
  tessera::for_each_parameter(
      [&](auto const& path, auto const& w) {
        parameters[path.c_str()].assign(w.data(), w.data() + w.size());
      },
      *tesseras.p);
  auto const own = std::make_unique<lstm_floor<Hidden>>(parameters);
  auto x = tesseras.x.values[0];
  for (auto i = 0; i < 20; ++i)
    if (not(std::abs((x = own->step(x)) - tesseras.step()) < 1e-5F))
      return state.SkipWithError("differs from Tessera's stream");
  for (auto _ : state) benchmark::DoNotOptimize(x = own->step(x));
}
BENCHMARK(floor<8>)->Name("floor/stream/H8");
BENCHMARK(floor<16>)->Name("floor/stream/H16");
BENCHMARK(floor<32>)->Name("floor/stream/H32");
BENCHMARK(floor<64>)->Name("floor/stream/H64");
BENCHMARK(floor<128>)->Name("floor/stream/H128");
BENCHMARK(floor<8>)->Name("floor/stream/relaxed_H8");
BENCHMARK(floor<16>)->Name("floor/stream/relaxed_H16");
BENCHMARK(floor<32>)->Name("floor/stream/relaxed_H32");
BENCHMARK(floor<64>)->Name("floor/stream/relaxed_H64");
BENCHMARK(floor<128>)->Name("floor/stream/relaxed_H128");

}  // namespace
#endif
