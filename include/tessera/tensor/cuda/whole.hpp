// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/tensor/whole.hpp>

#include <algorithm>

namespace tessera {

namespace detail {

/// An object of another size is one of nothing but empty members.
template <class Object>
inline constexpr bool has_words =
    not std::is_empty_v<Object> && sizeof(Object) % sizeof(std::uint32_t) == 0;
template <class Object> inline constexpr auto words_in = sizeof(Object) / sizeof(std::uint32_t);

struct clear_words {
  std::uint32_t* to;
  TESSERA_DEVICE void operator()(std::size_t i) const { to[i] = 0; }
};
struct copy_words {
  std::uint32_t const* from;
  std::uint32_t* to;
  TESSERA_DEVICE void operator()(std::size_t i) const { to[i] = from[i]; }
};

/// f(count) for all that the host counts in an object: the samples in a cache.
template <class Object> void for_each_count(Object& object, auto const& f) {
  if constexpr (requires { object.each_part(f); })
    object.each_part([&](auto& part) { for_each_count(part, f); });
  else if constexpr (requires { object.each_count(f); })
    object.each_count(f);
}
template <class Object> [[nodiscard]] auto has_counts(Object& object) -> bool {
  auto result = false;
  for_each_count(object, [&](auto&) { result = true; });
  return result;
}
/// counted(first, n) for the words that the host counts in, rest(first, n) for those between them.
template <class Object>
void for_each_stretch(Object& object, auto const& counted, auto const& rest) {
  auto const* const words = reinterpret_cast<std::uint32_t const*>(&object);
  auto done = std::size_t{0};
  for_each_count(object, [&](auto const& count) {
    auto const first =
        static_cast<std::size_t>(reinterpret_cast<std::uint32_t const*>(&count) - words);
    constexpr auto n = words_in<std::remove_reference_t<decltype(count)>>;
    rest(done, first - done);
    counted(first, n);
    done = first + n;
  });
  rest(done, words_in<Object> - done);
}

}  // namespace detail

/// What the host counts in an object has changed when these return: by waiting, or, where kernels
/// are only recorded and run after the host has counted on, at once and by no kernel.
template <> struct kernel_for<detail::whole_fn, cuda> {
  template <class Object> static void clear(Object& object) {
    if constexpr (detail::has_words<Object>) {
      auto* const to = reinterpret_cast<std::uint32_t*>(&object);
      auto const launch = [&](std::size_t first, std::size_t n) {
        device::for_each(n, detail::clear_words{to + first});
      };
      auto const at_once = [&](std::size_t first, std::size_t n) {
        std::fill_n(to + first, n, std::uint32_t{0});
      };
      if (device::current().is_recording())
        return detail::for_each_stretch(object, at_once, launch);
      launch(0, detail::words_in<Object>);
      device::synchronize();
    }
  }
  template <class Object> static void copy(Object& to, Object const& from) {
    if constexpr (detail::has_words<Object>) {
      auto* const there = reinterpret_cast<std::uint32_t*>(&to);
      auto const* const here = reinterpret_cast<std::uint32_t const*>(&from);
      auto const launch = [&](std::size_t first, std::size_t n) {
        device::for_each(n, detail::copy_words{here + first, there + first});
      };
      auto const at_once = [&](std::size_t first, std::size_t n) {
        std::copy_n(here + first, n, there + first);
      };
      if (device::current().is_recording()) return detail::for_each_stretch(to, at_once, launch);
      launch(0, detail::words_in<Object>);
      if (detail::has_counts(to)) device::synchronize();
    }
  }
};

}  // namespace tessera
