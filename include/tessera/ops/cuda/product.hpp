// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/cuda/product_tiles.hpp>
#include <tessera/ops/product.hpp>
#include <tessera/tensor/cuda/reduction.hpp>

#if defined(__CUDACC__) && defined(TESSERA_CUBLASLT)
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include <cublasLt.h>
#endif

/// Products of matrices on the device: tiles of ours; or cuBLASLt, for device code that is compiled
/// with TESSERA_CUBLASLT and linked with it.
namespace tessera::device::inline TESSERA_DEVICE_TARGET {

/// A matrix by the distances of its rows and columns.
template <class T> struct matrix {
  T const* data;
  std::size_t row;
  std::size_t column;
};
/// y = start + a·b of matrices.
template <class T> struct product {
  std::size_t rows;
  std::size_t columns;
  std::size_t depth;
  matrix<T> a;
  matrix<T> b;
  T* y;
  std::size_t y_row;
  start from;
  T const* bias;
};
template <class T> void multiply_by_tiles(product<T> const& p) {
  multiply_lines(p.rows, p.columns, p.depth, lines<T>{p.a.data, p.a.row, p.a.column},
                 lines<T>{p.b.data, p.b.column, p.b.row}, outputs<T>{p.y, p.y_row}, p.from, p.bias);
}

#if defined(__CUDACC__) && defined(TESSERA_CUBLASLT)
/// The product by cuBLASLt, in the order of additions that the library chooses.
///
/// State   a handle, 32 MiB of workspace and the chosen algorithms, for each thread
/// Errors  device_error with the status of the library
class library_product {
 public:
  library_product() { check(cublasLtCreate(&handle_), "cublasLtCreate"); }
  library_product(library_product const&) = delete;
  auto operator=(library_product const&) -> library_product& = delete;
  ~library_product() { (void)cublasLtDestroy(handle_); }

  void operator()(product<float> const& p, cudaStream_t stream) {
    auto const plan = plan_of(p);
    auto const one = 1.0F;
    auto const of_y = p.from == start::zero ? 0.0F : 1.0F;
    check(cublasLtMatmul(handle_, plan->operation, &one, p.a.data, plan->a, p.b.data, plan->b,
                         &of_y, p.y, plan->y, p.y, plan->y, &plan->algorithm, workspace_.get(),
                         workspace_bytes, stream),
          "cublasLtMatmul");
  }

 private:
  static constexpr auto workspace_bytes = std::size_t{32} << 20;

  static void check(cublasStatus_t status, char const* call) {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw device_error(std::string(call) + ": status " + std::to_string(status));
  }

  struct plan {
    cublasLtMatmulDesc_t operation = nullptr;
    cublasLtMatrixLayout_t a = nullptr;
    cublasLtMatrixLayout_t b = nullptr;
    cublasLtMatrixLayout_t y = nullptr;
    cublasLtMatmulAlgo_t algorithm{};

    plan() = default;
    plan(plan const&) = delete;
    auto operator=(plan const&) -> plan& = delete;
    ~plan() {
      (void)cublasLtMatrixLayoutDestroy(a);
      (void)cublasLtMatrixLayoutDestroy(b);
      (void)cublasLtMatrixLayoutDestroy(y);
      (void)cublasLtMatmulDescDestroy(operation);
    }
  };
  using key = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t,
                         std::size_t, std::size_t, std::size_t, bool>;

