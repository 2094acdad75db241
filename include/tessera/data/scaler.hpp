// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/bridge/repairs.hpp>

#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

/// Scalers with the semantics of sklearn.preprocessing: fitted on training data, applied to all.
///
/// Shapes  tables (row, column); every column on its own
/// Errors  std::invalid_argument for a table without rows, for a fit to an infinity, and for other
///         columns than the fitted ones
/// Source  sklearn.preprocessing; reference values: tests/reference/scaler.py
namespace tessera {

/// x -> (x - shift) / scale, column by column.
struct column_scaler {
  using table = xt::xtensor<double, 2>;

  xt::xtensor<double, 1> shift;
  xt::xtensor<double, 1> scale;

  [[nodiscard]] auto transform(table const& x) const -> table {
    check(x);
    return (x - shift) / scale;
  }
  [[nodiscard]] auto inverse(table const& x) const -> table {
    check(x);
    return x * scale + shift;
  }

 protected:
  static void check_fitted(table const& x, char const* who) {
    if (x.shape(0) == 0)
      throw std::invalid_argument(std::string{who} + ": expected a table with rows, got none");
    for (auto r = std::size_t{0}; r < x.shape(0); ++r)
      for (auto c = std::size_t{0}; c < x.shape(1); ++c)
        if (std::isinf(x(r, c)))
          throw std::invalid_argument(std::string{who} + ": expected finite numbers or NaN, got " +
                                      std::to_string(x(r, c)) + " in row " + std::to_string(r) +
                                      " of column " + std::to_string(c));
  }
  /// A column with NaN in it is that of its other numbers, as scikit-learn has it; without any of
  /// them it stays NaN.
  void fit_gaps(table const& x, auto const& fit) {
    for (auto c = std::size_t{0}; c < x.shape(1); ++c) {
      auto numbers = std::vector<double>{};
      for (auto r = std::size_t{0}; r < x.shape(0); ++r)
        if (not std::isnan(x(r, c))) numbers.push_back(x(r, c));
      if (numbers.size() == x.shape(0) || numbers.empty()) continue;
      auto column = table(std::array<std::size_t, 2>{numbers.size(), 1});
      std::ranges::copy(numbers, column.begin());
      auto const own = fit(column);
      shift(c) = own.shift(0);
      scale(c) = own.scale(0);
    }
  }
  /// A column that changes by no more than what rounding makes of numbers near 1 is only shifted.
  void spare_constant_columns() {
    for (auto& s : scale)
      if (s < 10 * std::numeric_limits<double>::epsilon()) s = 1;
  }

 private:
  void check(table const& x) const {
    if (x.shape(1) != shift.size())
      throw std::invalid_argument("scaler: fitted on " + std::to_string(shift.size()) +
                                  " columns, got " + std::to_string(x.shape(1)));
  }
};

/// To mean 0 and deviation 1.
struct standard_scaler : column_scaler {
  [[nodiscard]] static auto fit(table const& x) -> standard_scaler {
    check_fitted(x, "standard_scaler");
    auto s = standard_scaler{};
    s.shift = xt::mean(x, {0});
    // What a sum of large numbers rounds away shows in the mean of what is left.
    xt::xtensor<double, 1> missed = xt::mean(x - s.shift, {0});
    s.shift += missed;
    missed = xt::mean(x - s.shift, {0});
    xt::xtensor<double, 1> const variance =
        xt::fabs(xt::mean(xt::square(x - s.shift), {0}) - xt::square(missed));
    s.scale = xt::sqrt(variance);
    // A mean is as exact as its sum: what deviates less than that does not change.
    auto const rows = static_cast<double>(x.shape(0));
    constexpr auto eps = std::numeric_limits<double>::epsilon();
    for (auto c = std::size_t{0}; c < variance.size(); ++c) {
      auto const of_mean = rows * s.shift(c) * eps;
      if (variance(c) <= rows * eps * variance(c) + of_mean * of_mean) s.scale(c) = 1;
    }
    s.fit_gaps(x, fit);
    return s;
  }
};

/// To [0, 1]; a column whose range is below 10 epsilons stays as wide as it is, as in scikit-learn.
struct min_max_scaler : column_scaler {
  [[nodiscard]] static auto fit(table const& x) -> min_max_scaler {
    check_fitted(x, "min_max_scaler");
    auto s = min_max_scaler{};
    s.shift = xt::amin(x, {0});
    s.scale = xt::amax(x, {0}) - s.shift;
    s.spare_constant_columns();
    s.fit_gaps(x, fit);
    return s;
  }
};

}  // namespace tessera
