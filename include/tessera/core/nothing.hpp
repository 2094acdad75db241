// SPDX-License-Identifier: MIT
#pragma once

namespace tessera {

/// What a layer has that names no state, tape or scratch: it takes no memory.
struct nothing {};

/// An object of an empty type, for a reference that is never read through.
template <class U> inline U empty_object{};

}  // namespace tessera
