// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optimize/draws.hpp>
#include <tessera/optimize/trial.hpp>

#include <cmath>
#include <cstdio>
#include <numeric>

namespace tessera {

/// What a search tells of its parameters: the share of the variance of the values, over the whole
/// space, that each one explains by itself, the largest first; the rest is explained by several
/// together. Nothing where there are not two different values.
struct search_importance {
  struct share_of {
    std::string name;
    double share = 0;
  };
  std::vector<share_of> parameters = {};
  double together = 0;
};

namespace detail {

/// Where a box of the space lies in one parameter: an interval of [0, 1], or some of the choices.
struct box_side {
  double low = 0;
  double high = 1;
  std::vector<bool> choices = {};

  [[nodiscard]] auto share() const -> double {
    if (choices.empty()) return high - low;
    return static_cast<double>(std::count(choices.begin(), choices.end(), true)) /
           static_cast<double>(choices.size());
  }
};

/// A part of the space where a tree has one value.
struct tree_leaf {
  std::vector<box_side> sides;
  double value = 0;
  double volume = 1;
};

/// Points of [0, 1] or choices, and their values.
struct forest_samples {
  std::vector<std::vector<double>> points;
  std::vector<double> values;
};

/// A regression tree over all of the space: every split takes away most of the squares' sum, until
/// a leaf has one value or one point. It is kept as its leaves.
class regression_tree {
 public:
  regression_tree(forest_samples const& samples, std::vector<std::size_t> const& drawn,
                  std::vector<box_side> const& space)
      : samples_{samples} {
    grow(drawn, space);
  }
  [[nodiscard]] auto leaves() const -> std::vector<tree_leaf> const& { return leaves_; }

 private:
  struct cut {
    double gain = 0;
    std::size_t axis = 0;
    double at = 0;                   ///< of a number
    std::vector<bool> choices = {};  ///< that go to the first part
  };

  [[nodiscard]] auto sum_of(std::vector<std::size_t> const& some) const -> double {
    auto sum = 0.0;
    for (auto const i : some) sum += samples_.values[i];
    return sum;
  }
  void grow(std::vector<std::size_t> const& some, std::vector<box_side> const& sides) {
    auto best = cut{};
    // Of equal values sums are not quite equal: there is nothing to gain, and none is looked for.
    auto const& values = samples_.values;
    auto const differ = [&](std::size_t i) { return values[i] != values[some.front()]; };
    if (std::ranges::any_of(some, differ))
      for (auto axis = std::size_t{0}; axis < sides.size(); ++axis)
        look(some, sides[axis], axis, best);
    if (best.gain <= 0) {
      auto volume = 1.0;
      for (auto const& side : sides) volume *= side.share();
      leaves_.push_back({sides, sum_of(some) / static_cast<double>(some.size()), volume});
      return;
    }
    auto parts = std::array<std::vector<std::size_t>, 2>{};
    for (auto const i : some) {
      auto const x = samples_.points[i][best.axis];
      auto const first =
          best.choices.empty() ? x <= best.at : best.choices[static_cast<std::size_t>(x)];
      parts[first ? 0 : 1].push_back(i);
    }
    auto inside = std::array{sides, sides};
    inside[0][best.axis].high = inside[1][best.axis].low = best.at;
    for (auto c = std::size_t{0}; c < best.choices.size(); ++c) {
      auto const there = sides[best.axis].choices[c];
      inside[0][best.axis].choices[c] = there && best.choices[c];
      inside[1][best.axis].choices[c] = there && not best.choices[c];
    }
    grow(parts[0], inside[0]);
    grow(parts[1], inside[1]);
  }
  /// The best cut of one parameter. Choices stand in the order of their mean values, in which the
  /// best two sets are neighbors (Breiman and others 1984).
  void look(std::vector<std::size_t> const& some, box_side const& side, std::size_t axis,
            cut& best) const {
    auto rank = std::vector<double>(side.choices.size());
    if (not rank.empty()) {
      auto counts = rank;
      for (auto const i : some) {
        auto const c = static_cast<std::size_t>(samples_.points[i][axis]);
        counts[c] += 1;
        rank[c] += samples_.values[i];
      }
      for (auto c = std::size_t{0}; c < rank.size(); ++c) rank[c] /= std::max(counts[c], 1.0);
    }
    auto keyed = std::vector<std::pair<double, std::size_t>>{};
    for (auto const i : some) {
      auto const x = samples_.points[i][axis];
      keyed.emplace_back(rank.empty() ? x : rank[static_cast<std::size_t>(x)], i);
    }
    std::ranges::sort(keyed);
    auto const n = static_cast<double>(some.size());
    auto const all_sum = sum_of(some);
    auto sum = 0.0;
    for (auto i = std::size_t{0}; i + 1 < keyed.size(); ++i) {
      sum += samples_.values[keyed[i].second];
      if (not(keyed[i].first < keyed[i + 1].first)) continue;
      auto const left = static_cast<double>(i + 1);
      auto const difference = sum / left - (all_sum - sum) / (n - left);
      auto const gain = difference * difference * left * (n - left) / n;
      if (not(gain > best.gain)) continue;
      // Between two neighbors among numbers there is none.
      auto const middle = (keyed[i].first + keyed[i + 1].first) / 2;
      best = {gain, axis, middle < keyed[i + 1].first ? middle : keyed[i].first, {}};
      if (rank.empty()) continue;
      best.choices.assign(rank.size(), false);
      for (auto j = std::size_t{0}; j <= i; ++j)
        best.choices[static_cast<std::size_t>(samples_.points[keyed[j].second][axis])] = true;
    }
  }

