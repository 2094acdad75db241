// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/cuda/recurrent.hpp>

#include <algorithm>
#include <type_traits>

namespace tessera {

namespace detail {

/// The steps of a sequence by one kernel: a block for each row of the batch, whose steps need
/// nothing of other rows. A thread has one sum of the cell, and the first `held` of its weights in
/// registers for all steps; the others come from a cache.
template <class T, std::size_t Sums> struct sequence_block {
  static constexpr std::size_t most = 1024;  ///< threads of a block
  static constexpr std::size_t threads = std::min(most, (Sums + 31) / 32 * 32);
  static constexpr std::size_t held = (threads > 512 ? 64 : 256) / sizeof(T);
};

/// Adds the products with weights that are held, one fma each, ascending.
template <class T, std::size_t... K>
[[nodiscard]] TESSERA_DEVICE inline auto add_held(T const* from, T const* weights, T result,
                                                  std::index_sequence<K...>) -> T {
  ((result = lane::fma(from[K], weights[K], result)), ...);
  return result;
}

/// Phases: what a row starts from; then in turn the sums of a step, and the cells of its units.
template <class Cell, class T, class Stored, std::size_t In, std::size_t Hidden>
struct recurrent_sequence_row {
  static constexpr auto sums = Cell::sums.size();
  using block = sequence_block<T, sums * Hidden>;
  static constexpr auto threads = block::threads;
  static constexpr auto held = std::min(block::held, Hidden);
  static constexpr auto of_x = (In + threads - 1) / threads;  ///< numbers that a thread loads
  struct shared {
    alignas(16) T x[In];
    alignas(16) T h[Hidden];
    T sum[sums * Hidden];
  };
  struct registers {
    recurrent_sum sum;   ///< of the thread
    std::size_t output;  ///< its row of the weights
    T weights[held];
    T start;
    T before;
    T x[of_x];
  };

  std::size_t time, rows;
  bool reversed;
  weight_matrix<T, Stored> weight_ih, weight_hh;
  T const *bias_ih, *bias_hh;
  T const* x;
  T *h, *carried;         ///< of the first step, then of the last
  T *gates, *beside, *y;  ///< of all steps; the first two may be null

  [[nodiscard]] TESSERA_DEVICE constexpr auto phases() const -> std::size_t { return 1 + 2 * time; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t row, std::size_t thread, shared& s,
                          registers& mine) const {
    if (phase == 0) return begin(row, thread, s, mine);
    auto const step = (phase - 1) / 2;
    if (phase % 2 == 1) {
      if (step + 1 < time) load(row, step + 1, thread, mine);
      if (thread < sums * Hidden) s.sum[thread] = sum(s, mine);
    } else {
      if (step + 1 < time) share(thread, s, mine);
      if (thread < Hidden) finish(row, step, thread, s, mine);
    }
  }

