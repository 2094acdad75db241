// SPDX-License-Identifier: MIT
// Products of matrices by Tessera and, as <peer>/<row>, by the libraries that CMake found. A row is
// product/<type>/<transposed?>/<N, or rows x depth x columns>. One thread: OMP_NUM_THREADS=1.
#include <tessera/ops/matmul.hpp>
#include <tessera/tessera.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "results.hpp"

#include <benchmark/benchmark.h>

#if TESSERA_HAS_OPENBLAS
#include <cblas.h>
#endif
#if TESSERA_HAS_ONEDNN
#include <dnnl.h>
#endif
#if TESSERA_HAS_EIGEN
#include <Eigen/Core>
#endif

using namespace tessera;
using benchmark::State;

namespace {

/// C = A·B of matrices that lie by rows, or by columns where they are transposed.
template <class T> struct product {
  std::size_t rows;
  std::size_t depth;
  std::size_t columns;
  bool a_transposed;
  bool b_transposed;
  T const* a;
  T const* b;
  T* c;

  [[nodiscard]] auto a_row() const { return a_transposed ? rows : depth; }  // as it lies
  [[nodiscard]] auto b_row() const { return b_transposed ? depth : columns; }
};

template <class T, std::size_t Rows, std::size_t Depth, std::size_t Columns> struct operands {
  tensor<T, shape<Rows, Depth>> a;
  tensor<T, shape<Depth, Columns>> b;
  tensor<T, shape<Rows, Columns>> c;

  operands() {
    auto g = torch_generator(1);
    g.uniform(a.data(), a.size(), -1, 1);
    g.uniform(b.data(), b.size(), -1, 1);
  }
  [[nodiscard]] auto with(bool a_transposed, bool b_transposed) -> product<T> {
    return {Rows, Depth, Columns, a_transposed, b_transposed, a.data(), b.data(), c.data()};
  }
};

// -- who multiplies -------------------------------------------------------------------------------
struct by_tessera {
  static constexpr auto prefix = "";
  template <class T, class Operands> static void run(product<T> const& p, Operands& of) {
    if (not p.a_transposed && not p.b_transposed) {
      of.c = matmul(of.a, of.b);
      return;
    }
    detail::multiply<simd>(detail::matrix_product<T>{
        .rows = p.rows,
        .columns = p.columns,
        .depth = p.depth,
        .a = {p.a, p.a_transposed ? 1 : p.a_row(), p.a_transposed ? p.a_row() : 1},
        .b = {p.b, p.b_transposed ? 1 : p.b_row(), p.b_transposed ? p.b_row() : 1},
        .c = p.c,
        .c_row = p.columns,
        .adds = false});
  }
};

#if TESSERA_HAS_OPENBLAS
struct by_openblas {
  static constexpr auto prefix = "openblas/";
  template <class T, class Operands> static void run(product<T> const& p, Operands&) {
    auto const sign = [](bool is) { return is ? CblasTrans : CblasNoTrans; };
    auto const size = [](std::size_t n) { return static_cast<blasint>(n); };
    auto const gemm = [](auto... given) {
      if constexpr (std::same_as<T, float>)
        cblas_sgemm(given...);
      else
        cblas_dgemm(given...);
    };
    gemm(CblasRowMajor, sign(p.a_transposed), sign(p.b_transposed), size(p.rows), size(p.columns),
         size(p.depth), T{1}, p.a, size(p.a_row()), p.b, size(p.b_row()), T{0}, p.c,
         size(p.columns));
  }
};
#endif

#if TESSERA_HAS_ONEDNN
struct by_onednn {
  static constexpr auto prefix = "onednn/";
  template <class Operands> static void run(product<float> const& p, Operands&) {
    auto const sign = [](bool is) { return is ? 'T' : 'N'; };
    auto const size = [](std::size_t n) { return static_cast<dnnl_dim_t>(n); };
    dnnl_sgemm(sign(p.a_transposed), sign(p.b_transposed), size(p.rows), size(p.columns),
               size(p.depth), 1.0F, p.a, size(p.a_row()), p.b, size(p.b_row()), 0.0F, p.c,
               size(p.columns));
  }
};
#endif

#if TESSERA_HAS_EIGEN
struct by_eigen {
  static constexpr auto prefix = "eigen/";
  /// Small matrices of a fixed size, as Eigen likes them; larger ones would lie on the stack.
  template <class T, std::size_t Rows, std::size_t Depth, std::size_t Columns>
  static void run(product<T> const& p, operands<T, Rows, Depth, Columns>&) {
    constexpr auto fixed = Rows * Depth <= 1024 && Depth * Columns <= 1024;
    constexpr auto extent = [](std::size_t n) { return fixed ? static_cast<int>(n) : -1; };
    auto const of = [](T const* data, auto rows, auto columns, auto at_rows, auto at_columns) {
      using matrix = Eigen::Matrix<T, at_rows(), at_columns(),
                                   at_columns() == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
      return Eigen::Map<matrix const>(data, static_cast<Eigen::Index>(rows),
                                      static_cast<Eigen::Index>(columns));
    };
    using std::integral_constant;
    auto const rows = integral_constant<int, extent(Rows)>{};
    auto const depth = integral_constant<int, extent(Depth)>{};
    auto const columns = integral_constant<int, extent(Columns)>{};
    using result = Eigen::Matrix<T, rows(), columns(), Eigen::RowMajor>;
    auto c = Eigen::Map<result>(p.c, static_cast<Eigen::Index>(Rows),
                                static_cast<Eigen::Index>(Columns));
    auto const a = of(p.a, Rows, Depth, rows, depth);
    auto const b = of(p.b, Depth, Columns, depth, columns);
    auto const at = of(p.a, Depth, Rows, depth, rows);
    auto const bt = of(p.b, Columns, Depth, columns, depth);
    if (p.a_transposed && p.b_transposed)
      c.noalias() = at.transpose() * bt.transpose();
    else if (p.a_transposed)
      c.noalias() = at.transpose() * b;
    else if (p.b_transposed)
      c.noalias() = a * bt.transpose();
    else
      c.noalias() = a * b;
  }
};
#endif

// -- rows -----------------------------------------------------------------------------------------
/// True where the product in C is `expected`, but for the order of its sums.
template <class T> auto agrees(product<T> const& p, T const* expected) -> bool {
  auto const tolerance = static_cast<T>(p.depth) * std::numeric_limits<T>::epsilon();
  for (auto i = std::size_t{0}; i < p.rows * p.columns; ++i)
    if (not(std::abs(p.c[i] - expected[i]) <= tolerance)) return false;
  return true;
}

template <class By, class Operands>
void multiply(State& state, bool a_transposed, bool b_transposed) {
  auto const of = std::make_unique<Operands>();
  auto const p = of->with(a_transposed, b_transposed);
  by_tessera::run(p, *of);
  auto const expected = std::make_unique<Operands>(*of);
  of->c = scalar_of<decltype(of->c)>{0};
  By::run(p, *of);
  if (not agrees(p, expected->c.data()))
    return state.SkipWithError("differs from Tessera's product");
  for (auto _ : state) {
    By::run(p, *of);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(2 * p.rows * p.depth * p.columns));
}

template <class T, std::size_t Rows, std::size_t Depth, std::size_t Columns>
void add_row(bool a_transposed = false, bool b_transposed = false) {
  using Operands = operands<T, Rows, Depth, Columns>;
  auto const extents =
      Rows == Depth && Depth == Columns
          ? std::to_string(Rows)
          : std::to_string(Rows) + "x" + std::to_string(Depth) + "x" + std::to_string(Columns);
  auto const name = std::string("product/") + (sizeof(T) == 4 ? "f32/" : "f64/") +
                    (a_transposed ? "T" : "N") + (b_transposed ? "T/" : "N/") + extents;
  auto const add = [&]<class By>(By) {
    benchmark::RegisterBenchmark((By::prefix + name).c_str(), [=](State& state) {
      multiply<By, Operands>(state, a_transposed, b_transposed);
    });
  };
  add(by_tessera{});
#if TESSERA_HAS_OPENBLAS
  add(by_openblas{});
#endif
#if TESSERA_HAS_ONEDNN
  if constexpr (std::same_as<T, float>) add(by_onednn{});
#endif
#if TESSERA_HAS_EIGEN
  add(by_eigen{});
#endif
  results::of_row(name, [=](std::filesystem::path const& file) {
    auto const of = std::make_unique<Operands>();
    by_tessera::run(of->with(a_transposed, b_transposed), *of);
    auto writer = safetensors_writer{};
    results::add(writer, "a", of->a);
    results::add(writer, "b", of->b);
    results::add(writer, "result", of->c);
    writer.write(file);
  });
}

template <class T> void add_rows() {
  [&]<std::size_t... N>(std::index_sequence<N...>) {
    (add_row<T, N, N, N>(), ...);
  }(std::index_sequence<8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024>{});
  add_row<T, 256, 256, 256>(false, true);
  add_row<T, 256, 256, 256>(true, false);
  add_row<T, 256, 256, 256>(true, true);
  add_row<T, 1, 768, 768>();
  add_row<T, 8, 768, 768>();
  add_row<T, 32, 512, 128>();
}

[[maybe_unused]] auto const rows = [] {
#if TESSERA_HAS_OPENBLAS
  openblas_set_num_threads(1);
#endif
  add_rows<float>();
  add_rows<double>();
  return 0;
}();

}  // namespace
