// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

namespace {

template <class Layer, class X, class Backend> struct object_in {
  using input = tensor<scalar_of<X>, shape_of<X>, Backend>;
  template <class T> static auto made() {
    if constexpr (on_device<Backend>)
      return device::make<T>();
    else
      return std::make_unique<T>();
  }
  using parameters = parameters_of<Layer, owned<scalar_of<X>, Backend>>;
  decltype(made<input>()) x = made<input>();
  decltype(made<input>()) dx = made<input>();
  decltype(made<parameters>()) p = made<parameters>();
  decltype(made<differentiation<Layer, input>>()) pass = made<differentiation<Layer, input>>();
  decltype(made<inference<Layer, input>>()) run = made<inference<Layer, input>>();

  object_in() {
    test::fill_parameters(*p, 1, 0.5);
    test::fill(*x, 2);
  }
};

/// Six rows of room, of which five count; two windows, the second from where the first ended.
template <class Layer, class T, std::size_t In, extent Time = 7> void as_by_steps() {
  using X = tensor<T, shape<Time, at_most(6), In>>;
  auto host = object_in<Layer, X, reference>();
  auto fake = object_in<Layer, X, cuda>();
  auto const same = [](auto const& a, auto const& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
  };
  auto const x = as_const(host.x->sized(5));
  auto const on_fake = as_const(fake.x->sized(5));
  CHECK(same((*host.run)(*host.p, x), (*fake.run)(*fake.p, on_fake)));
  CHECK(same(host.run->resume(*host.p, x), fake.run->resume(*fake.p, on_fake)));
  CHECK(std::memcmp(&host.run->state, &fake.run->state, sizeof host.run->state) == 0);
  for (auto window = 0; window < 2; ++window) {
    auto const y = host.pass->forward(*host.p, x);
    CHECK(same(y, fake.pass->forward(*fake.p, on_fake)));
    test::fill(host.pass->dy, 3);
    test::fill(fake.pass->dy, 3);
    host.pass->backward(*host.p, x, host.dx->sized(5), host.pass->gradient, plain_context{});
    fake.pass->backward(*fake.p, on_fake, fake.dx->sized(5), fake.pass->gradient, plain_context{});
    auto worst = 0.0;
    auto const compare = [&](auto const& a, auto const& b) {
      for (auto i = std::size_t{0}; i < a.size(); ++i) {
        auto const d = std::abs(double(a.data()[i] - b.data()[i]));
        worst = std::isnan(d) ? INFINITY
                              : std::max(worst, d / std::max(1.0, std::abs(double(b.data()[i]))));
      }
    };
    compare(host.dx->sized(5), fake.dx->sized(5));
    for_each_parameter([&](path_name const&, auto const& a, auto const& b) { compare(a, b); },
                       host.pass->gradient, fake.pass->gradient);
    CHECK(worst < (sizeof(T) == 4 ? 2e-5 : 1e-13));
  }
}

/// What a pass over so many steps launches.
template <class Layer, extent Time> auto kernels_of() -> std::size_t {
  auto object = object_in<Layer, tensor<float, shape<Time, 3, 5>>, cuda>();
  auto graph = device::graph([&] {
    (void)object.pass->forward(*object.p, as_const(*object.x));
    object.pass->backward(*object.p, as_const(*object.x));
  });
  graph();
  return graph.kernels();
}

}  // namespace

TEST_CASE("recurrent_sequence: all steps in one launch have the bits of single ones") {
  as_by_steps<lstm<5, 16>, float, 5>();
  as_by_steps<lstm<5, 16>, float, 5, 1>();
  as_by_steps<lstm<5, 12, lstm_options{.bidirectional = true}>, float, 5>();
  as_by_steps<lstm<5, 80>, float, 5>();  // more weights of a thread than it holds
  as_by_steps<lstm<70, 40>, double, 70>();
  as_by_steps<lstm<3, 200, lstm_options{.bias = false}>, float, 3>();
  as_by_steps<lstm<500, 9>, float, 500>();  // more inputs than threads
  as_by_steps<gru<5, 24>, float, 5>();
  as_by_steps<gru<5, 90, gru_options{.bidirectional = true}>, float, 5>();
  as_by_steps<gru<4, 40, gru_options{.layers = 2, .bias = false}>, double, 4>();
}

TEST_CASE("recurrent_sequence: a layer launches as much for many steps as for few") {
  CHECK(kernels_of<lstm<5, 16>, 2>() == kernels_of<lstm<5, 16>, 7>());
  CHECK(kernels_of<gru<5, 16>, 2>() == kernels_of<gru<5, 16>, 7>());
  CHECK(kernels_of<lstm<5, 260>, 2>() < kernels_of<lstm<5, 260>, 7>());
}
TEST_CASE("recurrent_sequence: what a block has no room for goes step by step") {
  using kernel = kernel_for<operation::recurrent_sequence<lstm_cell>, cuda>;
  static_assert(kernel::fits<float, 5, 256>);
  static_assert(not kernel::fits<float, 5, 257>);
  static_assert(not kernel::fits<float, 10'000, 64>);
  as_by_steps<lstm<3, 260>, float, 3>();
  as_by_steps<lstm<3, 16, lstm_options{.projection = 8}>, float, 3>();
}
