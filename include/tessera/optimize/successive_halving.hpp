// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optimize/trial.hpp>

namespace tessera {

/// Asynchronous successive halving: a trial that has come to `least`, least·reduction,
/// least·reduction² ... steps goes on where its value is among the best n/reduction of the n that
/// came so far until then, its own included; at least the best one does. Nobody waits for another.
///
/// Source  Li and others 2020, "A system for massively parallel hyperparameter tuning", in the form
///         that stops trials
/// Errors  search_error where least is 0 or reduction below 2
struct successive_halving {
  std::uint64_t least = 1;      ///< steps before the first decision
  std::uint64_t reduction = 4;  ///< one of so many goes on

  void check() const {
    if (least < 1) throw search_error("successive_halving: expected least >= 1, got 0");
    if (reduction < 2)
      throw search_error("successive_halving: expected reduction >= 2, got " +
                         std::to_string(reduction));
  }
  /// The last rung after step `before` up to step `now`; nothing where there is none.
  [[nodiscard]] auto rung(std::uint64_t before, std::uint64_t now) const
      -> std::optional<std::uint64_t> {
    auto result = std::optional<std::uint64_t>{};
    for (auto steps = least; steps <= now; steps *= reduction) {
      if (steps > before) result = steps;
      if (steps > now / reduction) break;
    }
    return result;
  }
  /// True where a trial with this value goes on from a rung to which `others` came before it.
  [[nodiscard]] auto goes_on(double value, std::vector<double> const& others,
                             search_direction direction) const -> bool {
    if (std::isnan(value)) return false;
    auto const places = std::max<std::uint64_t>(1, (others.size() + 1) / reduction);
    auto const better = std::count_if(others.begin(), others.end(), [&](double other) {
      return is_better(other, value, direction);
    });
    return static_cast<std::uint64_t>(better) < places;
  }
};

}  // namespace tessera
