// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>

#include <memory>
#include <type_traits>

/// Where the objects of a training lie: on the heap, or where host and device see them.
///
/// The host reads and writes what a device sees only after wait_on, and launches after that. What
/// the trainer calls - sources, scores, callbacks, parts but for those that only launch - is called
/// when nothing runs.
namespace tessera {

namespace detail {

template <class Backend> struct releaser {
  void operator()(void* memory) const noexcept { kernel_for<memory_fn, Backend>::release(memory); }
};
template <class Backend> struct host_releaser {
  void operator()(void* memory) const noexcept {
    kernel_for<memory_fn, Backend>::release_on_host(memory);
  }
};

}  // namespace detail

/// Owns an object, or a row of them, that kernels of a backend reach.
template <class T, class Backend>
using placed = std::conditional_t<on_device<Backend>, std::unique_ptr<T, detail::releaser<Backend>>,
                                  std::unique_ptr<T>>;

/// The same on the host's side: what the host writes before each step, and kernels only read.
template <class T, class Backend>
using placed_on_host =
    std::conditional_t<on_device<Backend>, std::unique_ptr<T, detail::host_releaser<Backend>>,
                       std::unique_ptr<T>>;

namespace detail {

/// T, or n of them, where a device sees them: memory of so many bytes by `allocate`.
template <class Owner, class T, class... Count>
[[nodiscard]] auto placed_by(auto const& allocate, Count... n) -> Owner {
  using item = std::remove_extent_t<T>;
  static_assert(std::is_trivially_copyable_v<item> && std::is_trivially_destructible_v<item>,
                "make_placed: a device sees numbers, and no object with memory of its own");
  return Owner{static_cast<item*>(allocate((sizeof(item) * ... * n)))};
}

}  // namespace detail

/// An object as `T{}` is, or n of them: make_placed<T[], Backend>(n).
///
/// Errors  what the backend says where it has no room
template <class T, class Backend, class... Count>
  requires(sizeof...(Count) == (std::is_array_v<T> ? 1 : 0))
[[nodiscard]] auto make_placed(Count... n) -> placed<T, Backend> {
  if constexpr (on_device<Backend>)
    return detail::placed_by<placed<T, Backend>, T>(
        kernel_for<detail::memory_fn, Backend>::allocate, n...);
  else
    return std::make_unique<T>(n...);
}
/// The same on the host's side.
template <class T, class Backend, class... Count>
  requires(sizeof...(Count) == (std::is_array_v<T> ? 1 : 0))
[[nodiscard]] auto make_placed_on_host(Count... n) -> placed_on_host<T, Backend> {
  if constexpr (on_device<Backend>)
    return detail::placed_by<placed_on_host<T, Backend>, T>(
        kernel_for<detail::memory_fn, Backend>::allocate_on_host, n...);
  else
    return std::make_unique<T>(n...);
}

/// Waits until all that this thread has launched is done; on the host nothing is launched.
template <class Backend> void wait_on() {
  if constexpr (on_device<Backend>) kernel_for<detail::memory_fn, Backend>::wait();
}

}  // namespace tessera
