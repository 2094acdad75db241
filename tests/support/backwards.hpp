// SPDX-License-Identifier: MIT
#pragma once

#include <support/catch.hpp>
#include <tessera/backend/sharing.hpp>

#include <cstddef>

namespace test {

/// A team of one thread, which begins with the last task and counts them.
struct backwards {
  explicit backwards(std::size_t threads)
      : team{threads, this,
             [](void* self, std::size_t count, void* task, void (*call)(void*, std::size_t)) {
               auto& me = *static_cast<backwards*>(self);
               CHECK(count <= me.team.threads);
               me.tasks += count;
               while (count-- > 0) call(task, count);
             }} {
    tessera::detail::current_team = &team;
  }
  backwards(backwards const&) = delete;
  auto operator=(backwards const&) -> backwards& = delete;
  ~backwards() { tessera::detail::current_team = nullptr; }

  tessera::detail::sharing_team team;
  std::size_t tasks = 0;
};

}  // namespace test
