// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/workers.hpp>

#ifdef __linux__
#include <sched.h>
#endif

/// Gives every thread a processor of its own, of those that it may use: one that wakes may be put
/// beside the one that wakes it, where others work.
inline void spread([[maybe_unused]] tessera::workers& by) {
#ifdef __linux__
  static auto const all = [] {
    auto cores = cpu_set_t{};
    sched_getaffinity(0, sizeof(cores), &cores);
    return cores;
  }();
  by.run(by.size(), [](std::size_t i) {
    for (auto core = 0; core < CPU_SETSIZE; ++core) {
      if (not CPU_ISSET(core, &all) || i-- > 0) continue;
      auto own = cpu_set_t{};
      CPU_SET(core, &own);
      sched_setaffinity(0, sizeof(own), &own);
      return;
    }
  });
#endif
}
