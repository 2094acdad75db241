// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/ops/embedding.hpp>

#include <limits>

namespace tessera {

namespace detail {

/// A number of y; NaN where x names no row, since a device throws nothing.
template <class I, class T, class Stored> struct embedding_number {
  I const* x;
  std::size_t rows;
  std::size_t width;
  weight_matrix<T, Stored> weight;
  T* y;
  TESSERA_DEVICE void operator()(std::size_t i) const {
    auto const row = row_or_end(x[i / width], rows);
    y[i] = row < rows ? weight.at(row, i % width) : std::numeric_limits<T>::quiet_NaN();
  }
};
/// A block for each row of the table: its threads look together for the places that name the row,
/// `threads` at a time, and then add the slopes there, ascending, to a number each. What names no
/// row adds nothing.
template <class I, class T> struct embedding_slope {
  static constexpr std::size_t threads = 128;
  static constexpr std::size_t at_once = 8;
  struct shared {
    bool names_row[threads];
  };
  using registers = device::empty;

  std::size_t count;
  I const* x;
  std::size_t rows;
  std::size_t width;
  T const* dy;
  T* dweight;

  [[nodiscard]] TESSERA_DEVICE auto phases() const -> std::size_t {
    return (count + threads - 1) / threads * 2;
  }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t row, std::size_t thread, shared& s,
                          registers&) const {
    auto const first = phase / 2 * threads;
    if (phase % 2 == 0) {
      auto const i = first + thread;
      s.names_row[thread] = i < count && row_or_end(x[i], rows) == row;
      return;
    }
    for (auto c = thread; c < width; c += threads) {
      auto sum = dweight[row * width + c];
      for (auto i = std::size_t{0}; i < threads;) {
        std::size_t places[at_once];
        T slopes[at_once];
        auto n = std::size_t{0};
        for (; i < threads && n < at_once; ++i)
          if (s.names_row[i]) places[n++] = first + i;
        // All are read before the first is added, so that they wait for memory together.
        for (auto k = std::size_t{0}; k < at_once; ++k)
          slopes[k] = k < n ? dy[places[k] * width + c] : T{0};
        for (auto k = std::size_t{0}; k < at_once; ++k)
          if (k < n) sum += slopes[k];
      }
      dweight[row * width + c] = sum;
    }
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
    device::current().launch(detail::embedding_slope<I, T>{count, x, rows, width, dy, dweight},
                             rows);
  }
};

}  // namespace tessera
