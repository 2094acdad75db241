// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optimize/draws.hpp>
#include <tessera/optimize/search_space.hpp>

#include <numbers>
#include <numeric>

namespace tessera {

namespace detail {

/// The probability of a standard normal number from a to b, accurate in both tails.
[[nodiscard]] inline auto normal_mass(double a, double b) -> double {
  auto const root = 1 / std::numbers::sqrt2;
  if (a > 0) return 0.5 * (lane::erfc(a * root) - lane::erfc(b * root));
  if (b < 0) return 0.5 * (lane::erfc(-b * root) - lane::erfc(-a * root));
  return 0.5 * (lane::erf(b * root) - lane::erf(a * root));
}
/// Older observations count less from the 26th on.
[[nodiscard]] inline auto weights_by_age(std::size_t n) -> std::vector<double> {
  constexpr auto full = std::size_t{25};
  auto weights = std::vector<double>(n, 1.0);
  if (n <= full) return weights;
  auto const first = 1 / static_cast<double>(n);
  auto const ramp = n - full;
  for (auto i = std::size_t{0}; i < ramp; ++i)
    weights[i] = ramp == 1
                     ? first
                     : first + (1 - first) * static_cast<double>(i) / static_cast<double>(ramp - 1);
  return weights;
}

/// What the points of a mixture are in one parameter.
class parzen_axis {
 public:
  parzen_axis(search_parameter const& parameter, std::vector<double> observed, double prior)
      : parameter_{&parameter}, centers_(std::move(observed)) {
    auto const n = static_cast<double>(centers_.size());
    if (is_choice()) {
      smooth_ = prior / (n + 1);
      return;
    }
    auto const low = parameter.low_end();
    auto const high = parameter.high_end();
    widths_ = distances(low, high);
    for (auto& width : widths_)
      width = std::clamp(width, (high - low) / std::min(100.0, n + 2), high - low);
    centers_.push_back(std::midpoint(low, high));
    widths_.push_back(high - low);
    for (auto k = std::size_t{0}; k < centers_.size(); ++k)
      masses_.push_back(
          normal_mass((low - centers_[k]) / widths_[k], (high - centers_[k]) / widths_[k]));
  }
  /// The density of point k at a coordinate; the prior comes after the points.
  [[nodiscard]] auto density(std::size_t k, double x) const -> double {
    if (is_choice()) {
      auto const choices = static_cast<double>(parameter_->choices.size());
      if (k == centers_.size()) return 1 / choices;
      return (smooth_ + (x == centers_[k] ? 1 : 0)) / (1 + smooth_ * choices);
    }
    auto const z = (x - centers_[k]) / widths_[k];
    auto const half = 0.5 / widths_[k];
    auto const root = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return (is_integer() ? normal_mass(z - half, z + half)
                         : lane::exp(-0.5 * z * z) * root / widths_[k]) /
           masses_[k];
  }
  [[nodiscard]] auto draw(std::size_t k, draws& random) const -> double {
    if (is_choice()) {
      auto const choices = static_cast<double>(parameter_->choices.size());
      auto const own = k == centers_.size() ? 0 : 1 / (1 + smooth_ * choices);
      auto const is_own = random.uniform() < own;
      return is_own ? centers_[k] : static_cast<double>(random.below(parameter_->choices.size()));
    }
    // No point is wider than the range and all lie within: at least a third is taken.
    for (;;) {
      auto const x = centers_[k] + widths_[k] * random.normal();
      if (x < parameter_->low_end() || x > parameter_->high_end()) continue;
      return is_integer() ? std::clamp(std::floor(x + 0.5), parameter_->low, parameter_->high) : x;
    }
  }

 private:
  [[nodiscard]] auto is_choice() const -> bool {
    return parameter_->is == search_parameter::kind::choice;
  }
  [[nodiscard]] auto is_integer() const -> bool {
    return parameter_->is == search_parameter::kind::integer;
  }
  /// How far the farther neighbor of each point is away. An end of the range is none, but for a
  /// single point.
  [[nodiscard]] auto distances(double low, double high) const -> std::vector<double> {
    auto const n = centers_.size();
    if (n == 1) return {std::max(centers_[0] - low, high - centers_[0])};
    auto order = std::vector<std::size_t>(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair{centers_[i], i}; });
    auto result = std::vector<double>(n);
    for (auto i = std::size_t{0}; i < n; ++i) {
      auto const here = centers_[order[i]];
      auto const before = i == 0 ? 0 : here - centers_[order[i - 1]];
      auto const after = i + 1 == n ? 0 : centers_[order[i + 1]] - here;
      result[order[i]] = std::max(before, after);
    }
    return result;
  }

  search_parameter const* parameter_;
  std::vector<double> centers_;
  std::vector<double> widths_ = {};
  std::vector<double> masses_ = {};
  double smooth_ = 0;
};

}  // namespace detail

/// The density of the points of a search: a mixture of one product of densities, over the
/// parameters, for each point, oldest first, and of a prior over the whole space.
///
/// A number's density is normal, cut off at the ends; as wide as the farther neighbor is away, at
/// least 1/min(100, n + 2) of the range ("magic clip"). A whole number has the mass of its unit. A
/// choice gives every choice prior/(n + 1), and the point's own 1 more.
///
/// Cost    an exponential or two error functions for each point and parameter; the space outlives
///         it
/// Source  Bergstra and others 2011, "Algorithms for hyper-parameter optimization"; joint
/// densities,
///         widths and weights as Optuna 5 has them by default; reference values:
///         tests/reference/parzen_estimator.py
class parzen_estimator {
 public:
  /// `points` are coordinates, one for each parameter.
  parzen_estimator(search_space const& space, std::vector<std::vector<double>> const& points,
                   double prior = 1)
      : weights_(detail::weights_by_age(points.size())) {
    weights_.push_back(prior);
    auto const sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    for (auto& weight : weights_) weight /= sum;
    for (auto axis = std::size_t{0}; axis < space.parameters().size(); ++axis) {
      auto observed = std::vector<double>{};
      for (auto const& point : points) observed.push_back(point.at(axis));
      axes_.emplace_back(space.parameters()[axis], std::move(observed), prior);
    }
  }
  /// The density at coordinates; of whole numbers and choices the probability.
  [[nodiscard]] auto density(std::vector<double> const& x) const -> double {
    return std::exp(log_density(x));
  }
  /// Its logarithm, which many or wide parameters do not bring to zero.
  [[nodiscard]] auto log_density(std::vector<double> const& x) const -> double {
    auto logs = std::vector<double>{};
    for (auto k = std::size_t{0}; k < weights_.size(); ++k) {
      auto sum = std::log(weights_[k]);
      for (auto axis = std::size_t{0}; axis < axes_.size(); ++axis)
        sum += std::log(axes_[axis].density(k, x.at(axis)));
      logs.push_back(sum);
    }
    auto const largest = std::ranges::max(logs);
    if (not std::isfinite(largest)) return largest;
    auto sum = 0.0;
    for (auto const one : logs) sum += std::exp(one - largest);
    return largest + std::log(sum);
  }
  /// Coordinates of that density.
  [[nodiscard]] auto draw(draws& random) const -> std::vector<double> {
    auto left = random.uniform();
    auto k = std::size_t{0};
    for (; k + 1 < weights_.size() && left >= weights_[k]; ++k) left -= weights_[k];
    auto result = std::vector<double>{};
    for (auto const& axis : axes_) result.push_back(axis.draw(k, random));
    return result;
  }

 private:
  std::vector<double> weights_;
  std::vector<detail::parzen_axis> axes_;
};

}  // namespace tessera
