// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tessera.hpp>

/// A layer of one function: y = scale·x / (1 + |x|). Its backward pass is the library's work.
template <std::size_t Features> struct soft_clip {
  template <class Storage> struct parameters {
    tessera::tensor_in<Storage, tessera::shape<Features>> scale;
    TESSERA_PARAMETERS(scale)
  };
  static constexpr auto forward(auto const& p, auto x) { return p.scale * x / (1 + abs(x)); }
};
