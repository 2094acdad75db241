// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/weights.hpp>

namespace tessera {

/// Numbers that lie by panels of units: what `gate_panels` have, as kernels ask for it.
template <class T> struct gate_panel_matrix {
  T const* data;
  std::size_t in;
  std::size_t gates;
  std::size_t hidden;
  std::size_t units;  ///< of a panel

  /// The weight of output o, which is that of a unit in a gate, for input k.
  [[nodiscard]] constexpr auto at(std::size_t o, std::size_t k) const -> T {
    auto const gate = o / hidden;
    auto const unit = o % hidden;
    return data[((unit / units * in + k) * gates + gate) * units + unit % units];
  }
};

/// The matrix of a recurrent cell's gates, by panels of 64 bytes of units: for each input in turn
/// a panel has the weights of all gates. A step reads a panel from end to end and has then all that
/// its units need; several of them are streams side by side, which a cache delivers faster than
/// pieces of long columns.
///
/// Shapes  S is (Gates·Hidden, In), as of the tensor that it is packed from
/// Layout  panel, input, gate, unit; units beyond Hidden are zero
/// Cost    In·Gates·Hidden numbers, Hidden rounded up to a whole panel
template <class T, class S, class Backend, std::size_t Gates> struct gate_panels {
  using scalar_type = T;
  using shape_type = S;
  using backend_type = Backend;
  static constexpr auto out = static_cast<std::size_t>(S::extents[0]);
  static constexpr auto in = S::capacity / out;
  static constexpr auto gates = Gates;
  static constexpr auto hidden = out / Gates;
  static constexpr auto units = 64 / sizeof(T);
  static constexpr auto size_of_panel = in * Gates * units;
  static constexpr auto panels = (hidden + units - 1) / units;

  alignas(64) T values[panels * size_of_panel];

  [[nodiscard]] constexpr auto numbers() const -> gate_panel_matrix<T> {
    return {values, in, Gates, hidden, units};
  }
  constexpr void pack(auto const& weights) {
    auto* to = values;
    for (auto first = std::size_t{0}; first < hidden; first += units)
      for (auto k = std::size_t{0}; k < in; ++k)
        for (auto g = std::size_t{0}; g < Gates; ++g)
          for (auto u = first; u < first + units; ++u)
            *to++ = u < hidden ? weights.at(g * hidden + u, k) : T{0};
  }
  /// f(o, count, part) for the outputs [o, o + count) as a `weight_matrix`, o ascending.
  constexpr void for_each_part(auto const& f) const {
    for (auto g = std::size_t{0}; g < Gates; ++g)
      for (auto first = std::size_t{0}; first < hidden; first += units) {
        auto const left = hidden - first;
        f(g * hidden + first, left < units ? left : +units,
          weight_matrix<T>{values + first * in * Gates + g * units, 1, Gates * units});
      }
  }
};

/// True for weights by panels of units.
template <class W>
inline constexpr bool by_gate_panels = requires { std::remove_cvref_t<W>::size_of_panel; };

}  // namespace tessera
