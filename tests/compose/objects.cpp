// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <support/test.hpp>

#include <new>

using namespace tessera;

namespace {
using model = sequential<lstm<5, 24, lstm_options{.layers = 2}>, layer_norm<24>,
                         residual<attention_layer<24>>,
                         conv1d<24, 8, 3, conv1d_options{.padding = 1}>, linear<8, 2>>;
using streamed = sequential<lstm<5, 24>, layer_norm<24>, linear<24, 2>>;
using X = tensor<float, shape<10, 3, 5>>;
}  // namespace

TEST_CASE("objects: forward, backward and step allocate nothing") {
  auto const run = std::make_unique<inference<model, X>>();
  auto const pass = std::make_unique<differentiation<model, X>>();
  auto const stream = std::make_unique<streaming<streamed, sample_of<X>>>();
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto const q = std::make_unique<parameters_of<streamed, owned<float>>>();
  auto const x = std::make_unique<X>();
  *pass = {};
  stream->state = {};
  test::fill_parameters(*p, 1, 0.5);
  test::fill_parameters(*q, 1, 0.5);
  test::fill(*x, 2);
  auto const before = test::allocations();
  for (auto i = 0; i < 3; ++i) {
    (void)(*run)(*p, *x);
    (void)pass->forward(*p, *x);
    pass->dy = 1.0F;
    pass->backward(*p, *x);
    for (auto t = std::size_t{0}; t < 10; ++t) (void)stream->step(*q, as_const(*x)[t]);
  }
  CHECK(test::allocations() == before);
}
TEST_CASE("objects: an inference starts from zero state, and resumes where it ended") {
  auto const run = std::make_unique<inference<streamed, X>>();
  auto const p = std::make_unique<parameters_of<streamed, owned<float>>>();
  auto x = X{};
  test::fill_parameters(*p, 1, 0.5);
  test::fill(x, 2);
  test::poison(*run);
  auto const first_answer = evaluate((*run)(*p, x) * 1.0F);
  auto const resumed = evaluate(run->resume(*p, x) * 1.0F);
  CHECK_FALSE(test::same_bits(first_answer, resumed));
  CHECK(test::same_bits((*run)(*p, x), first_answer));

  using twice = tensor<float, shape<20, 3, 5>>;
  auto const whole_run = std::make_unique<inference<streamed, twice>>();
  auto xx = twice{};
  for (auto i = std::size_t{0}; i < x.size(); ++i)
    xx.values[i] = xx.values[i + x.size()] = x.values[i];
  auto const y = (*whole_run)(*p, xx);
  CHECK(std::memcmp(y.data(), first_answer.data(), first_answer.size() * sizeof(float)) == 0);
  CHECK(std::memcmp(y.data() + first_answer.size(), resumed.data(),
                    resumed.size() * sizeof(float)) == 0);
}
TEST_CASE("objects: a backward needs a forward before it, each time") {
  auto const pass = std::make_unique<differentiation<streamed, X>>();
  *pass = {};
  auto const p = std::make_unique<parameters_of<streamed, owned<float>>>();
  auto x = X{};
  CHECK_THROWS_WITH(pass->backward(*p, x), Catch::Contains("each needs a forward before it"));
  (void)pass->forward(*p, x);
  CHECK_NOTHROW(pass->backward(*p, x));
  CHECK_THROWS_AS(pass->backward(*p, x), std::invalid_argument);
}
TEST_CASE("objects: they live in memory of the caller's") {
  using object = inference<streamed, X>;
  alignas(object) static std::byte memory[sizeof(object)];
  auto& run = *new (memory) object;
  auto const p = std::make_unique<parameters_of<streamed, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto x = X{};
  test::fill(x, 2);
  auto const other = std::make_unique<object>();
  CHECK(test::same_bits(run(*p, x), (*other)(*p, x)));
}
TEST_CASE("objects: parameters are views of memory of any owner") {
  auto const run = std::make_unique<inference<streamed, X>>();
  auto const p = std::make_unique<parameters_of<streamed, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto flash = std::vector<float>{};
  for_each_parameter(
      [&](path_name const&, auto& w) { flash.insert(flash.end(), w.begin(), w.end()); }, *p);
  auto seen = parameters_of<streamed, viewed<float const>>{};
  auto at = std::size_t{0};
  for_each_parameter(
      [&](path_name const&, auto& w) {
        using V = std::remove_reference_t<decltype(w)>;
        std::construct_at(&w, V{flash.data() + at});
        at += w.size();
      },
      seen);
  CHECK(at == flash.size());
  auto x = X{};
  test::fill(x, 2);
  auto const want = evaluate((*run)(*p, x) * 1.0F);
  CHECK(test::same_bits((*run)(seen, x), want));
}
namespace {
/// True where an object refuses its own answer, and takes a copy of it.
template <class Model, class Input> [[nodiscard]] auto refuses_its_answer() -> bool {
  auto const run = std::make_unique<inference<Model, Input>>();
  auto const p = std::make_unique<parameters_of<Model, owned<float>>>();
  auto const x = std::make_unique<Input>();
  test::fill_parameters(*p, 1, 0.5);
  test::fill(*x, 2);
  auto const y = (*run)(*p, *x);
  CHECK_THROWS_WITH((*run)(*p, y), Catch::Contains("copy it first"));
  CHECK_THROWS_AS(run->resume(*p, y), std::invalid_argument);
  *x = y;
  auto const other = std::make_unique<inference<Model, Input>>();
  return test::same_bits((*run)(*p, *x), (*other)(*p, *x));
}
}  // namespace
TEST_CASE("objects: an answer that is fed back is refused, and its copy is not") {
  using rows = tensor<float, shape<5, 8>>;
  CHECK(refuses_its_answer<residual<linear<8, 8>>, rows>());
  CHECK(refuses_its_answer<linear<8, 8>, rows>());
  CHECK(refuses_its_answer<conv1d<8, 8, 3, conv1d_options{.padding = 1}>,
                           tensor<float, shape<6, 2, 8>>>());
}
TEST_CASE("objects: a stream refuses its own answer and its own state") {
  using looped = sequential<linear<8, 8>>;
  using one = tensor<float, shape<1, 8>>;
  auto stream = streaming<looped, one>{};
  auto p = parameters_of<looped, owned<float>>{};
  auto x = one{};
  test::fill_parameters(p, 1, 0.5);
  test::fill(x, 2);
  auto const y = stream.step(p, x);
  CHECK_THROWS_WITH(stream.step(p, y), Catch::Contains("copy it first"));
  auto other = streaming<looped, one>{};
  auto const z = other.step(p, y);  // another object's answer is as good as any input
  x = y;
  CHECK(test::same_bits(stream.step(p, x), z));
}
TEST_CASE("objects: what a call is given besides x is no memory of the object, nor is dx") {
  using conditioned = sequential<linear<4, 4>, condition_bias<4, 4>>;
  using rows = tensor<float, shape<3, 4>>;
  auto const p = std::make_unique<parameters_of<conditioned, owned<float>>>();
  auto x = rows{};
  auto c = rows{};
  test::fill_parameters(*p, 1, 0.5);
  test::fill(x, 2);
  test::fill(c, 3);
  auto run = inference<conditioned, rows, given_as<tag::condition, rows>>{};
  auto const y = run(*p, x, given(c));
  CHECK_THROWS_WITH(run(*p, x, given(y)), Catch::Contains("copy it first"));
  CHECK_NOTHROW(run(*p, x, given(c)));

  auto pass = differentiation<conditioned, rows, given_as<tag::condition, rows>>{};
  auto const z = pass.forward(*p, x, given(c));
  CHECK_THROWS_WITH(pass.forward(*p, z, given(c)), Catch::Contains("copy it first"));
  CHECK_THROWS_WITH(pass.forward(*p, x, given(z)), Catch::Contains("copy it first"));
  CHECK_THROWS_WITH(pass.backward(*p, x, view_of<rows>{pass.dy}, pass.gradient, given(c)),
                    Catch::Contains("dx is memory of the object"));
  CHECK_THROWS_WITH(
      (pass.forward(*p, x, given(c)), pass.backward(*p, x, given(c, view_of<rows>{pass.y}))),
      Catch::Contains("copy it first"));
  pass.forward(*p, x, given(c));
  CHECK_THROWS_WITH(pass.backward(*p, x, view_of<rows>{x}, pass.gradient, given(c)),
                    Catch::Contains("dx is memory of the input"));

  using some = tensor<float, shape<at_most(3), 4>>;
  auto bounded = inference<linear<4, 4>, some>{};
  auto const q = std::make_unique<parameters_of<linear<4, 4>, owned<float>>>();
  auto const none = view<float const, shape<at_most(3), 4>>{bounded.y.data() + 1, {{{0}}}};
  CHECK_NOTHROW(bounded(*q, none));
}
