// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/described.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera {

/// How many of the batches that there are: so many of them, given as an integer, or a share of
/// them, given as a floating-point number. 1 is one batch, 1.0 are all.
///
/// Errors  std::invalid_argument for a count below 0 and a share outside of [0, 1]
class batch_limit {
 public:
  template <std::integral T> constexpr batch_limit(T count) {
    if (std::cmp_less(count, 0))
      throw std::invalid_argument("batch_limit: expected 0 batches or more, got " +
                                  std::to_string(count));
    count_ = static_cast<std::uint64_t>(count);
  }
  constexpr batch_limit(double share) : share_(share), is_share_(true) {
    if (not(share >= 0 && share <= 1))
      throw std::invalid_argument("batch_limit: expected a share from 0 to 1, got " +
                                  std::to_string(share));
  }
  /// The batches, of so many; a share is rounded down.
  [[nodiscard]] constexpr auto of(std::uint64_t batches) const -> std::uint64_t {
    if (not is_share_) return std::min(count_, batches);
    return static_cast<std::uint64_t>(share_ * static_cast<double>(batches));
  }
  [[nodiscard]] constexpr auto is_none() const -> bool {
    return is_share_ ? share_ == 0 : count_ == 0;
  }
  /// "3", or "0.5" and "1.0": what `parse` reads.
  [[nodiscard]] auto text() const -> std::string {
    if (not is_share_) return std::to_string(count_);
    auto const share = described(share_);
    return share.find_first_of(".e") == std::string::npos ? share + ".0" : share;
  }
  /// Nothing where the text is no limit.
  [[nodiscard]] static auto parse(std::string_view text) -> std::optional<batch_limit> {
    auto const* const begin = text.data();
    auto const* const end = begin + text.size();
    auto const whole = [&](auto& number) {
      auto const read = std::from_chars(begin, end, number);
      return read.ec == std::errc{} && read.ptr == end;
    };
    auto count = std::uint64_t{0};
    auto share = 0.0;
    if (whole(count)) return batch_limit(count);
    if (whole(share) && share >= 0 && share <= 1) return batch_limit(share);
    return std::nullopt;
  }
  [[nodiscard]] auto settings() const -> std::string { return text(); }

 private:
  std::uint64_t count_ = 0;
  double share_ = 0;
  bool is_share_ = false;
};

/// The batches that a limit leaves of a source; `what` is "train" or "val".
///
/// Errors  std::invalid_argument where it leaves none
[[nodiscard]] inline auto batches_within(batch_limit limit, std::string const& what,
                                         std::uint64_t batches) -> std::uint64_t {
  auto const left = limit.of(batches);
  if (left == 0)
    throw std::invalid_argument("trainer: expected a limit_" + what +
                                "_batches that leaves one of " + std::to_string(batches) +
                                ", got " + limit.text());
  return left;
}

}  // namespace tessera
