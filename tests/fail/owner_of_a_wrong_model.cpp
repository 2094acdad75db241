// SPDX-License-Identifier: MIT
// EXPECT: at_position<1>
// EXPECT: in<tessera::linear<32, 1
// EXPECT: expected<tessera::shape<10, 4, 32>
// EXPECT: got<tessera::shape<10, 4, 64>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;

#ifdef TESSERA_MUST_FAIL
using model = sequential<lstm<5, 64>, linear<32, 1>>;
#else
using model = sequential<lstm<5, 64>, linear<64, 1>>;
#endif
using X = tensor<float, shape<10, 4, 5>>;

/// A type of a user's that owns the memory of a model.
struct voice {
  auto hear(X const& x) { return run(parameters, x); }

  parameters_of<model, owned<float>> parameters{};
  inference<model, X> run{};
};

auto main() -> int {
  static voice v;
  (void)v.hear(X{});
}
