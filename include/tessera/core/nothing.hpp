// SPDX-License-Identifier: MIT
#pragma once

namespace tessera {

/// What a layer has that names no state, tape or scratch: it takes no memory.
struct nothing {};

/// std::is_empty_v, asked of the compiler: it makes no class of it.
template <class U> inline constexpr bool is_empty = __is_empty(U);

/// An object of an empty type, for a reference that is never read through.
template <class U> inline U empty_object{};

}  // namespace tessera
