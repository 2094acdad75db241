// SPDX-License-Identifier: MIT
#pragma once

#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/tessera.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

/// What the tests of layers and models share.
namespace test {

using namespace tessera;

/// Fills memory with numbers of [-scale, scale] that are different in every place.
template <class T> void fill(T* data, std::size_t n, unsigned seed, double scale = 1) {
  auto generator = torch_generator(seed);
  for (auto i = std::size_t{0}; i < n; ++i)
    data[i] = static_cast<T>((2 * generator.rand<double>() - 1) * scale);
}
template <class X> void fill(X& x, unsigned seed, double scale = 1) {
  fill(x.data(), shape_of<X>::capacity, seed, scale);
}
/// Every parameter by `fill`, padding zero.
template <class P> void fill_parameters(P& p, unsigned seed, double scale = 1) {
  for_each_parameter(
      [&](path_name const&, auto& w) {
        w = {};
        fill(w, seed++, scale);
      },
      p);
}
/// Weights (Out, seen) in eight bits with scales, by rows and by columns.
template <class T> struct eight_bits {
  std::size_t out;
  std::size_t seen;
  std::vector<std::int8_t> rows = std::vector<std::int8_t>(out * seen);
  std::vector<std::int8_t> columns = rows;
  std::vector<T> scales = std::vector<T>(out);

  eight_bits(std::size_t outputs, std::size_t inputs, torch_generator& r)
      : out{outputs}, seen{inputs} {
    for (auto o = std::size_t{0}; o < out; ++o) {
      scales[o] = static_cast<T>(r.rand<double>());
      for (auto k = std::size_t{0}; k < seen; ++k)
        rows[o * seen + k] = columns[k * out + o] =
            static_cast<std::int8_t>(static_cast<int>(r.randint(255)) - 127);
    }
  }
  [[nodiscard]] auto by_rows() const {
    return weight_matrix<T, std::int8_t>{rows.data(), seen, 1, {scales.data(), 1, 0}};
  }
  [[nodiscard]] auto by_columns() const {
    return weight_matrix<T, std::int8_t>{columns.data(), 1, out, {scales.data(), 1, 0}};
  }
  [[nodiscard]] auto widened() const -> std::vector<T> {
    auto result = std::vector<T>{};
    for (auto i = std::size_t{0}; i < rows.size(); ++i)
      result.push_back(by_rows().at(i / seen, i % seen));
    return result;
  }
};
/// Every byte of an object as 0xFF: NaN wherever nobody writes before reading.
template <class U> void poison(U& object) {
  std::memset(static_cast<void*>(&object), 0xFF, sizeof object);
}

/// The larger of two errors; infinite where one is NaN, which stays so.
template <class T> [[nodiscard]] auto larger(T worst, T error) -> T {
  return std::isnan(error) ? static_cast<T>(INFINITY) : std::max(worst, error);
}
/// The largest |x - want|, relative to max(1, |want|); infinite where one is NaN.
template <class X>
[[nodiscard]] auto distance(X const& x, std::vector<double> const& want) -> double {
  auto worst = 0.0;
  auto i = std::size_t{0};
  for (auto const value : x) {
    if (i >= want.size()) return INFINITY;
    auto const error =
        std::abs(static_cast<double>(value) - want[i]) / std::max(1.0, std::abs(want[i]));
    worst = larger(worst, error);
    ++i;
  }
  return i == want.size() ? worst : INFINITY;
}
template <class X, class Y> [[nodiscard]] auto same_bits(X const& x, Y const& y) -> bool {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(*x.data())) == 0;
}
/// Like same_bits, but for which NaN it is, where both are one.
template <class X, class Y> [[nodiscard]] auto same_numbers(X const& x, Y const& y) -> bool {
  if (x.size() != y.size()) return false;
  for (auto i = std::size_t{0}; i < x.size(); ++i) {
    auto const both = std::isnan(x.data()[i]) && std::isnan(y.data()[i]);
    if (not both && std::memcmp(x.data() + i, y.data() + i, sizeof(*x.data())) != 0) return false;
  }
  return true;
}
/// Puts numbers that are not ordinary at `count` random places: NaN, infinities, the largest, zeros
/// of both signs and what is smaller than every normal number.
template <class T>
void put_extremes(T* data, std::size_t n, std::size_t count, torch_generator& r) {
  using limits = std::numeric_limits<T>;
  T const extremes[] = {limits::quiet_NaN(),
                        limits::infinity(),
                        -limits::infinity(),
                        limits::max(),
                        limits::denorm_min(),
                        -limits::min() / 3,
                        T{0},
                        -T{0}};
  for (auto i = std::size_t{0}; n > 0 && i < count; ++i)
    data[r.randint(static_cast<std::uint32_t>(n))] =
        extremes[r.randint(static_cast<std::uint32_t>(std::size(extremes)))];
}
template <class P> [[nodiscard]] auto same_parameters(P const& a, P const& b) -> bool {
  auto same = true;
  for_each_parameter(
      [&](path_name const&, auto const& x, auto const& y) { same = same && same_bits(x, y); }, a,
      b);
  return same;
}

/// Reference values into parameters: array "<prefix><path>" for each.
template <class P> void load(P& p, golden const& g, std::string const& prefix = "") {
  for_each_parameter(
      [&](path_name const& path, auto& w) {
        auto const& values = g[prefix + path.c_str()];
        REQUIRE(values.size() == shape_of<decltype(w)>::capacity);
        for (auto i = std::size_t{0}; i < values.size(); ++i)
          w.data()[i] = static_cast<scalar_of<decltype(w)>>(values[i]);
      },
      p);
}
template <class X>
void load(X& x, std::vector<double> const& values)
  requires requires { typename X::shape_type; }
{
  REQUIRE(values.size() == shape_of<X>::capacity);
  for (auto i = std::size_t{0}; i < values.size(); ++i)
    x.data()[i] = static_cast<scalar_of<X>>(values[i]);
}

