// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

TEST_CASE("dropout: an element's fate is the word at its place, in any part of the range") {
  auto x = tensor<float, shape<1000>>{};
  for (auto& v : x) v = 3;
  auto draw =
      detail::dropout_draw{.stream = {7, 8}, .first_block = 0, .threshold = 1U << 31, .scale = 2.0};
  auto y = tensor<float, shape<1000>>{};
  apply_dropout(draw, as_const(x), view<float, shape<1000>>{y.data()});
  for (auto i = std::size_t{0}; i < 1000; ++i)
    CHECK(y.values[i] == (draw.stream.word(i) < draw.threshold ? 0.0F : 6.0F));
  draw.first_block = 100;
  auto part = tensor<float, shape<20>>{};
  for (auto& v : part) v = 3;
  apply_dropout(draw, as_const(part), view<float, shape<20>>{part.data()});
  CHECK(std::memcmp(part.data(), y.data() + 400, 20 * sizeof(float)) == 0);
}
