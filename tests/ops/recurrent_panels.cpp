// SPDX-License-Identifier: MIT
#include <support/any_cell.hpp>
#include <support/test.hpp>

using namespace tessera;

namespace {

template <class Cell, class T, std::size_t In, std::size_t Hidden, class Storage>
using cell_parameters = parameters_of<recurrent_layer<Cell, In, Hidden, gru_options{}>, Storage>;

template <class T> void same_numbers(T const* found, std::vector<T> const& want) {
  CHECK(std::memcmp(found, want.data(), want.size() * sizeof(T)) == 0);
}

/// Steps with the weights by panels, h where it stands, have the bits of one number after another.
template <class Cell, class T, std::size_t In, std::size_t Hidden, std::size_t Rows = 1>
void advances_alike() {
  using fast = kernel_for<operation::recurrent_step<Cell>, simd>;
  using units = tensor<T, shape<Rows, Hidden>, simd>;
  INFO(In << " to " << Hidden << ", " << Rows << " rows");
  auto const p = std::make_unique<cell_parameters<Cell, T, In, Hidden, owned<T, simd>>>();
  auto const q = std::make_unique<cell_parameters<Cell, T, In, Hidden, packed<T, T, simd>>>();
  test::fill_parameters(*p, 1, 0.6);
  test::poison(*q);
  pack_parameters(*p, *q);
  auto const of = [](auto& object) {
    return view_of<std::remove_cvref_t<decltype(object)>>(object);
  };
  auto x = tensor<T, shape<Rows, In>, simd>{};
  units h{};
  units c{};
  units y{};
  test::fill(h, 2);
  test::fill(c, 3);
  auto const c_untouched = c;
  auto want = test::any_cell<Cell, T>{Rows, In, Hidden};
  want.copy_parameters(*p);
  std::copy(h.data(), h.data() + h.size(), want.h.begin());
  std::copy(c.data(), c.data() + c.size(), want.beside.begin());
  auto const next = [&](auto& beside) {
    return Cell::carries ? of(beside) : view<T, shape<Rows, Hidden>, simd>{};
  };
  auto const before = [&] { return as_const(of(Cell::carries ? c : h)); };
  auto none = nothing{};
  for (auto t = 0U; t < 4; ++t) {
    test::fill(x, t + 10);
    fast::advance(*q, as_const(of(x)), of(h), before(), next(c), of(y), none);
    want.step(x.data());
    same_numbers(y.data(), want.h);
    same_numbers(h.data(), want.h);
    if (Cell::carries)
      same_numbers(c.data(), want.beside);
    else
      CHECK(test::same_bits(c, c_untouched));
  }
  // Kept gates, and what is beside them, too.
  auto gates = tensor<T, shape<Rows, Cell::gates * Hidden>, simd>{};
  units beside{};
  fast::run(*q, as_const(of(x)), as_const(of(h)), before(), of(gates), of(beside), of(y), none);
  want.step(x.data());
  same_numbers(gates.data(), want.gates);
  same_numbers(beside.data(), want.beside);
  same_numbers(y.data(), want.h);
}

/// A stream of a model, with packed weights, and a call for the sequence: the reference's bits.
template <class Model, std::size_t In> void streams_alike() {
  auto const steps = []<class Backend, class Storage>(std::type_identity<Storage>, Backend) {
    using X = tensor<float, shape<2, In>, Backend>;
    using sequence = tensor<float, shape<5, 2, In>, Backend>;
    auto const p = std::make_unique<parameters_of<Model, owned<float, Backend>>>();
    auto const q = std::make_unique<parameters_of<Model, Storage>>();
    test::fill_parameters(*p, 1, 0.5);
    pack_parameters(*p, *q);
    auto const stream = std::make_unique<streaming<Model, X>>();
    auto const whole = std::make_unique<inference<Model, sequence>>();
    test::poison(*stream);
    test::poison(*whole);
    stream->state = {};
    auto const x = std::make_unique<sequence>();
    test::fill(*x, 7);
    auto of_steps = std::vector<float>{};
    for (auto t = std::size_t{0}; t < 5; ++t) {
      auto const y = stream->step(*q, as_const(*x)[t]);
      of_steps.insert(of_steps.end(), y.data(), y.data() + y.size());
    }
    auto const y = (*whole)(*q, *x);
    CHECK(std::vector<float>(y.data(), y.data() + y.size()) == of_steps);
    return of_steps;
  };
  auto const want = steps(std::type_identity<owned<float, reference>>{}, reference{});
  CHECK(steps(std::type_identity<packed<float, float, simd>>{}, simd{}) == want);
  CHECK(steps(std::type_identity<owned<float, simd>>{}, simd{}) == want);
}

}  // namespace

