// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/ops/embedding.hpp>

namespace tessera {

namespace detail {

template <class I, class T, class Stored> struct embedding_number {
  I const* x;
  std::size_t rows;
  std::size_t width;
  weight_matrix<T, Stored> weight;
  T* y;
  TESSERA_DEVICE void operator()(std::size_t i) const {
    y[i] = weight.at(row_of_table(x[i / width], rows), i % width);
  }
};
/// One number of the table gets the slopes of all places that name its row, ascending.
template <class I, class T> struct embedding_slope {
  std::size_t count;
  I const* x;
  std::size_t rows;
  std::size_t width;
  T const* dy;
  T* dweight;
  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto sum = dweight[at];
    for (auto i = std::size_t{0}; i < count; ++i)
      if (row_of_table(x[i], rows) == at / width) sum += dy[i * width + at % width];
    dweight[at] = sum;
  }
};

}  // namespace detail

template <> struct kernel_for<detail::embedding_fn, cuda> {
  template <class I, class T, class Stored>
  static void forward(std::size_t count, I const* x, std::size_t rows, std::size_t width,
                      weight_matrix<T, Stored> const& weight, T* y) {
    device::for_each(count * width,
                     detail::embedding_number<I, T, Stored>{x, rows, width, weight, y});
  }
  template <class I, class T>
  static void parameters(std::size_t count, I const* x, std::size_t rows, std::size_t width,
                         T const* dy, T* dweight) {
    device::for_each(rows * width,
                     detail::embedding_slope<I, T>{count, x, rows, width, dy, dweight});
  }
};

}  // namespace tessera
