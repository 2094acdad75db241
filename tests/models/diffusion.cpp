// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/models/diffusion.hpp>

using namespace tessera;

static constexpr auto schedule = cosine_diffusion<50>();
static_assert(schedule.alpha_bar[0] > 0.99 && schedule.alpha_bar[49] < 1e-3);

TEST_CASE("diffusion: the schedule, noise and the steps back are diffusers'") {
  auto const g = test::golden("diffusion");
  CHECK(test::distance(schedule.beta, g["beta"]) < 1e-14);
  CHECK(test::distance(schedule.alpha_bar, g["alpha_bar"]) < 1e-14);
  using X = tensor<double, shape<6>>;
  auto x = X{};
  auto e = X{};
  auto z = X{};
  test::load(x, g["x"]);
  test::load(e, g["e"]);
  test::load(z, g["z"]);
  for (auto const t : {0, 1, 17, 49}) {
    auto y = X{};
    schedule.add_noise(static_cast<std::size_t>(t), x, e, view_of<X>(y));
    CHECK(test::distance(y, g["noised." + std::to_string(t)]) < 1e-13);
    y = x;
    schedule.denoise(static_cast<std::size_t>(t), view_of<X>(y), e, z);
    CHECK(test::distance(y, g["step." + std::to_string(t)]) < 1e-12);
  }
  CHECK_THROWS_WITH(schedule.add_noise(50, x, e, view_of<X>(x)),
                    "cosine_diffusion: there is no such step");
}