TEST_CASE("recurrent_panels: an LSTM of any size has the bits of one number after another") {
  []<std::size_t... H>(std::index_sequence<H...>) {
    (advances_alike<lstm_cell, float, 1, H + 1>(), ...);
  }(std::make_index_sequence<lane::pack<float>::width + 1>{});  // every tail of a register, and one
  advances_alike<lstm_cell, float, 1, 12>();
  advances_alike<lstm_cell, float, 1, 24>();
  advances_alike<lstm_cell, float, 1, 31>();
  advances_alike<lstm_cell, float, 1, 33>();
  advances_alike<lstm_cell, float, 3, 64>();
  advances_alike<lstm_cell, float, 1, 96>();
  advances_alike<lstm_cell, float, 2, 150, 3>();
  advances_alike<lstm_cell, float, 5, 24, 4>();
  advances_alike<lstm_cell, double, 1, 4>();
  advances_alike<lstm_cell, double, 2, 7>();
  advances_alike<lstm_cell, double, 3, 12, 2>();
  advances_alike<lstm_cell, double, 1, 45>();
}
TEST_CASE("recurrent_panels: a GRU of any size has the bits of one number after another") {
  []<std::size_t... H>(std::index_sequence<H...>) {
    (advances_alike<gru_cell, float, 2, 9 * H + 1>(), ...);
  }(std::make_index_sequence<5>{});
  advances_alike<gru_cell, float, 1, 8>();
  advances_alike<gru_cell, float, 1, 32>();
  advances_alike<gru_cell, float, 3, 100, 2>();
  advances_alike<gru_cell, double, 2, 19>();
}
TEST_CASE("recurrent_panels: stacks and projections stream as the reference") {
  streams_alike<sequential<lstm<3, 21, lstm_options{.layers = 2}>, linear<21, 1>>, 3>();
  streams_alike<sequential<lstm<2, 37, lstm_options{.bias = false, .projection = 9}>, linear<9, 5>>,
                2>();
  streams_alike<gru<4, 70, gru_options{.bias = false}>, 4>();
}
TEST_CASE("recurrent_panels: slopes go back through packed weights") {
  using model = gru<3, 20, gru_options{.layers = 2}>;
  using X = tensor<float, shape<4, 2, 3>>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto const q = std::make_unique<parameters_of<model, packed<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  pack_parameters(*p, *q);
  auto x = X{};
  test::fill(x, 2);
  auto const run = [&](auto const& weights) {
    auto const pass = std::make_unique<differentiation<model, X>>();
    auto dx = X{};
    pass->state = {};
    pass->gradient = {};
    pass->forward(weights, x);
    test::fill(pass->dy, 3, 1);
    pass->backward(weights, x, view_of<X>(dx), pass->gradient, plain_context{});
    auto found = std::vector<float>(dx.data(), dx.data() + dx.size());
    for_each_parameter(
        [&](auto const&, auto const& w) {
          found.insert(found.end(), w.data(), w.data() + w.size());
        },
        pass->gradient);
    return found;
  };
  CHECK(run(*p) == run(*q));
}
