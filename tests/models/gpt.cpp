// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <support/test.hpp>
#include <tessera/models/gpt.hpp>

#include <fstream>
#include <iterator>

using namespace tessera;

using small = gpt<gpt_options{
    .vocabulary = 11, .width = 8, .blocks = 2, .heads = 4, .kv_heads = 2, .context = 20}>;
constexpr auto characters = gpt_options{.vocabulary = 128};

// -- contract -------------------------------------------------------------------------------------
static_assert(layer_for<small, tensor<float, shape<9, 2>>>);
static_assert(std::same_as<output_shape<small, shape<at_most(9), 2>>, shape<at_most(9), 2, 11>>);
static_assert(streams<small> && stateful<small>);
static_assert(parameter_count<gpt<characters>> ==
              128 * 128 + 4 * (4 * (128 * 128 + 128) + 2 * 128 * 512 + 512 + 128 + 4 * 128) +
                  2 * 128 + 128 * 128 + 128);

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("gpt: gradient check of a block") {
  using block =
      gpt_block<gpt_options{.width = 6, .heads = 3, .kv_heads = 1, .hidden = 7, .context = 9}>;
  test::passes_gradient_check<block, tensor<double, shape<at_most(7), 2, 6>>>(1, 0.6, 5);
}
TEST_CASE("gpt: a stream has the bits of the sequence") {
  using X = tensor<float, shape<20, 3>>;
  auto const p = std::make_unique<parameters_of<small, owned<float>>>();
  auto generator = torch_generator(1);
  small::initialize(*p, generator);
  auto x = X{};
  for (auto& token : x) token = static_cast<float>(generator.randint(11));
  auto const sequence = std::make_unique<inference<small, X>>();
  auto const stream = std::make_unique<streaming<small, tensor<float, shape<3>>>>();
  stream->state = {};
  auto const y = (*sequence)(*p, x);
  for (auto t = std::size_t{0}; t < 20; ++t)
    CHECK(test::same_bits(stream->step(*p, as_const(x)[t]), y[t]));
}
TEST_CASE("gpt: recompute gives the same bits with a small tape") {
  using X = tensor<float, shape<64, 2>>;
  using plain = gpt<gpt_options{.vocabulary = 20, .width = 16, .blocks = 6, .heads = 2}>;
  using again =
      gpt<gpt_options{.vocabulary = 20, .width = 16, .blocks = 6, .heads = 2, .recompute = true}>;
  static_assert(2 * memory_of<again, X, call_mode::training>.kept <
                memory_of<plain, X, call_mode::training>.kept);
  auto const run = []<class Model>(std::type_identity<Model>) {
    auto const p = std::make_unique<parameters_of<Model, owned<float>>>();
    auto const pass = std::make_unique<differentiation<Model, X>>();
    auto generator = torch_generator(1);
    Model::initialize(*p, generator);
    auto x = X{};
    for (auto& token : x) token = static_cast<float>(generator.randint(20));
    *pass = {};
    pass->forward(*p, x);
    test::fill(pass->dy, 3);
    pass->backward(*p, x);
    auto numbers = std::vector<float>{};
    for_each_parameter(
        [&](path_name const&, auto& w) { numbers.insert(numbers.end(), w.begin(), w.end()); },
        pass->gradient);
    return numbers;
  };
  CHECK(run(std::type_identity<plain>{}) == run(std::type_identity<again>{}));
}

// -- reference: tests/reference/gpt.py ------------------------------------------------------------
TEST_CASE("gpt: agrees with torch") {
  test::agrees_with_torch<small, tensor<float, shape<9, 2>>>(test::golden("gpt"));
}
TEST_CASE("gpt: 200 steps of training follow torch's loss within 1e-3") {
  using X = tensor<float, shape<128, 8>>;
  using Y = tensor<std::int32_t, shape<128, 8>>;
  auto const g = test::golden("gpt");
  auto file = std::ifstream{std::string{TESSERA_TEST_DATA} + "/../../LICENSE", std::ios::binary};
  auto const text = std::string{std::istreambuf_iterator<char>{file}, {}};
  REQUIRE(text.size() > 1000);
  auto const model = std::make_unique<training<gpt<characters>, X, adamw>>();
  auto generator = torch_generator(7);
  gpt<characters>::initialize(model->parameters, generator);
  auto const x = std::make_unique<X>();
  auto const y = std::make_unique<Y>();
  auto optimizer = adamw{};
  auto worst = 0.0;
  for (auto step = std::size_t{0}; step < 200; ++step) {
    for (auto b = std::size_t{0}; b < 8; ++b)
      for (auto t = std::size_t{0}; t < 128; ++t) {
        auto const at = (step * 8 + b) * 37 % (text.size() - 129) + t;
        x->values[t * 8 + b] = static_cast<float>(text[at]);
        y->values[t * 8 + b] = text[at + 1];
      }
    auto const before = test::allocations();
    auto const loss = model->step(*x, *y, cross_entropy{}, optimizer);
    CHECK(test::allocations() == before);
    worst = test::larger(worst, std::abs(static_cast<double>(loss) / g["losses"][step] - 1));
  }
  INFO("worst relative difference of the losses " << worst);
  CHECK(worst < 1e-3);
}