 private:
  [[nodiscard]] TESSERA_DEVICE auto place(std::size_t row, std::size_t step) const -> std::size_t {
    return (reversed ? time - 1 - step : step) * rows + row;
  }
  TESSERA_DEVICE void begin(std::size_t row, std::size_t thread, shared& s, registers& mine) const {
    load(row, 0, thread, mine);
    share(thread, s, mine);
    if (thread < Hidden) {
      s.h[thread] = h[row * Hidden + thread];
      mine.before = Cell::carries ? carried[row * Hidden + thread] : s.h[thread];
    }
    if (thread >= sums * Hidden) return;
    constexpr auto all = Cell::sums;
    mine.sum = all[thread / Hidden];
    mine.output = mine.sum.gate * Hidden + thread % Hidden;
    mine.start = bias_ih == nullptr
                     ? T{0}
                     : sum_of_biases<T>(mine.sum, bias_ih[mine.output], bias_hh[mine.output]);
    if (mine.sum.of_h)
      for (auto k = std::size_t{0}; k < held; ++k) mine.weights[k] = weight_hh.at(mine.output, k);
  }
  TESSERA_DEVICE void load(std::size_t row, std::size_t step, std::size_t thread,
                           registers& mine) const {
    auto const* const from = x + place(row, step) * In;
    for (auto n = std::size_t{0}; n < of_x; ++n)
      if (auto const i = thread + n * threads; i < In) mine.x[n] = from[i];
  }
  TESSERA_DEVICE static void share(std::size_t thread, shared& s, registers const& mine) {
    for (auto n = std::size_t{0}; n < of_x; ++n)
      if (auto const i = thread + n * threads; i < In) s.x[i] = mine.x[n];
  }
  [[nodiscard]] TESSERA_DEVICE auto sum(shared const& s, registers const& mine) const -> T {
    auto result = mine.start;
    if (mine.sum.of_x) result = add_row(s.x, 0, In, weight_ih, mine.output, result);
    if (not mine.sum.of_h) return result;
    result = add_held(s.h, mine.weights, result, std::make_index_sequence<held>{});
    return add_row(s.h, held, Hidden, weight_hh, mine.output, result);
  }
  TESSERA_DEVICE void finish(std::size_t row, std::size_t step, std::size_t unit, shared& s,
                             registers& mine) const {
    T of_unit[sums];
    for (auto i = std::size_t{0}; i < sums; ++i) of_unit[i] = s.sum[i * Hidden + unit];
    auto const result = Cell::template forward<T>(of_unit, mine.before);
    auto const at = place(row, step);
    if (gates != nullptr)
      for (auto g = std::size_t{0}; g < Cell::gates; ++g)
        gates[(at * Cell::gates + g) * Hidden + unit] = result.gates[g];
    if (beside != nullptr) beside[at * Hidden + unit] = result.beside;
    y[at * Hidden + unit] = s.h[unit] = result.h;
    mine.before = Cell::carries ? result.beside : result.h;
    if (step + 1 < time) return;
    h[row * Hidden + unit] = result.h;
    if (Cell::carries) carried[row * Hidden + unit] = result.beside;
  }
};

/// Phases: what a row starts from; then in turn the slopes of the cells of a step, and what of them
/// goes through weight_hh to the step before, a sum for each gate.
template <class Cell, class T, class Stored, std::size_t Hidden>
struct recurrent_sequence_backward_row {
  static constexpr auto sums = Cell::gates * Hidden;
  using block = sequence_block<T, sums>;
  using beside_type = std::conditional_t<Cell::carries, T const, T>;
  static constexpr auto threads = block::threads;
  static constexpr auto held = std::min(block::held, Hidden);
  struct shared {
    alignas(16) T slope[sums];
    T part[sums];
  };
  /// What a unit's cell reads at a step.
  struct unit {
    T gates[Cell::gates];
    T beside;
    T before;
    T dy;
  };
  struct registers {
    T weights[held];
    T d;
    unit next;
  };

  std::size_t time, rows;
  bool reversed;
  weight_matrix<T, Stored> weight;
  T* gates;
  beside_type* beside;
  T const *start, *before;  ///< of the first step, and of those after it
  T const* dy;

  [[nodiscard]] TESSERA_DEVICE constexpr auto phases() const -> std::size_t { return 2 * time; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t row, std::size_t thread, shared& s,
                          registers& mine) const {
    if (phase == 0) return begin(row, thread, mine);
    auto const step = time - 1 - (phase - 1) / 2;
    if (phase % 2 == 1) {
      if (thread < Hidden) cell(row, step, thread, s, mine);
      return;
    }
    if (thread < Hidden) load(row, step - 1, thread, mine);
    if (thread < sums) s.part[thread] = part(thread, s, mine);
  }

