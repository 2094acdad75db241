// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/tensor/whole.hpp>

namespace tessera {

namespace detail {

/// An object of another size is one of nothing but empty members.
template <class Object>
inline constexpr bool has_words =
    not std::is_empty_v<Object> && sizeof(Object) % sizeof(std::uint32_t) == 0;

struct clear_words {
  std::uint32_t* to;
  TESSERA_DEVICE void operator()(std::size_t i) const { to[i] = 0; }
};
struct copy_words {
  std::uint32_t const* from;
  std::uint32_t* to;
  TESSERA_DEVICE void operator()(std::size_t i) const { to[i] = from[i]; }
};

}  // namespace detail

template <> struct kernel_for<detail::whole_fn, cuda> {
  template <class Object> static void clear(Object& object) {
    if constexpr (detail::has_words<Object>) {
      device::for_each(sizeof(Object) / sizeof(std::uint32_t),
                       detail::clear_words{reinterpret_cast<std::uint32_t*>(&object)});
      // The host may count in what was cleared: the samples in a cache.
      if (not device::current().is_recording()) device::synchronize();
    }
  }
  template <class Object> static void copy(Object& to, Object const& from) {
    if constexpr (detail::has_words<Object>) {
      device::for_each(sizeof(Object) / sizeof(std::uint32_t),
                       detail::copy_words{reinterpret_cast<std::uint32_t const*>(&from),
                                          reinterpret_cast<std::uint32_t*>(&to)});
    }
  }
};

}  // namespace tessera
