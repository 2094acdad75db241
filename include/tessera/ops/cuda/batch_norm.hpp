// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/ops/batch_norm.hpp>

namespace tessera {

namespace detail {

/// A block for 32 features of a group: 8 threads for each of them share its rows.
template <class T> struct batch_norm_block {
  static constexpr std::size_t columns = 32;
  static constexpr std::size_t parts = 8;
  static constexpr std::size_t threads = columns * parts;
  using registers = device::empty;

  batch_norm_geometry geometry;

  [[nodiscard]] TESSERA_DEVICE auto tiles() const -> std::size_t {
    return (geometry.features + columns - 1) / columns;
  }
  [[nodiscard]] TESSERA_DEVICE auto group(std::size_t block) const -> std::size_t {
    return block / tiles();
  }
  [[nodiscard]] TESSERA_DEVICE auto feature(std::size_t block, std::size_t thread) const
      -> std::size_t {
    return block % tiles() * columns + thread % columns;
  }
  [[nodiscard]] TESSERA_DEVICE auto count(std::size_t block) const -> T {
    return static_cast<T>(geometry.rows_of(group(block)));
  }
  /// f(place) for this thread's rows.
  TESSERA_DEVICE void each_row(std::size_t block, std::size_t thread, auto const& f) const {
    auto const k = group(block);
    auto const end = geometry.first_row(k) + geometry.rows_of(k);
    for (auto r = geometry.first_row(k) + thread / columns; r < end; r += parts)
      f(r * geometry.features + feature(block, thread));
  }
  /// The sum of a feature's parts, ascending.
  [[nodiscard]] TESSERA_DEVICE static auto joined(T const* sums, std::size_t column) -> T {
    auto sum = sums[column];
    for (auto i = std::size_t{1}; i < parts; ++i) sum += sums[i * columns + column];
    return sum;
  }
};

template <class T> struct batch_norm_observe : batch_norm_block<T> {
  using base = batch_norm_block<T>;
  struct shared {
    T sums[base::threads];
    T squares[base::threads];
    T center[base::columns];
  };
  T const* x;
  T epsilon;
  T* mean;
  T* scale;
  batch_norm_seen<T> groups;

  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 4; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          device::empty&) const {
    if (this->feature(block, thread) >= this->geometry.features) return;
    auto const column = thread % base::columns;
    if (phase % 2 == 0) {
      auto const center = phase == 0 ? T{0} : s.center[column];
      auto sum = T{0};
      auto squares = T{0};
      this->each_row(block, thread, [&](std::size_t at) {
        auto const d = x[at] - center;
        sum += d;
        squares += d * d;
      });
      s.sums[thread] = sum;
      s.squares[thread] = squares;
    } else if (thread < base::columns) {
      auto const mean_of_sums = base::joined(s.sums, column) / this->count(block);
      if (phase == 1)
        s.center[column] = mean_of_sums;
      else
        finish(block, column, s, mean_of_sums);
    }
  }

