// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/core/elementary.hpp>

#include <cstddef>
#include <cstdint>
#include <numbers>

/// Learning rates over time, as torch.optim.lr_scheduler: plain structs whose rate(base, t) is the
/// rate at step or epoch t. Only reduce_on_plateau remembers what was.
///
/// Accuracy  1e-12 relative of torch
/// Errors    numbers that make no schedule break the contract when they are used
/// Source    torch.optim.lr_scheduler; reference values: tests/reference/schedule.py
namespace tessera::inline TESSERA_TARGET {

struct constant_rate {
  [[nodiscard]] constexpr auto rate(double base, std::uint64_t) const -> double { return base; }
};

/// base·gamma^(t / every)
struct step_lr {
  std::uint64_t every = 1;
  double gamma = 0.1;

  [[nodiscard]] constexpr auto rate(double base, std::uint64_t t) const -> double {
    require(every > 0, "step_lr: `every` is at least 1");
    for (auto n = t / every; n > 0; --n) base *= gamma;
    return base;
  }
};

/// base·gamma^t
struct exponential_lr {
  double gamma = 0.9;

  [[nodiscard]] constexpr auto rate(double base, std::uint64_t t) const -> double {
    return base * lane::pow(gamma, static_cast<double>(t));
  }
};

/// From base to `least` along half a cosine over `period`, and back.
struct cosine_lr {
  std::uint64_t period = 1;
  double least = 0;

  [[nodiscard]] constexpr auto rate(double base, std::uint64_t t) const -> double {
    require(period > 0, "cosine_lr: the period is at least 1");
    auto const phase =
        std::numbers::pi * static_cast<double>(t % (2 * period)) / static_cast<double>(period);
    return least + (base - least) * (1 + lane::cos(phase)) / 2;
  }
};

/// From start·base to end·base along a line over `total` steps, then constant.
struct linear_lr {
  double start = 1.0 / 3;
  double end = 1;
  std::uint64_t total = 5;

  [[nodiscard]] constexpr auto rate(double base, std::uint64_t t) const -> double {
    require(total > 0, "linear_lr: at least one step");
    auto const done = static_cast<double>(t < total ? t : total) / static_cast<double>(total);
    return base * (start + (end - start) * done);
  }
};

/// base up to `from`, then geometrically down to base·`factor` at `to`.
struct geometric_lr {
  std::uint64_t from = 0;
  std::uint64_t to = 1;
  double factor = 0.1;

  [[nodiscard]] constexpr auto rate(double base, std::uint64_t t) const -> double {
    require(from < to && factor > 0, "geometric_lr: `from` before `to`, factor above 0");
    if (t <= from) return base;
    auto const done =
        static_cast<double>((t < to ? t : to) - from) / static_cast<double>(to - from);
    return base * lane::pow(factor, done);
  }
};

/// One cycle of `total` steps: from base / initial_divisor up to base over the share `rise`, then
/// down to the start divided by final_divisor; both along cosines. base is torch's max_lr.
struct one_cycle_lr {
  std::uint64_t total = 100;
  double rise = 0.3;
  double initial_divisor = 25;
  double final_divisor = 1e4;

  [[nodiscard]] constexpr auto rate(double base, std::uint64_t t) const -> double {
    require(total > 1, "one_cycle_lr: at least two steps");
    require(rise >= 0 && rise <= 1, "one_cycle_lr: the rise is a share of the steps, 0 to 1");
    require(initial_divisor > 0 && final_divisor > 0, "one_cycle_lr: divisors are above 0");
    auto const initial = base / initial_divisor;
    auto const peak = rise * static_cast<double>(total) - 1;
    auto const last = static_cast<double>(total) - 1;
    auto const at = static_cast<double>(t) < last ? static_cast<double>(t) : last;
    if (at < peak || peak >= last) return between(initial, base, at / peak);
    return between(base, initial / final_divisor, (at - peak) / (last - peak));
  }

 private:
  [[nodiscard]] static constexpr auto between(double start, double end, double done) -> double {
    return end + (start - end) / 2 * (1 + lane::cos(std::numbers::pi * done));
  }
};

/// `First` until t reaches `until`, then `Second` from its own beginning. Both count as the whole
/// does: by_step{sequential_lr{...}}, not a by_step inside.
template <class First, class Second> struct sequential_lr {
  static_assert(
      not requires { First::counts_steps; } && not requires { Second::counts_steps; },
      "sequential_lr: its parts count as it does: by_step{sequential_lr{...}}");
  First first;
  Second second;
  std::uint64_t until = 1;

  [[nodiscard]] constexpr auto rate(double base, std::uint64_t t) const -> double {
    return t < until ? first.rate(base, t) : second.rate(base, t - until);
  }
};
template <class First, class Second>
sequential_lr(First, Second, std::uint64_t) -> sequential_lr<First, Second>;

/// A schedule whose time is counted in updates of the parameters, one for each batch or for each
/// accumulate_grad_batches of them, where a trainer otherwise counts epochs.
template <class Schedule> struct by_step {
  static constexpr bool counts_steps = true;
  Schedule schedule;

  [[nodiscard]] constexpr auto rate(double base, std::uint64_t t) const -> double {
    return schedule.rate(base, t);
  }
};
template <class Schedule> by_step(Schedule) -> by_step<Schedule>;

/// Multiplies the rate by `factor` when a measure has not become less for more than `patience`
/// epochs. Where the best is below 0, less is less by a share of its size; torch takes
/// best·(1 - threshold) there, too, which is above it.
///
/// State  the rate, the best measure and the epochs since: a plain struct for checkpoints
struct reduce_on_plateau {
  double factor = 0.1;
  std::uint64_t patience = 10;
  double threshold = 1e-4;  ///< less means by this share of |best|
  std::uint64_t cooldown = 0;
  double least = 0;
  double smallest_change = 1e-8;

  struct state {
    double scale = 1;  ///< of the base rate
    double best = std::numeric_limits<double>::infinity();
    std::uint64_t bad = 0;
    std::uint64_t cooling = 0;
  };
  [[nodiscard]] static constexpr auto rate(double base, state const& s) -> double {
    return base * s.scale;
  }
  /// What an epoch with this measure does to the state; true where the rate was reduced.
  constexpr auto observe(state& s, double base, double measure) const -> bool {
    if (measure < s.best * (s.best < 0 ? 1 + threshold : 1 - threshold)) {
      s.best = measure;
      s.bad = 0;
    } else {
      ++s.bad;
    }
    if (s.cooling > 0) {
      --s.cooling;
      s.bad = 0;
    }
    if (s.bad <= patience) return false;
    s.cooling = cooldown;
    s.bad = 0;
    auto const now = base * s.scale;
    auto const reduced = now * factor > least ? now * factor : least;
    if (now - reduced <= smallest_change) return false;
    s.scale = reduced / base;
    return true;
  }
};

}  // namespace tessera::inline TESSERA_TARGET
