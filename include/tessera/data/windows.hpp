// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Which samples of which recordings make an example.
namespace tessera {

/// Samples [begin, end) of one recording.
struct part {
  std::size_t recording = 0;
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] auto length() const -> std::size_t { return end - begin; }
  friend auto operator==(part const&, part const&) -> bool = default;
};

/// The last `share` of every part, and what is before it: a validation set that shares no sample
/// with the training set, as a random choice of overlapping windows would.
///
/// Errors  std::invalid_argument for a share outside of [0, 1)
[[nodiscard]] inline auto hold_out(std::vector<part> const& parts, double share)
    -> std::pair<std::vector<part>, std::vector<part>> {
  if (not(share >= 0 && share < 1))
    throw std::invalid_argument("hold_out: expected a share of [0, 1), got " +
                                std::to_string(share));
  auto result = std::pair<std::vector<part>, std::vector<part>>{};
  for (auto const& p : parts) {
    auto const held = static_cast<std::size_t>(share * static_cast<double>(p.length()));
    result.first.push_back({p.recording, p.begin, p.end - held});
    if (held > 0) result.second.push_back({p.recording, p.end - held, p.end});
  }
  return result;
}

/// All windows of `length` samples within parts, `stride` samples apart: none crosses from one part
/// to another.
///
/// Cost    a few numbers for each part; windows are computed when they are asked for
/// Errors  std::invalid_argument for a length or a stride of 0
class windows {
 public:
  windows() = default;
  windows(std::vector<part> parts, std::size_t length, std::size_t stride = 1)
      : parts_(std::move(parts)), length_(length), stride_(stride) {
    if (length == 0) throw std::invalid_argument("windows: expected a length of at least 1, got 0");
    if (stride == 0) throw std::invalid_argument("windows: expected a stride of at least 1, got 0");
    for (auto const& p : parts_) {
      first_.push_back(size_);
      if (p.length() >= length) size_ += (p.length() - length) / stride + 1;
    }
  }
  [[nodiscard]] auto size() const -> std::size_t { return size_; }
  [[nodiscard]] auto length() const -> std::size_t { return length_; }
  /// Window i: those of the first part come first, by time.
  [[nodiscard]] auto operator[](std::size_t i) const -> part {
    auto p = parts_.size() - 1;
    while (first_[p] > i) --p;
    auto const begin = parts_[p].begin + (i - first_[p]) * stride_;
    return {parts_[p].recording, begin, begin + length_};
  }

 private:
  std::vector<part> parts_;
  std::vector<std::size_t> first_;  // the number of each part's first window
  std::size_t length_ = 0;
  std::size_t stride_ = 1;
  std::size_t size_ = 0;
};

}  // namespace tessera
