// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/bridge/repairs.hpp>
#include <tessera/data/shuffle.hpp>
#include <tessera/data/windows.hpp>
#include <tessera/tensor/tensor.hpp>

#include <xtensor/xtensor.hpp>

#include <algorithm>
#include <memory>

/// Batches for training and evaluation: what a trainer asks a source for.
///
/// A source has size(), the batches of an epoch; begin(epoch), which decides their order;
/// `carries`, whether a batch goes on where the one before ended; and
///   load(batch, chunk, chunks, x, y) -> pair of views
/// which writes part `chunk` of `chunks` into the tensors x (time, batch, in) and y (time, batch,
/// out) and returns their views with the actual extents, which may be empty.
namespace tessera {

/// Inputs and targets, sampled together.
struct recording {
  xt::xtensor<float, 2> inputs;   ///< (time, in)
  xt::xtensor<float, 2> targets;  ///< (time, out)

  [[nodiscard]] auto length() const -> std::size_t { return inputs.shape(0); }
};
using recordings = std::vector<recording>;

/// Every recording as one part.
[[nodiscard]] inline auto as_parts(recordings const& data) -> std::vector<part> {
  auto parts = std::vector<part>{};
  for (auto i = std::size_t{0}; i < data.size(); ++i) parts.push_back({i, 0, data[i].length()});
  return parts;
}

namespace detail {

/// Column `column` of a batch: samples [begin, begin + length) of a table.
template <class X>
void copy_samples(xt::xtensor<float, 2> const& table, std::size_t begin, X const& to,
                  std::size_t column) {
  using T = scalar_of<X>;
  constexpr auto width = last_of<shape_of<X>>;
  auto const time = to.template extent_of<0>();
  auto const batch = to.template extent_of<1>();
  if (table.shape(1) != width || begin + time > table.shape(0))
    throw std::invalid_argument("batches: expected " + std::to_string(width) +
                                " columns and samples up to " + std::to_string(begin + time) +
                                ", the recording has " + std::to_string(table.shape(1)) + " and " +
                                std::to_string(table.shape(0)));
  for (auto t = std::size_t{0}; t < time; ++t) {
    auto const* const from = table.data() + (begin + t) * width;
    auto* const row = to.data() + (t * batch + column) * width;
    for (auto i = std::size_t{0}; i < width; ++i) row[i] = static_cast<T>(from[i]);
  }
}
/// A view of x (time, batch, width) with these extents where they are bounded.
///
/// Errors  std::invalid_argument where a fixed extent is another, or a bounded one is too small
template <class X>
[[nodiscard]] auto with_extents(X& x, std::size_t time, std::size_t batch) -> view_of<X> {
  using S = shape_of<X>;
  auto const want = std::array<std::size_t, 3>{time, batch, last_of<S>};
  for (auto a = std::size_t{0}; a < 2; ++a)
    if (is_bounded(S::extents[a]) ? want[a] > bound_of(S::extents[a])
                                  : want[a] != bound_of(S::extents[a]))
      throw std::invalid_argument(
          std::string{"batches: a batch has "} + std::to_string(want[a]) +
          (a == 0 ? " time steps" : " lanes") + ", the model is compiled for " +
          (is_bounded(S::extents[a]) ? "at most " : "") + std::to_string(bound_of(S::extents[a])));
  return {x.data(), actual_extents<S>::from(want)};
}

}  // namespace detail

/// Windows in batches, shuffled anew in every epoch, or in their order.
///
/// Cost  a load copies one window after another; 4 bytes for each window
class window_batches {
 public:
  static constexpr bool carries = false;