 private:
  /// What the sum of many rows lost is in the sum of their distances.
  TESSERA_DEVICE void finish(std::size_t block, std::size_t column, shared const& s, T lost) const {
    auto const n = this->count(block);
    auto const k = this->group(block);
    auto const c = this->feature(block, column);
    auto const number = k * this->geometry.features + c;
    auto const part = groups.of_group(k, this->geometry.features);
    auto const squares =
        lane::max(T{0}, base::joined(s.squares, column) - base::joined(s.sums, column) * lost);
    mean[number] = part.mean[c] = s.center[column] + lost;
    part.squares[c] = squares;
    scale[number] = T{1} / lane::sqrt(squares / n + epsilon);
    if (c == 0) *part.count = n;
  }
};

/// What two sets of rows showed of feature c, together, in `to`.
template <class T>
TESSERA_DEVICE void fold_feature(std::size_t c, T* mean, T* squares, T const* from_mean,
                                 T const* from_squares, T to_count, T from_count) {
  auto const part = from_count / (to_count + from_count);
  auto const distance = from_mean[c] - mean[c];
  squares[c] = lane::fma(distance * distance, to_count * part, squares[c] + from_squares[c]);
  mean[c] = lane::fma(distance, part, mean[c]);
}

/// Groups by halves, as on the host: join(to, from).
TESSERA_DEVICE void by_halves(std::size_t groups, auto const& join) {
  for (auto distance = std::size_t{1}; distance < groups; distance *= 2)
    for (auto k = std::size_t{0}; k + distance < groups; k += 2 * distance) join(k, k + distance);
}
/// All groups of one feature, left in `seen`.
template <class T> struct batch_norm_fold_groups {
  batch_norm_geometry g;
  batch_norm_seen<T> groups;
  batch_norm_seen<T> seen;

  [[nodiscard]] TESSERA_DEVICE auto rows(std::size_t first, std::size_t count) const -> T {
    auto const end = g.first_row(first + count);
    return static_cast<T>((end < g.rows ? end : g.rows) - g.first_row(first));
  }
  TESSERA_DEVICE void operator()(std::size_t c) const {
    auto const n = g.groups();
    by_halves(n, [&](std::size_t to, std::size_t from) {
      auto const a = groups.of_group(to, g.features);
      auto const b = groups.of_group(from, g.features);
      fold_feature(c, a.mean, a.squares, b.mean, b.squares, rows(to, from - to),
                   rows(from, from - to));
    });
    seen.mean[c] = n == 0 ? T{0} : groups.mean[c];
    seen.squares[c] = n == 0 ? T{0} : groups.squares[c];
    if (c == 0) *seen.count = static_cast<T>(g.rows);
  }
};
template <class T> struct batch_norm_fold {
  batch_norm_seen<T> to;
  batch_norm_seen<T const> from;
  TESSERA_DEVICE void operator()(std::size_t c) const {
    if (*from.count == T{0}) return;
    fold_feature(c, to.mean, to.squares, from.mean, from.squares, *to.count, *from.count);
  }
};
template <class T> struct batch_norm_count {
  T* to;
  T const* from;
  TESSERA_DEVICE void operator()(std::size_t) const { *to += *from; }
};

template <class T> struct batch_norm_recall {
  T const* running_mean;
  T const* running_var;
  T epsilon;
  T* mean;
  T* scale;
  TESSERA_DEVICE void operator()(std::size_t c) const {
    mean[c] = running_mean[c];
    scale[c] = T{1} / lane::sqrt(running_var[c] + epsilon);
  }
};
template <class T> struct batch_norm_forward {
  batch_norm_geometry g;
  T const* x;
  T const* weight;
  T const* bias;
  T const* mean;
  T const* scale;
  T* y;
  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const c = at % g.features;
    auto const number = at / g.features / g.group * g.features + c;
    auto const a = weight == nullptr ? scale[number] : scale[number] * weight[c];
    y[at] = lane::fma(x[at], a, lane::fma(-mean[number], a, bias == nullptr ? T{0} : bias[c]));
  }
};

template <class T> struct batch_norm_sums : batch_norm_block<T> {
  using base = batch_norm_block<T>;
  struct shared {
    T sums[base::threads];
    T products[base::threads];
  };
  T const* x;
  T const* mean;
  T const* scale;
  T const* dy;
  T* sums;
  T* products;

  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 2; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          device::empty&) const {
    auto const c = this->feature(block, thread);
    if (c >= this->geometry.features) return;
    auto const number = this->group(block) * this->geometry.features + c;
    if (phase == 0) {
      auto sum = T{0};
      auto product = T{0};
      this->each_row(block, thread, [&](std::size_t at) {
        sum += dy[at];
        product += dy[at] * (x[at] - mean[number]);
      });
      s.sums[thread] = sum;
      s.products[thread] = product;
    } else if (thread < base::columns) {
      sums[number] = base::joined(s.sums, thread);
      products[number] = base::joined(s.products, thread) * scale[number];
    }
  }
};
template <class T> struct batch_norm_input {
  batch_norm_geometry g;
  bool learns;
  T const* x;
  T const* weight;
  T const* mean;
  T const* scale;
  T const* dy;
  T const* sums;
  T const* products;
  T* dx;
  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const c = at % g.features;
    auto const k = at / g.features / g.group;
    auto const number = k * g.features + c;
    auto const a = weight == nullptr ? scale[number] : scale[number] * weight[c];
    auto const n = static_cast<T>(g.rows_of(k));
    auto const of_x = learns ? -a * scale[number] * (products[number] / n) : T{0};
    auto const constant = learns ? lane::fma(-mean[number], of_x, -a * (sums[number] / n)) : T{0};
    dx[at] = lane::fma(dy[at], a, lane::fma(x[at], of_x, constant));
  }
};
/// One feature's slopes of all groups, which are folded in their place.
template <class T> struct batch_norm_weight {
  std::size_t groups;
  std::size_t features;
  T* sums;
  T* products;
  T* dweight;
  T* dbias;
  TESSERA_DEVICE void operator()(std::size_t c) const {
    by_halves(groups, [&](std::size_t to, std::size_t from) {
      products[to * features + c] += products[from * features + c];
      sums[to * features + c] += sums[from * features + c];
    });
    dweight[c] += products[c];
    dbias[c] += sums[c];
  }
};
template <class T> struct batch_norm_absorb {
  T momentum;
  T* running_mean;
  T* running_var;
  T* batches;
  batch_norm_seen<T const> seen;
  TESSERA_DEVICE void operator()(std::size_t c) const {
    auto const n = *seen.count;
    if (n == T{0}) return;
    auto const variance = seen.squares[c] / (n > T{1} ? n - T{1} : T{1});
    move(running_mean[c], seen.mean[c]);
    move(running_var[c], variance);
    if (c == 0) *batches += T{1};
  }
  /// From the nearer end, as on the host.
  TESSERA_DEVICE void move(T& running, T value) const {
    auto const is_mostly_new = momentum > T{0.5};
    auto const from = is_mostly_new ? value : running;
    auto const to = is_mostly_new ? running : value;
    running = lane::fma(is_mostly_new ? T{1} - momentum : momentum, to - from, from);
  }
};

}  // namespace detail