  forest_samples const& samples_;
  std::vector<tree_leaf> leaves_;
};

/// The variance of a tree's mean over all parameters but one.
[[nodiscard]] inline auto variance_along(std::vector<tree_leaf> const& leaves, std::size_t axis,
                                         double mean) -> double {
  auto changes = std::map<double, double>{};  // of numbers: what begins and ends where
  auto const& choices = leaves[0].sides[axis].choices;
  auto of_choice = std::vector<double>(choices.size());
  for (auto const& leaf : leaves) {
    auto const& side = leaf.sides[axis];
    auto const part = (leaf.value - mean) * leaf.volume / side.share();
    for (auto c = std::size_t{0}; c < choices.size(); ++c)
      if (side.choices[c]) of_choice[c] += part;
    if (not choices.empty()) continue;
    changes[side.low] += part;
    changes[side.high] -= part;
  }
  auto variance = 0.0;
  for (auto const x : of_choice) variance += x * x / static_cast<double>(choices.size());
  auto here = 0.0;
  for (auto at = changes.begin(); at != changes.end() && std::next(at) != changes.end(); ++at) {
    here += at->second;
    variance += here * here * (std::next(at)->first - at->first);
  }
  return variance;
}

[[nodiscard]] inline auto forest_samples_of(search_space const& space,
                                            std::vector<trial> const& trials) -> forest_samples {
  auto result = forest_samples{};
  for (auto const& one : trials) {
    if (one.state != trial_state::complete) continue;
    auto x = space.coordinates(one.point);
    for (auto axis = std::size_t{0}; axis < x.size(); ++axis) {
      auto const& p = space.parameters()[axis];
      if (p.is == search_parameter::kind::choice) continue;
      x[axis] = (x[axis] - p.low_end()) / (p.high_end() - p.low_end());
    }
    result.points.push_back(std::move(x));
    result.values.push_back(one.value);
  }
  // Shares do not depend on the unit, but squares of large numbers are infinite.
  auto largest = 0.0;
  for (auto const value : result.values) largest = std::max(largest, std::abs(value));
  if (largest > 0)
    for (auto& value : result.values) value = std::ldexp(value, -std::ilogb(largest));
  return result;
}

}  // namespace detail

/// The importance of parameters by the complete trials: 64 regression trees, each grown of as many
/// trials as there are, drawn with putting back; of each tree exactly the variance of its mean over
/// all parameters but one, against its whole variance; the mean over the trees.
///
/// Cost    64·n·log(n)² for each parameter and n trials
/// Source  fANOVA: Hutter, Hoos and Leyton-Brown 2014, "An efficient approach for assessing
///         hyperparameter importance"; first order alone
[[nodiscard]] inline auto importance_of(search_space const& space, std::vector<trial> const& trials,
                                        std::uint64_t seed = 0) -> search_importance {
  constexpr auto trees = std::uint64_t{64};
  auto const samples = detail::forest_samples_of(space, trials);
  auto const n = samples.values.size();
  auto sides = std::vector<detail::box_side>{};
  for (auto const& p : space.parameters())
    sides.push_back({0, 1, std::vector<bool>(p.choices.size(), true)});
  auto shares = std::vector<double>(sides.size());
  auto counted = 0.0;
  for (auto t = std::uint64_t{0}; t < trees && n > 1; ++t) {
    auto random = draws(seed, t);
    auto drawn = std::vector<std::size_t>(n);
    for (auto& i : drawn) i = random.below(n);
    auto const tree = detail::regression_tree(samples, drawn, sides);
    auto mean = 0.0;
    for (auto const& leaf : tree.leaves()) mean += leaf.volume * leaf.value;
    auto variance = 0.0;
    for (auto const& leaf : tree.leaves())
      variance += leaf.volume * (leaf.value - mean) * (leaf.value - mean);
    if (not(variance > 0)) continue;
    counted += 1;
    for (auto axis = std::size_t{0}; axis < sides.size(); ++axis)
      shares[axis] += detail::variance_along(tree.leaves(), axis, mean) / variance;
  }
  auto result = search_importance{};
  if (counted == 0) return result;
  result.together = 1;
  for (auto axis = std::size_t{0}; axis < sides.size(); ++axis) {
    shares[axis] /= counted;
    result.together -= shares[axis];
  }
  result.together = std::max(result.together, 0.0);
  auto order = std::vector<std::size_t>(sides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return shares[a] != shares[b] ? shares[a] > shares[b] : a < b;
  });
  for (auto const axis : order)
    result.parameters.push_back({space.parameters()[axis].name, shares[axis]});
  return result;
}

/// A line for each parameter, with a bar; then what several explain together.
[[nodiscard]] inline auto importance_table(search_importance const& found) -> std::string {
  auto lines = found.parameters;
  if (lines.empty()) return "importance: too few different values\n";
  lines.push_back({"together", found.together});
  auto width = std::size_t{9};
  for (auto const& one : lines) width = std::max(width, one.name.size());
  auto text = std::string{};
  for (auto const& [name, share] : lines) {
    auto number = std::array<char, 32>{};
    (void)std::snprintf(number.data(), number.size(), "  %5.3f  ", share);
    text += name + std::string(width - name.size(), ' ') + number.data() +
            std::string(static_cast<std::size_t>(share * 40 + 0.5), '#') + '\n';
  }
  return text;
}
/// "parameter,share" and a line for each: what a picture is made of.
[[nodiscard]] inline auto importance_csv(search_importance const& found) -> std::string {
  auto text = std::string{"parameter,share\n"};
  for (auto const& [name, share] : found.parameters) text += name + ',' + described(share) + '\n';
  return found.parameters.empty() ? text : text + "together," + described(found.together) + '\n';
}

}  // namespace tessera
