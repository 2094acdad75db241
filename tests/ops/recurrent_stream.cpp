// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

namespace {

/// One row of the cell, weights by rows and by columns: the reference's bits. With three inputs in
/// fewer bits, too.
template <class T, std::size_t In, std::size_t Hidden, lstm_options Options = lstm_options{},
          class Cell = lstm_cell>
void check(std::size_t lanes) {
  using layer = recurrent_layer<Cell, In, Hidden, Options>;
  auto const run = [&]<class Backend, class Storage>() {
    using X = tensor<T, shape<at_most(4), In>, Backend>;
    auto const p = std::make_unique<parameters_of<layer, owned<T, Backend>>>();
    auto const q = std::make_unique<parameters_of<layer, Storage>>();
    test::fill_parameters(*p, 1, 0.6);
    pack_parameters(*p, *q);
    auto const stream = std::make_unique<streaming<layer, X>>();
    stream->state = {};
    auto x = X{};
    auto all_of_it = std::vector<T>{};
    for (auto t = 0U; t < 4; ++t) {
      test::fill(x, t);
      auto const y = stream->step(*q, as_const(x.sized(lanes)));
      all_of_it.insert(all_of_it.end(), y.data(), y.data() + y.size());
    }
    return all_of_it;
  };
  auto const want = run.template operator()<reference, owned<T, reference>>();
  CHECK(run.template operator()<simd, owned<T, simd>>() == want);
  CHECK(run.template operator()<simd, packed<T, T, simd>>() == want);
  if constexpr (In == 3) {
    auto const stored = [&]<class Stored>(Stored) {
      auto const narrow = run.template operator()<reference, compact<T, Stored, reference>>();
      CHECK(run.template operator()<reference, packed<T, Stored, reference>>() == narrow);
      CHECK(run.template operator()<simd, packed<T, Stored, simd>>() == narrow);
      CHECK(run.template operator()<simd, compact<T, Stored, simd>>() == narrow);
    };
    stored(bf16{});
    stored(std::int8_t{});
  }
}

}  // namespace

TEST_CASE("recurrent_stream: a step has the reference's bits, by rows and by columns") {
  check<float, 5, 64>(1);
  check<float, 1, 1>(1);
  check<float, 3, 7>(2);
  check<float, 4, 17>(3);
  check<float, 9, 33>(1);
  check<float, 2, 47, lstm_options{.bias = false}>(4);
  check<double, 3, 8>(1);
  check<double, 5, 13>(2);
  check<double, 2, 37, lstm_options{.projection = 5}>(1);
  check<float, 5, 64, lstm_options{}, gru_cell>(1);
  check<float, 3, 7, lstm_options{.bias = false}, gru_cell>(2);
  check<double, 2, 37, lstm_options{}, gru_cell>(3);
}
