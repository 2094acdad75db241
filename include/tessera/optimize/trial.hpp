// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optimize/search_space.hpp>

#include <array>
#include <limits>
#include <optional>
#include <string_view>

namespace tessera {

enum class search_direction { minimize, maximize };

/// `waiting` is a trial whose process ended before it did; it is run again.
enum class trial_state { waiting, running, complete, pruned, failed };

namespace detail {

inline constexpr auto trial_states =
    std::array<std::string_view, 5>{"waiting", "running", "complete", "pruned", "failed"};

}  // namespace detail

[[nodiscard]] inline auto text_of(trial_state state) -> std::string {
  return std::string{detail::trial_states.at(static_cast<std::size_t>(state))};
}

/// One point of a search and what became of it.
struct trial {
  std::uint64_t number = 0;  ///< counted from 0
  std::uint64_t attempt = 1;
  trial_state state = trial_state::running;
  search_point point = {};
  double value = std::numeric_limits<double>::quiet_NaN();  ///< of a complete one alone
  std::map<std::string, double> scores = {};                ///< told beside the value
  std::map<std::uint64_t, double> reported = {};            ///< the value so far, by step
  double began = 0;                                         ///< seconds since 1970
  double ended = 0;                                         ///< 0 as long as it has not
  std::string worker = {};                                  ///< "process 4711 on here"
  std::string message = {};                                 ///< why it failed

  [[nodiscard]] auto is_finished() const -> bool {
    return state != trial_state::waiting && state != trial_state::running;
  }
};

/// True where a is better than b; a value that is no number is worse than all.
[[nodiscard]] inline auto is_better(double a, double b, search_direction direction) -> bool {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && not std::isnan(a);
  return direction == search_direction::minimize ? a < b : a > b;
}

/// The complete trials, the best first; of equal ones the earlier.
[[nodiscard]] inline auto best_trials(std::vector<trial> const& trials, search_direction direction)
    -> std::vector<trial> {
  auto complete = std::vector<trial const*>{};
  for (auto const& one : trials)
    if (one.state == trial_state::complete) complete.push_back(&one);
  std::ranges::sort(complete, [&](trial const* a, trial const* b) {
    return is_better(a->value, b->value, direction) ||
           (a < b && not is_better(b->value, a->value, direction));
  });
  auto result = std::vector<trial>{};
  for (auto const* one : complete) result.push_back(*one);
  return result;
}

}  // namespace tessera
