// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#include <cstddef>

namespace tessera::detail {

/// Those who share a thread's large operations: `run` calls call(task, i) for every i below
/// `tasks`, each once, by up to `threads` threads, and returns when all are done. It is what
/// kernels know of `workers`.
struct sharing_team {
  std::size_t threads;
  void* self;
  void (*run)(void* self, std::size_t tasks, void* task, void (*call)(void*, std::size_t));
};

/// Of this thread, whatever its code was compiled for; none where it works alone.
inline constinit thread_local sharing_team const* current_team = nullptr;

inline namespace TESSERA_TARGET {

/// A part of a range, by whole units.
struct share {
  std::size_t first;
  std::size_t count;
};
/// How `all` things are cut for at most `most` threads: into ranges of `each`, whole units, of
/// which the last takes what is left too.
struct shares {
  std::size_t all;
  std::size_t each;
  std::size_t count;

  shares(std::size_t things, std::size_t unit, std::size_t most) : all(things) {
    auto const units = things < unit ? std::size_t{1} : things / unit;
    each = (units + most - 1) / most * unit;
    count = (units * unit + each - 1) / each;
  }
  [[nodiscard]] auto operator[](std::size_t i) const -> share {
    auto const first = i * each;
    return {first, i + 1 == count ? all - first : each};
  }
};

/// Calls f(i) for each of some parts, by this thread's team.
template <class F> void in_parts(std::size_t parts, F const& f) {
  current_team->run(current_team->self, parts, const_cast<F*>(&f),
                    [](void* self, std::size_t i) { (*static_cast<F const*>(self))(i); });
}

/// The threads of this thread's team that so much work is worth, where `enough` takes one of them
/// several times as long as others need to begin: a share has half of that at least, or about.
[[nodiscard]] inline auto threads_worth(std::size_t work, std::size_t enough) -> std::size_t {
  auto const worth = work / (enough / 2);
  return current_team->threads < worth ? current_team->threads : worth;
}

/// Numbers that one thread takes some microseconds to pass over, several times as long as others
/// need to begin.
inline constexpr std::size_t numbers_worth_sharing = std::size_t{1} << 16U;

/// Calls f(share) for all of some things, by the team of this thread if it has one and their
/// numbers, `each` of a thing, are worth it; shares are multiples of `unit`.
template <class F>
void in_shares_of(std::size_t things, std::size_t unit, std::size_t each, F const& f) {
  auto const numbers = things * each;
  if (numbers < numbers_worth_sharing || current_team == nullptr) return f(share{0, things});
  auto const parts = shares(things, unit, threads_worth(numbers, numbers_worth_sharing));
  in_parts(parts.count, [&](std::size_t i) { f(parts[i]); });
}

}  // namespace TESSERA_TARGET

}  // namespace tessera::detail
