// SPDX-License-Identifier: MIT
#pragma once

/// What a layer says about itself, in one struct: a fact that is misspelt does not compile.
namespace tessera {

enum class reads { neither = 0, input = 1, output = 2, both = 3 };
[[nodiscard]] constexpr auto reads_input(reads r) -> bool { return (static_cast<int>(r) & 1) != 0; }
[[nodiscard]] constexpr auto reads_output(reads r) -> bool {
  return (static_cast<int>(r) & 2) != 0;
}
[[nodiscard]] constexpr auto reads_of(bool input, bool output) -> reads {
  return static_cast<reads>((input ? 1 : 0) + (output ? 2 : 0));
}

/// The facts of a layer: static constexpr auto about = facts{.backward_reads = reads::input}.
struct facts {
  reads backward_reads = reads::neither;  ///< of its own input and output
  bool row_wise = false;                  ///< every row on its own, so that a step is a forward
  bool streams = false;                   ///< has a step
  bool in_place = false;                  ///< y may be x, and dx may be dy
  bool adds_dx = false;                   ///< dx may be added to, not only written
  bool reads_parameters_first = false;    ///< backward has read its parameters before it adds to
                                          ///< their gradient
  bool random = false;                    ///< draws from the stream of the call, if it has one
  // the roles of memory that it names; `layer_for` compares
  bool kept = false;
  bool state = false;
  bool scratch = false;
  bool slopes = false;
  bool statistics = false;  ///< and observed
};

}  // namespace tessera