template <> struct kernel_for<detail::batch_norm_fn, cuda> {
  using geometry = detail::batch_norm_geometry;
  template <class T> using seen_type = detail::batch_norm_seen<T>;

  template <class T>
  static void observe(geometry const& g, T const* x, T epsilon, T* mean, T* scale,
                      seen_type<T> groups, seen_type<T> seen) {
    auto body = detail::batch_norm_observe<T>{};
    body.geometry = g;
    body.x = x, body.epsilon = epsilon, body.mean = mean, body.scale = scale;
    body.groups = groups;
    device::current().launch(body, g.groups() * body.tiles());
    device::for_each(g.features, detail::batch_norm_fold_groups<T>{g, groups, seen});
  }
  template <class T>
  static void recall(std::size_t features, T const* running_mean, T const* running_var, T epsilon,
                     T* mean, T* scale) {
    device::for_each(features,
                     detail::batch_norm_recall<T>{running_mean, running_var, epsilon, mean, scale});
  }
  template <class T>
  static void forward(geometry const& g, T const* x, T const* weight, T const* bias, T const* mean,
                      T const* scale, T* y) {
    device::for_each(g.rows * g.features,
                     detail::batch_norm_forward<T>{g, x, weight, bias, mean, scale, y});
  }
  template <class T>
  static void backward(geometry const& g, bool learns, T const* x, T const* weight, T const*,
                       T const* mean, T const* scale, T const* dy,
                       detail::batch_norm_slopes<T> slopes, T* sums, T* products) {
    if (g.rows == 0) return;
    auto body = detail::batch_norm_sums<T>{};
    body.geometry = g;
    body.x = x, body.mean = mean, body.scale = scale, body.dy = dy;
    body.sums = sums, body.products = products;
    device::current().launch(body, g.groups() * body.tiles());
    if (slopes.dx != nullptr)
      device::for_each(g.rows * g.features,
                       detail::batch_norm_input<T>{g, learns, x, weight, mean, scale, dy, sums,
                                                   products, slopes.dx});
    if (slopes.dweight != nullptr)
      device::for_each(g.features,
                       detail::batch_norm_weight<T>{g.groups(), g.features, sums, products,
                                                    slopes.dweight, slopes.dbias});
  }
  template <class T>
  static void fold(std::size_t features, seen_type<T> to, seen_type<T const> from) {
    device::for_each(features, detail::batch_norm_fold<T>{to, from});
    device::for_each(1, detail::batch_norm_count<T>{to.count, from.count});
  }
  template <class T>
  static void absorb(std::size_t features, T momentum, T* running_mean, T* running_var, T* batches,
                     seen_type<T const> seen) {
    device::for_each(
        features, detail::batch_norm_absorb<T>{momentum, running_mean, running_var, batches, seen});
  }
};

}  // namespace tessera