  /// A matrix whose rows or columns lie next to each other: in the library's words one by rows,
  /// transposed where its columns do.
  static auto layout_of(matrix<float> const& m, std::size_t rows, std::size_t columns)
      -> cublasLtMatrixLayout_t {
    auto const turned = m.column != 1;
    return by_rows(turned ? columns : rows, turned ? rows : columns, turned ? m.column : m.row);
  }
  static auto by_rows(std::size_t rows, std::size_t columns, std::size_t distance)
      -> cublasLtMatrixLayout_t {
    auto layout = cublasLtMatrixLayout_t{};
    auto const order = CUBLASLT_ORDER_ROW;
    check(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, rows, columns,
                                     static_cast<std::int64_t>(distance)),
          "cublasLtMatrixLayoutCreate");
    check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order,
                                           sizeof order),
          "cublasLtMatrixLayoutSetAttribute");
    return layout;
  }
  auto plan_of(product<float> const& p) -> plan const* {
    auto& found = plans_[key{p.rows, p.columns, p.depth, p.a.row, p.a.column, p.b.row, p.b.column,
                             p.y_row, p.from == start::zero}];
    if (found) return found.get();
    if (not workspace_) workspace_.reset(static_cast<std::byte*>(allocate(workspace_bytes)));
    auto made = std::make_unique<plan>();
    check(cublasLtMatmulDescCreate(&made->operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    auto const of_a = p.a.column == 1 ? CUBLAS_OP_N : CUBLAS_OP_T;
    auto const of_b = p.b.column == 1 ? CUBLAS_OP_N : CUBLAS_OP_T;
    check(cublasLtMatmulDescSetAttribute(made->operation, CUBLASLT_MATMUL_DESC_TRANSA, &of_a,
                                         sizeof of_a),
          "cublasLtMatmulDescSetAttribute");
    check(cublasLtMatmulDescSetAttribute(made->operation, CUBLASLT_MATMUL_DESC_TRANSB, &of_b,
                                         sizeof of_b),
          "cublasLtMatmulDescSetAttribute");
    made->a = layout_of(p.a, p.rows, p.depth);
    made->b = layout_of(p.b, p.depth, p.columns);
    made->y = by_rows(p.rows, p.columns, p.y_row);
    auto preference = cublasLtMatmulPreference_t{};
    check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    auto result = cublasLtMatmulHeuristicResult_t{};
    auto count = 0;
    auto const asked =
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &workspace_bytes, sizeof workspace_bytes);
    auto const chosen =
        asked != CUBLAS_STATUS_SUCCESS
            ? asked
            : cublasLtMatmulAlgoGetHeuristic(handle_, made->operation, made->a, made->b, made->y,
                                             made->y, preference, 1, &result, &count);
    (void)cublasLtMatmulPreferenceDestroy(preference);
    check(chosen, "cublasLtMatmulAlgoGetHeuristic");
    if (count == 0)
      throw device_error("cuBLASLt has no algorithm for a product of " + std::to_string(p.rows) +
                         " by " + std::to_string(p.columns) + " by " + std::to_string(p.depth));
    made->algorithm = result.algo;
    found = std::move(made);
    return found.get();
  }

  cublasLtHandle_t handle_ = nullptr;
  unique<std::byte> workspace_;
  std::map<key, std::unique_ptr<plan>> plans_;
};

struct fill_rows {
  std::size_t columns;
  float const* bias;
  float* y;
  std::size_t y_row;
  TESSERA_DEVICE void operator()(std::size_t i) const {
    y[i / columns * y_row + i % columns] = bias[i % columns];
  }
};

/// On the queue of this thread; a bias goes to y first.
inline void multiply_by_library(product<float> const& p) {
  static thread_local auto library = library_product{};
  auto& q = current();
  if (p.from == start::bias)
    for_each(p.rows * p.columns, fill_rows{p.columns, p.bias, p.y, p.y_row});
  if (not q.is_replaying()) library(p, q.stream());
}

template <class T> void multiply(product<T> const& p) {
  // The library takes no empty products, and no matrix with a distance both ways.
  auto const lies_by_rows = (p.a.row == 1 || p.a.column == 1) && (p.b.row == 1 || p.b.column == 1);
  if constexpr (std::is_same_v<T, float>) {
    if (p.rows > 0 && p.columns > 0 && p.depth > 0 && lies_by_rows) return multiply_by_library(p);
  }
  multiply_by_tiles(p);
}
#else
template <class T> void multiply(product<T> const& p) { multiply_by_tiles(p); }
#endif

/// y = start + a·b, where b may be stored narrower: then always by tiles.
template <class T, class Stored>
void multiply_weights(std::size_t rows, std::size_t columns, std::size_t depth,
                      std::type_identity_t<matrix<T>> const& a, weight_matrix<T, Stored> const& b,
                      T* y, std::size_t y_row, start from, T const* bias) {
  if constexpr (std::is_same_v<T, Stored>)
    multiply(product<T>{rows, columns, depth, a, {b.data, b.row, b.column}, y, y_row, from, bias});
  else
    multiply_lines(rows, columns, depth, lines<T>{a.data, a.row, a.column},
                   weight_lines<T, Stored>{b}, outputs<T>{y, y_row}, from, bias);
}

}  // namespace tessera::device::inline TESSERA_DEVICE_TARGET

namespace tessera {

template <> struct kernel_for<detail::product_fn, cuda> {
  template <class T, class Stored> static void run(detail::matrix_product<T, Stored> const& p) {
    device::multiply_weights(p.rows, p.columns, p.depth, {p.a.data, p.a.row, p.a.column}, p.b, p.c,
                             p.c_row,
                             p.adds_last ? device::start::y_last
                             : p.adds    ? device::start::y
                                         : device::start::zero,
                             static_cast<T const*>(nullptr));
  }
  template <class T>
  static void add_rows(std::size_t rows, std::size_t columns, T const* d, T* sums) {
    device::add_rows(rows, columns, d, sums);
  }
};

}  // namespace tessera
