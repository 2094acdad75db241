// SPDX-License-Identifier: MIT
// EXPECT: the model has statistics, which start, too
// EXPECT: sequential<.*batch_norm<4
// LINES: 10
#include <tessera/compose/sequential.hpp>
#include <tessera/layers/batch_norm.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/random/torch.hpp>

using namespace tessera;
using model = sequential<linear<3, 4>, batch_norm<4>>;

auto main() -> int {
  auto p = parameters_of<model, owned<float>>{};
  [[maybe_unused]] auto s = statistics_of<model, owned<float>>{};
  auto generator = torch_generator(1);
#ifdef TESSERA_MUST_FAIL
  model::initialize(p, generator);
#else
  model::initialize(p, s, generator);
#endif
}
