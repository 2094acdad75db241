// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Which samples of which recordings make an example.
namespace tessera {

/// Samples [begin, end) of one recording.
struct recording_part {
  std::size_t recording = 0;
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] auto length() const -> std::size_t { return end - begin; }
  friend auto operator==(recording_part const&, recording_part const&) -> bool = default;
};

namespace detail {

inline void check_order(tessera::recording_part const& p, char const* who) {
  if (p.begin > p.end)
    throw std::invalid_argument(std::string{who} + ": a part begins at sample " +
                                std::to_string(p.begin) + " and ends at " + std::to_string(p.end));
}

/// How many whole ones of `n` a share is, though a share as 0.29 is a little less than it says.
[[nodiscard]] inline auto part_of(double share, std::size_t n) -> std::size_t {
  auto const product = share * static_cast<double>(n);
  return static_cast<std::size_t>(product + std::max(1e-9, 1e-15 * product));
}

}  // namespace detail

/// Every part must lie in a recording; `length_of(i)` is how many samples recording i has.
///
/// Errors  std::invalid_argument, which names the part and what there is
template <class F>
void check_parts(std::vector<recording_part> const& parts, std::size_t recordings,
                 F const& length_of) {
  for (auto const& p : parts) {
    detail::check_order(p, "check_parts");
    if (p.recording >= recordings)
      throw std::invalid_argument("check_parts: a part is of recording " +
                                  std::to_string(p.recording) + ", counted from 0 there are " +
                                  std::to_string(recordings));
    if (p.end > length_of(p.recording))
      throw std::invalid_argument("check_parts: a part ends at sample " + std::to_string(p.end) +
                                  ", recording " + std::to_string(p.recording) + " has " +
                                  std::to_string(length_of(p.recording)));
  }
}

/// The last `share` of every part, and what is before it: a validation set that shares no sample
/// with the training set, as a random choice of overlapping windows would.
///
/// Errors  std::invalid_argument for a share outside of [0, 1), and a part that ends before it
///         begins
[[nodiscard]] inline auto hold_out(std::vector<recording_part> const& parts, double share)
    -> std::pair<std::vector<recording_part>, std::vector<recording_part>> {
  if (not(share >= 0 && share < 1))
    throw std::invalid_argument("hold_out: expected a share of [0, 1), got " +
                                std::to_string(share));
  auto result = std::pair<std::vector<recording_part>, std::vector<recording_part>>{};
  for (auto const& p : parts) {
    detail::check_order(p, "hold_out");
    auto const held = std::min(detail::part_of(share, p.length()), p.length());
    result.first.push_back({p.recording, p.begin, p.end - held});
    if (held > 0) result.second.push_back({p.recording, p.end - held, p.end});
  }
  return result;
}

/// All windows of `length` samples within parts, `stride` samples apart: none crosses from one part
/// to another.
///
/// Cost    a few numbers for each part; a window is computed when it is asked for, by a binary
///         search of its part
/// Errors  std::invalid_argument for a length or a stride of 0, a part that ends before it begins,
///         and more windows than can be counted; std::out_of_range for a window that is not there
class windows {
 public:
  windows() = default;
  windows(std::vector<recording_part> parts, std::size_t length, std::size_t stride = 1)
      : parts_(std::move(parts)), length_(length), stride_(stride) {
    if (length == 0) throw std::invalid_argument("windows: expected a length of at least 1, got 0");
    if (stride == 0) throw std::invalid_argument("windows: expected a stride of at least 1, got 0");
    for (auto const& p : parts_) {
      detail::check_order(p, "windows");
      first_.push_back(size_);
      if (p.length() >= length &&
          __builtin_add_overflow(size_, (p.length() - length) / stride + 1, &size_))
        throw std::invalid_argument("windows: there are more than can be counted");
    }
  }
  [[nodiscard]] auto size() const -> std::size_t { return size_; }
  [[nodiscard]] auto length() const -> std::size_t { return length_; }
  [[nodiscard]] auto parts() const -> std::vector<recording_part> const& { return parts_; }
  /// Window i: those of the first part come first, by time.
  [[nodiscard]] auto operator[](std::size_t i) const -> recording_part {
    if (i >= size_)
      throw std::out_of_range("windows: window " + std::to_string(i) + " of " +
                              std::to_string(size_));
    // Of parts that begin with the same window only the last one has any.
    auto const p =
        static_cast<std::size_t>(std::ranges::upper_bound(first_, i) - first_.begin()) - 1;
    auto const begin = parts_[p].begin + (i - first_[p]) * stride_;
    return {parts_[p].recording, begin, begin + length_};
  }

 private:
  std::vector<recording_part> parts_;
  std::vector<std::size_t> first_;  // the number of each part's first window
  std::size_t length_ = 0;
  std::size_t stride_ = 1;
  std::size_t size_ = 0;
};

}  // namespace tessera
