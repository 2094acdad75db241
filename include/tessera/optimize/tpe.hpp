// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optimize/parzen_estimator.hpp>
#include <tessera/optimize/random_search.hpp>

namespace tessera {

/// A tree-structured Parzen estimator: the finished trials are split into the best ceil(n/10), at
/// most 25, and the others; of points drawn from the density of the good ones the one is taken
/// whose density is largest against that of the others.
///
/// Complete trials come before pruned ones, and of those the ones that went farther. Running and
/// waiting ones are among the others, so that processes keep away from each other's points; failed
/// ones are not looked at. The first `startup` trials are drawn at random.
///
/// Cost    2·candidates·n densities for n trials
/// Source  Bergstra and others 2011; constants of Optuna's TPESampler: see parzen_estimator.hpp
struct tpe {
  std::uint64_t startup = 10;
  std::uint64_t candidates = 24;
  double prior_weight = 1;

  [[nodiscard]] auto propose(search_so_far const& search, draws& random) const -> search_point {
    auto ranked = ranking(search);
    if (ranked.size() < startup || ranked.empty()) return random_search{}.propose(search, random);
    auto const good = std::min((ranked.size() + 9) / 10, std::size_t{25});
    auto others =
        std::vector<trial const*>(ranked.begin() + static_cast<std::ptrdiff_t>(good), ranked.end());
    for (auto const& one : search.trials)
      if (not one.is_finished()) others.push_back(&one);
    ranked.resize(good);
    return search.space.point(choose({search.space, by_age(search, ranked), prior_weight},
                                     {search.space, by_age(search, others), prior_weight}, random));
  }

 private:
  /// Finished trials, the best first.
  [[nodiscard]] static auto ranking(search_so_far const& search) -> std::vector<trial const*> {
    auto result = std::vector<trial const*>{};
    for (auto const& one : search.trials)
      if (one.state == trial_state::complete || one.state == trial_state::pruned)
        result.push_back(&one);
    auto const last = [](trial const& t) -> std::pair<std::uint64_t, double> {
      if (t.reported.empty()) return {0, t.value};
      return *t.reported.rbegin();
    };
    auto const is_before = [&](trial const* a, trial const* b) {
      if (a->state != b->state) return a->state == trial_state::complete;
      if (a->state == trial_state::complete) return is_better(a->value, b->value, search.direction);
      auto const [step_a, value_a] = last(*a);
      auto const [step_b, value_b] = last(*b);
      return step_a != step_b ? step_a > step_b : is_better(value_a, value_b, search.direction);
    };
    std::ranges::sort(result, [&](trial const* a, trial const* b) {
      return is_before(a, b) || (a < b && not is_before(b, a));  // of equal ones the earlier
    });
    return result;
  }
  [[nodiscard]] static auto by_age(search_so_far const& search, std::vector<trial const*> trials)
      -> std::vector<std::vector<double>> {
    std::ranges::sort(trials, {}, &trial::number);
    auto result = std::vector<std::vector<double>>{};
    for (auto const* const one : trials) result.push_back(search.space.coordinates(one->point));
    return result;
  }
  [[nodiscard]] auto choose(parzen_estimator const& good, parzen_estimator const& others,
                            draws& random) const -> std::vector<double> {
    auto best = std::vector<double>{};
    auto best_ratio = 0.0;  // its logarithm
    for (auto i = std::uint64_t{0}; i < std::max<std::uint64_t>(candidates, 1); ++i) {
      auto const x = good.draw(random);
      auto const ratio = good.log_density(x) - others.log_density(x);
      if (not best.empty() && not(ratio > best_ratio)) continue;
      best = x;
      best_ratio = ratio;
    }
    return best;
  }
};

}  // namespace tessera
