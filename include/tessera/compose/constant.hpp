// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/memory.hpp>
#include <tessera/core/error.hpp>

#include <cstdint>

/// Parameters as a constant: a table of numbers in the program, in flash on a small machine.
namespace tessera {

/// What tells the parameters of one model from those of another: a hash (FNV-1a) of all paths and
/// shapes.
template <class P> [[nodiscard]] constexpr auto signature_of(P const& p) -> std::uint64_t {
  auto hash = std::uint64_t{0xCBF29CE484222325};
  auto const take = [&](std::uint64_t byte) { hash = (hash ^ byte) * 0x100000001B3; };
  for_each_parameter(
      [&](path_name const& path, auto const& w) {
        for (auto i = std::size_t{0}; i <= path.size(); ++i)
          take(static_cast<unsigned char>(path.text[i]));
        for (auto const e : shape_of<decltype(w)>::extents) take(bound_of(e));
      },
      p);
  return hash;
}

/// The parameters of a model from the table that write_header wrote, or a converter did.
///
/// Shapes    values: all numbers, in the order of for_each_parameter
/// Cost      none at run time where it initializes a constexpr variable; for more than a million
///           numbers compilers want to be allowed more: -fconstexpr-ops-limit of g++,
///           -fconstexpr-steps of clang
/// Errors    a table of another model does not compile: tests/fail/constant_of_another_model.cpp
template <class Model, std::uint64_t Signature, class T, std::size_t N,
          class Backend = default_backend>
[[nodiscard]] consteval auto constant_parameters(T const (&values)[N]) {
  constexpr auto own = signature_of(parameters_of<as_layer<Model>, counted>{});
  static_assert(complaint::holds < Signature == own, complaint::in < Model >>,
                "constant_parameters: the table belongs to another model");
  static_assert(complaint::holds < N == parameter_count<Model>, complaint::in < Model >>,
                "constant_parameters: another number of parameters");
  auto p = parameters_of<as_layer<Model>, owned<T, Backend>>{};
  auto at = std::size_t{0};
  for_each_parameter(
      [&](path_name const&, auto& w) {
        constexpr auto count = shape_of<decltype(w)>::capacity;
        constexpr auto most = std::size_t{65'536};  // a compiler counts the turns of a loop
        for (auto first = std::size_t{0}; first < count; first += most)
          for (auto i = first; i < count && i < first + most; ++i, ++at)
            w.values[i] = at < N ? values[at] : T{0};
      },
      p);
  return p;
}

}  // namespace tessera