/// A model in float against torch: outputs within 1e-6, derivatives within 1e-5, relative to
/// max(1, |value|). The arrays are x, the parameters, y, dy, dx and "d" + the parameters' paths.
template <class Model, class X>
void agrees_with_torch(golden const& g, std::string const& prefix = "", double forward = 1e-6,
                       double backward = 1e-5) {
  auto const pass = std::make_unique<differentiation<Model, X>>();
  using P = typename differentiation<Model, X>::parameters_type;
  auto const p = std::make_unique<P>();
  auto const x = std::make_unique<X>();
  auto const dx = std::make_unique<X>();
  *pass = {};
  load(*p, g, prefix);
  load(*x, g[prefix + "x"]);
  auto const y = pass->forward(*p, *x);
  CHECK(distance(y, g[prefix + "y"]) <= forward);
  load(pass->dy, g[prefix + "dy"]);
  pass->backward(*p, *x, view_of<X>(*dx), pass->gradient, plain_context{});
  CHECK(distance(*dx, g[prefix + "dx"]) <= backward);
  for_each_parameter(
      [&](path_name const& path, auto const& slope) {
        INFO("gradient of " << path.c_str());
        CHECK(distance(slope, g[prefix + "d" + path.c_str()]) <= backward);
      },
      pass->gradient);
}

/// Central differences over every parameter and input, and a condition if there is one, from a
/// state that is not zero.
template <class Model, class X, class Context>
void passes_gradient_check_given(Context const& given, unsigned seed = 1, double scale = 0.7,
                                 auto... actual) {
  using call = typename context_of<Context>::template call_type<call_mode::training>;
  using layer = as_layer<Model>;
  auto const p = std::make_unique<parameters_of<layer, owned<double, backend_of<X>>>>();
  auto const x = std::make_unique<X>();
  fill_parameters(*p, seed, scale);
  fill(*x, seed + 1000, 1);
  auto start = state_of<layer, X, call>{};
  if constexpr (bytes_of<decltype(start)> > 0)
    fill(reinterpret_cast<double*>(&start), sizeof start / sizeof(double), seed + 2000, 0.5);
  auto const report = gradient_check<Model, X>(*p, x->sized(actual...), start, {}, given);
  INFO(report.parameter.c_str() << "[" << report.index << "]: backward " << report.backward
                                << ", difference " << report.difference << ", worst of "
                                << report.checked);
  CHECK(report.passed);
  CHECK(report.worst < 1e-7);
  CHECK(report.checked > 0);
}
template <class Model, class X>
void passes_gradient_check(unsigned seed = 1, double scale = 0.7, auto... actual) {
  passes_gradient_check_given<Model, X>(plain_context{}, seed, scale, actual...);
}

/// A whole sequence, its steps, and a sequence in two parts give the same bits, for every lane
/// alone too where the batch is the second axis.
template <class Model, class X> void streams_like_a_sequence(unsigned seed = 1) {
  using T = scalar_of<X>;
  auto const p = std::make_unique<parameters_of<as_layer<Model>, owned<T, backend_of<X>>>>();
  auto const x = std::make_unique<X>();
  fill_parameters(*p, seed, 0.5);
  fill(*x, seed + 1000, 1);
  auto const whole = std::make_unique<inference<Model, X>>();
  auto const stream = std::make_unique<streaming<Model, sample_of<X>>>();
  poison(*whole);
  poison(*stream);
  auto const y = (*whole)(*p, *x);
  stream->state = {};
  for (auto t = std::size_t{0}; t < first_of<shape_of<X>>; ++t) {
    INFO("step " << t);
    CHECK(same_bits(stream->step(*p, as_const(*x)[t]), y[t]));
  }
}

/// The forward and backward pass of a model have the bits of the reference backend.
template <template <class> class OnBackend, class Model> void equals_reference(unsigned seed = 1) {
  using X = OnBackend<simd>;
  using R = OnBackend<reference>;
  using T = scalar_of<X>;
  auto const a = std::make_unique<differentiation<Model, X>>();
  auto const b = std::make_unique<differentiation<Model, R>>();
  auto const p = std::make_unique<parameters_of<as_layer<Model>, owned<T, simd>>>();
  auto const q = std::make_unique<parameters_of<as_layer<Model>, owned<T, reference>>>();
  auto const x = std::make_unique<X>();
  auto const r = std::make_unique<R>();
  auto const dx = std::make_unique<X>();
  auto const dr = std::make_unique<R>();
  *a = {};
  *b = {};
  fill_parameters(*p, seed, 0.6);
  fill_parameters(*q, seed, 0.6);
  fill(*x, seed + 1000, 1);
  fill(*r, seed + 1000, 1);
  CHECK(same_bits(a->forward(*p, *x), b->forward(*q, *r)));
  fill(a->dy, seed + 2000, 1);
  fill(b->dy, seed + 2000, 1);
  a->backward(*p, *x, view_of<X>(*dx), a->gradient, plain_context{});
  b->backward(*q, *r, view_of<R>(*dr), b->gradient, plain_context{});
  CHECK(same_bits(*dx, *dr));
  for_each_parameter(
      [&](path_name const& path, auto const& u, auto const& v) {
        INFO(path.c_str());
        CHECK(same_bits(u, v));
      },
      a->gradient, b->gradient);
}

}  // namespace test