  window_batches(std::shared_ptr<recordings const> data, windows which, std::size_t batch,
                 bool in_order = false, std::uint64_t seed = 0)
      : data_(std::move(data)),
        windows_(std::move(which)),
        batch_(batch),
        seed_(seed),
        shuffles_(not in_order) {
    if (batch == 0)
      throw std::invalid_argument("window_batches: expected a batch of at least 1, got 0");
    if (windows_.size() == 0)
      throw std::invalid_argument("window_batches: no window fits into the recordings");
    check_parts(windows_.parts(), data_->size(), [&](std::size_t i) {
      return std::min((*data_)[i].inputs.shape(0), (*data_)[i].targets.shape(0));
    });
  }
  /// The last batch may be smaller.
  [[nodiscard]] auto size() const -> std::size_t { return (windows_.size() + batch_ - 1) / batch_; }
  void begin(std::uint64_t epoch) {
    if (shuffles_) order_ = shuffled(seed_, epoch, windows_.size());
  }
  [[nodiscard]] auto examples(std::size_t batch) const -> std::size_t {
    return std::min(batch_, windows_.size() - batch * batch_);
  }
  [[nodiscard]] auto window(std::size_t batch, std::size_t i) const -> part {
    auto const at = batch * batch_ + i;
    return windows_[shuffles_ ? order_.at(at) : at];
  }
  template <class X, class Y>
  auto load(std::size_t batch, std::size_t chunk, std::size_t chunks, X& x, Y& y) const
      -> std::pair<view_of<X>, view_of<Y>> {
    auto const share = (batch_ + chunks - 1) / chunks;
    auto const n = examples(batch);
    auto const first = std::min(n, chunk * share);
    auto const count = std::min(n - first, share);
    auto const to_x = detail::with_extents(x, windows_.length(), count);
    auto const to_y = detail::with_extents(y, windows_.length(), count);
    for (auto i = std::size_t{0}; i < count; ++i) {
      auto const w = window(batch, first + i);
      detail::copy_samples((*data_)[w.recording].inputs, w.begin, to_x, i);
      detail::copy_samples((*data_)[w.recording].targets, w.begin, to_y, i);
    }
    return {to_x, to_y};
  }

 private:
  std::shared_ptr<recordings const> data_;
  windows windows_;
  std::size_t batch_;
  std::uint64_t seed_;
  bool shuffles_;
  std::vector<std::uint32_t> order_;
};

/// Every recording as a lane of its own, cut into pieces that follow each other: for models that
/// carry their state from piece to piece. Lanes are independent; never is one recording two lanes.
class lane_batches {
 public:
  static constexpr bool carries = true;

  lane_batches(std::shared_ptr<recordings const> data, std::size_t piece)
      : data_(std::move(data)), piece_(piece) {
    if (piece == 0 || data_->empty())
      throw std::invalid_argument("lane_batches: expected recordings and pieces of at least 1");
    for (auto const& r : *data_)
      if (r.length() != data_->front().length())
        throw std::invalid_argument("lane_batches: recordings have one length, got " +
                                    std::to_string(data_->front().length()) + " and " +
                                    std::to_string(r.length()));
  }
  [[nodiscard]] auto size() const -> std::size_t {
    return (data_->front().length() + piece_ - 1) / piece_;
  }
  void begin(std::uint64_t) {}
  [[nodiscard]] auto examples(std::size_t) const -> std::size_t { return data_->size(); }
  template <class X, class Y>
  auto load(std::size_t batch, std::size_t chunk, std::size_t chunks, X& x, Y& y) const
      -> std::pair<view_of<X>, view_of<Y>> {
    auto const share = (data_->size() + chunks - 1) / chunks;
    auto const first = std::min(data_->size(), chunk * share);
    auto const count = std::min(data_->size() - first, share);
    auto const begin = batch * piece_;
    auto const time = std::min(piece_, data_->front().length() - begin);
    auto const to_x = detail::with_extents(x, time, count);
    auto const to_y = detail::with_extents(y, time, count);
    for (auto lane = std::size_t{0}; lane < count; ++lane) {
      detail::copy_samples((*data_)[first + lane].inputs, begin, to_x, lane);
      detail::copy_samples((*data_)[first + lane].targets, begin, to_y, lane);
    }
    return {to_x, to_y};
  }

 private:
  std::shared_ptr<recordings const> data_;
  std::size_t piece_;
};

}  // namespace tessera
