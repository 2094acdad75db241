// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/nothing.hpp>

#include <new>
#include <type_traits>

namespace tessera {

/// Makes an object what `T{}` is, where it lies: `object = {}` would first put a second one on the
/// stack, which a key-value cache or a training object is too large for.
template <class T>
  requires(std::is_trivially_destructible_v<T>)
constexpr void clear(T& object) {
  if constexpr (not is_empty<T>) {
    if (std::is_constant_evaluated())
      object = T{};
    else
      ::new (static_cast<void*>(&object)) T();
  }
}

}  // namespace tessera
