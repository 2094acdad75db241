// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/bridge/repairs.hpp>
#include <tessera/data/shuffle.hpp>
#include <tessera/data/slot.hpp>
#include <tessera/data/windows.hpp>

#include <xtensor/xtensor.hpp>

#include <algorithm>
#include <memory>

/// Batches for training and evaluation: what a trainer asks a source for.
///
/// A source has size(), the batches of an epoch; begin(epoch), which decides what they are,
/// whatever ran before; `carries`, whether a batch goes on where the one before ended; and
///   load(batch, chunk, chunks, slot)
/// which fills slot.x and slot.target with part `chunk` of `chunks` of a batch: no example is fine.
/// The target is of the type that the loss takes. Where size() is not that of every epoch, it says
/// epochs_differ = true. What else a call takes, the source names as
/// extra<X>, memory beside x and target, and lends by context(slot, base):
///   template <class X> using extra = filled<resized<X, 2>>;
///   static auto context(auto const& slot, auto base) { return given(slot.extra.read(), base); }
namespace tessera {

/// Inputs and targets, sampled together.
struct recording {
  xt::xtensor<float, 2> inputs;   ///< (time, in)
  xt::xtensor<float, 2> targets;  ///< (time, out)

  [[nodiscard]] auto length() const -> std::size_t { return inputs.shape(0); }
};
using recordings = std::vector<recording>;

/// Errors  std::invalid_argument where recordings differ in their columns, or inputs and targets in
///         their samples
inline void check_recordings(recordings const& data) {
  for (auto const& r : data)
    if (r.inputs.shape(1) != data.front().inputs.shape(1) ||
        r.targets.shape(1) != data.front().targets.shape(1) || r.targets.shape(0) != r.length())
      throw std::invalid_argument(
          "recordings: expected the columns of the first one, and targets for all samples");
}
/// Every recording as one part.
[[nodiscard]] inline auto as_parts(recordings const& data) -> std::vector<recording_part> {
  auto parts = std::vector<recording_part>{};
  for (auto i = std::size_t{0}; i < data.size(); ++i) parts.push_back({i, 0, data[i].length()});
  return parts;
}

namespace detail {

/// A part of a slot for `lanes` columns of a table, over `time` samples or of a single one; without
/// an axis for the columns where there is one alone.
template <class X>
auto resize_columns(filled<X>& part, xt::xtensor<float, 2> const& table, std::size_t time,
                    bool has_time, std::size_t lanes, char const* what) -> view_of<X> {
  auto const extents = std::array{time, lanes, std::size_t{table.shape(1)}};
  auto const first = has_time ? std::size_t{0} : std::size_t{1};
  auto const whole = 3 - first;
  auto const alone = shape_of<X>::rank + 1 == whole && table.shape(1) == 1;
  return part.resize(std::span{extents}.subspan(first, alone ? whole - 1 : whole), what);
}
/// Lane `lane` of a batch: samples [begin, begin + time) of a table, for `what` of a slot.
template <class X>
void copy_samples(xt::xtensor<float, 2> const& table, std::size_t begin, std::size_t time,
                  X const& to, char const* what, std::size_t lanes, std::size_t lane) {
  using T = scalar_of<X>;
  auto const width = table.shape(1);
  if (begin + time > table.shape(0))
    throw std::invalid_argument("batches: expected samples up to " + std::to_string(begin + time) +
                                ", the recording has " + std::to_string(table.shape(0)));
  for (auto t = std::size_t{0}; t < time; ++t) {
    auto const* const from = table.data() + (begin + t) * width;
    auto* const row = to.data() + (t * lanes + lane) * width;
    for (auto i = std::size_t{0}; i < width; ++i)
      row[i] = number_as<T>(from[i], what, [&] {
        return "column " + std::to_string(i) + " of sample " + std::to_string(begin + t);
      });
  }
}

}  // namespace detail

/// Which targets of a window a model is compared with: (time, batch, out), or (batch, out).
enum class window_targets { sequence, last };

/// Windows in batches, shuffled anew in every epoch, or in their order.
///
/// Cost    a load copies one window after another; 4 bytes for each window
/// Errors  std::invalid_argument for a number that a slot of whole numbers does not hold
class window_batches {
 public:
  static constexpr bool carries = false;

  window_batches(std::shared_ptr<recordings const> data, windows which, std::size_t batch,
                 bool in_order = false, std::uint64_t seed = 0,
                 window_targets targets = window_targets::sequence)
      : data_(std::move(data)),
        windows_(std::move(which)),
        batch_(batch),
        seed_(seed),
        shuffles_(not in_order),
        targets_(targets) {
    if (batch == 0)
      throw std::invalid_argument("window_batches: expected a batch of at least 1, got 0");
    if (windows_.size() == 0)
      throw std::invalid_argument("window_batches: no window fits into the recordings");
    check_recordings(*data_);
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
  [[nodiscard]] auto window(std::size_t batch, std::size_t i) const -> recording_part {
    auto const at = batch * batch_ + i;
    return windows_[shuffles_ ? order_.at(at) : at];
  }
  template <class Slot>
  void load(std::size_t batch, std::size_t chunk, std::size_t chunks, Slot& to) const {
    auto const [first, count] = share_of(examples(batch), batch_, chunk, chunks);
    auto const& sample = data_->front();
    auto const each = targets_ == window_targets::sequence;
    auto const time = windows_.length();
    auto const x = detail::resize_columns(to.x, sample.inputs, time, true, count, "x");
    auto const target =
        detail::resize_columns(to.target, sample.targets, time, each, count, "target");
    for (auto i = std::size_t{0}; i < count; ++i) {
      auto const w = window(batch, first + i);
      auto const& from = (*data_)[w.recording];
      detail::copy_samples(from.inputs, w.begin, time, x, "x", count, i);
      detail::copy_samples(from.targets, each ? w.begin : w.end - 1, each ? time : 1, target,
                           "target", count, i);
    }
  }

 private:
  std::shared_ptr<recordings const> data_;
  windows windows_;
  std::size_t batch_;
  std::uint64_t seed_;
  bool shuffles_;
  window_targets targets_;
  std::vector<std::uint32_t> order_;
};

/// Every recording as a lane of its own, cut into pieces that follow each other: for models that
/// carry their state from piece to piece. Lanes are independent; never is one recording two lanes.
///
/// Errors  std::invalid_argument for a number that a slot of whole numbers does not hold
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
    check_recordings(*data_);
  }
  [[nodiscard]] auto size() const -> std::size_t {
    return (data_->front().length() + piece_ - 1) / piece_;
  }
  void begin(std::uint64_t) {}
  [[nodiscard]] auto examples(std::size_t) const -> std::size_t { return data_->size(); }
  template <class Slot>
  void load(std::size_t batch, std::size_t chunk, std::size_t chunks, Slot& to) const {
    auto const [first, count] = share_of(data_->size(), data_->size(), chunk, chunks);
    auto const begin = batch * piece_;
    auto const time = std::min(piece_, data_->front().length() - begin);
    auto const& sample = data_->front();
    auto const x = detail::resize_columns(to.x, sample.inputs, time, true, count, "x");
    auto const target =
        detail::resize_columns(to.target, sample.targets, time, true, count, "target");
    for (auto lane = std::size_t{0}; lane < count; ++lane) {
      auto const& from = (*data_)[first + lane];
      detail::copy_samples(from.inputs, begin, time, x, "x", count, lane);
      detail::copy_samples(from.targets, begin, time, target, "target", count, lane);
    }
  }

 private:
  std::shared_ptr<recordings const> data_;
  std::size_t piece_;
};

}  // namespace tessera