 private:
  [[nodiscard]] TESSERA_DEVICE auto place(std::size_t row, std::size_t step) const -> std::size_t {
    return (reversed ? time - 1 - step : step) * rows + row;
  }
  TESSERA_DEVICE void begin(std::size_t row, std::size_t thread, registers& mine) const {
    mine.d = T{0};
    if (thread < Hidden) load(row, time - 1, thread, mine);
    if (thread >= sums) return;
    for (auto k = std::size_t{0}; k < held; ++k)
      mine.weights[k] = weight.at(thread / Hidden * Hidden + k, thread % Hidden);
  }
  TESSERA_DEVICE void load(std::size_t row, std::size_t step, std::size_t of,
                           registers& mine) const {
    auto const at = place(row, step);
    for (auto g = std::size_t{0}; g < Cell::gates; ++g)
      mine.next.gates[g] = gates[(at * Cell::gates + g) * Hidden + of];
    mine.next.beside = beside[at * Hidden + of];
    mine.next.before =
        step == 0 ? start[row * Hidden + of] : before[place(row, step - 1) * Hidden + of];
    mine.next.dy = dy[at * Hidden + of];
  }
  TESSERA_DEVICE void cell(std::size_t row, std::size_t step, std::size_t of, shared& s,
                           registers& mine) const {
    auto arrives = mine.next.dy;
    if (step + 1 < time) {
      auto dh = s.part[of];
      for (auto g = std::size_t{1}; g < Cell::gates; ++g) dh += s.part[g * Hidden + of];
      arrives += dh;
    }
    auto const slope = Cell::template backward<T>(mine.next.gates, mine.next.beside,
                                                  mine.next.before, arrives, mine.d);
    auto const at = place(row, step);
    for (auto g = std::size_t{0}; g < Cell::gates; ++g)
      gates[(at * Cell::gates + g) * Hidden + of] = s.slope[g * Hidden + of] = slope.gates[g];
    if constexpr (not Cell::carries) beside[at * Hidden + of] = slope.beside;
    mine.d = slope.before;
  }
  /// The sum of one gate for one number of h.
  [[nodiscard]] TESSERA_DEVICE auto part(std::size_t thread, shared const& s,
                                         registers const& mine) const -> T {
    auto const* const slope = s.slope + thread / Hidden * Hidden;
    auto result = add_held(slope, mine.weights, T{0}, std::make_index_sequence<held>{});
    for (auto k = held; k < Hidden; ++k)
      result =
          lane::fma(slope[k], weight.at(thread / Hidden * Hidden + k, thread % Hidden), result);
    return result;
  }
};

}  // namespace detail

/// One launch for all steps. Sums are those of single steps, but for what goes back through
/// weight_hh, which has a sum for each gate.
template <class Cell> struct kernel_for<detail::recurrent_sequence_fn<Cell>, cuda> {
  /// What a block has threads and shared memory for.
  template <class T, std::size_t In, std::size_t Hidden>
  static constexpr bool fits =
      Cell::sums.size() * Hidden <= detail::sequence_block<T, 1>::most &&
      (In + (2 * Cell::gates + 2) * Hidden) * sizeof(T) <= std::size_t{40} * 1024;

  static void forward(auto const& p, auto x, auto h, auto carried, auto gates, auto beside, auto y,
                      bool reversed) {
    using T = scalar_of<decltype(x)>;
    using body = detail::recurrent_sequence_row<Cell, T, stored_of<decltype(p.weight_ih)>,
                                                last_of<shape_of<decltype(x)>>,
                                                last_of<shape_of<decltype(y)>>>;
    auto const time = x.template extent_of<0>();
    auto const rows = detail::rows_of(x) / time;
    device::current().launch(
        body{time, rows, reversed, weights_of<T>(p.weight_ih), weights_of<T>(p.weight_hh),
             data_or_null<T const>(p.bias_ih), data_or_null<T const>(p.bias_hh), x.data(), h.data(),
             carried.data(), gates.data(), beside.data(), y.data()},
        rows);
  }
  static void backward(auto const& weight, auto gates, auto beside, auto start, auto before,
                       auto dy, bool reversed) {
    using T = scalar_of<decltype(gates)>;
    using body = detail::recurrent_sequence_backward_row<Cell, T, stored_of<decltype(weight)>,
                                                         last_of<shape_of<decltype(dy)>>>;
    auto const time = dy.template extent_of<0>();
    auto const rows = detail::rows_of(dy) / time;
    device::current().launch(body{time, rows, reversed, weights_of<T>(weight), gates.data(),
                                  beside.data(), start.data(), before.data(), dy.data()},
                             rows);
  }
};

}  // namespace tessera
