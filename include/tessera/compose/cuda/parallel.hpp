// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/compose/parallel.hpp>

namespace tessera {

namespace detail {

template <class T> struct copy_number {
  std::size_t width;
  T const* from;
  std::size_t from_row;
  T* to;
  std::size_t to_row;
  TESSERA_DEVICE void operator()(std::size_t i) const {
    to[i / width * to_row + i % width] = from[i / width * from_row + i % width];
  }
};

}  // namespace detail

template <> struct kernel<detail::copy_columns_fn, cuda> {
  template <class T>
  static void run(std::size_t rows, std::size_t width, T const* from, std::size_t from_row, T* to,
                  std::size_t to_row) {
    device::for_each(rows * width, detail::copy_number<T>{width, from, from_row, to, to_row});
  }
};

}  // namespace tessera
