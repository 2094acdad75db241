// SPDX-License-Identifier: MIT
#include <support/backwards.hpp>
#include <support/test.hpp>

using namespace tessera;

namespace {

template <class Tensor> auto all_of(Tensor& t) { return view_of<Tensor>{t.data(), {}}; }

/// What `compute` makes of a target, alone and by teams: the same bits, and really shared.
template <class Target> void same_bits(Target const& start, auto const& compute) {
  auto const want = std::make_unique<Target>(start);
  auto const got = std::make_unique<Target>(start);
  compute(*want);
  for (auto const threads : {1U, 2U, 3U, 5U}) {
    *got = start;
    auto team = test::backwards(threads);
    compute(*got);
    CHECK(team.tasks >= (threads == 1 ? 1 : 2));
    CHECK(std::memcmp(got.get(), want.get(), sizeof(Target)) == 0);
  }
}

template <class T, std::size_t Rows, std::size_t Depth, std::size_t Columns> void products() {
  INFO(Rows << " x " << Depth << " x " << Columns);
  auto const a = std::make_unique<tensor<T, shape<Rows, Depth>>>();
  auto const b = std::make_unique<tensor<T, shape<Depth, Columns>>>();
  auto const c = std::make_unique<tensor<T, shape<Rows, Columns>>>();
  test::fill(*a, 1);
  test::fill(*b, 2);
  test::fill(*c, 3);
  for (auto const a_turned : {false, true})
    for (auto const b_turned : {false, true})
      for (auto const adds : {false, true})
        same_bits(*c, [&](auto& to) {
          detail::multiply<simd>(detail::matrix_product<T>{
              .rows = Rows,
              .columns = Columns,
              .depth = Depth,
              .a = {a->data(), a_turned ? 1 : Depth, a_turned ? Rows : 1},
              .b = {b->data(), b_turned ? 1 : Columns, b_turned ? Depth : 1},
              .c = to.data(),
              .c_row = Columns,
              .adds = adds});
        });
}

template <class T, std::size_t Rows, std::size_t In, std::size_t Out> void affine_maps() {
  INFO(Rows << " rows, " << In << " to " << Out);
  auto const x = std::make_unique<tensor<T, shape<Rows, In>>>();
  auto const w = std::make_unique<tensor<T, shape<Out, In>>>();
  auto bias = tensor<T, shape<Out>>{};
  test::fill(*x, 1);
  test::fill(*w, 2);
  test::fill(bias, 3);
  auto const y = std::make_unique<tensor<T, shape<Rows, Out>>>();
  using kernel = kernel_for<detail::affine_map_fn, simd>;
  auto const packed = std::make_unique<typename kernel::template packed<T, Rows, In, Out>>();
  kernel::prepare(*w, *packed);
  auto none = nothing{};
  auto const at = as_const(*x);
  same_bits(*y, [&](auto& to) { kernel::run(at, *w, bias.data(), all_of(to), *packed); });
  same_bits(*y, [&](auto& to) { kernel::run(at, *w, bias.data(), all_of(to), none); });
  auto const stored = std::make_unique<packed_matrix<T, shape<Out, In>, simd, std::int8_t>>();
  stored->pack(weights_of<T>(*w));
  same_bits(*y, [&](auto& to) { kernel::run(at, *stored, bias.data(), all_of(to), none); });

  test::fill(*y, 4);
  auto const dy = as_const(*y);
  same_bits(*x, [&](auto& to) { affine_map_input(*w, dy, all_of(to)); });
  same_bits(*x, [&](auto& to) { affine_map_input(*w, dy, all_of(to), true); });
  struct slopes {
    tensor<T, shape<Out, In>> weight;
    tensor<T, shape<Out>> bias;
  };
  auto const start = std::make_unique<slopes>(slopes{*w, bias});
  same_bits(*start,
            [&](auto& to) { affine_map_parameters(at, dy, to.weight.data(), to.bias.data()); });
  struct slopes_of_two {
    slopes first;
    tensor<T, shape<Out, 3>> weight;
    tensor<T, shape<Out>> bias;
  };
  auto const other = std::make_unique<tensor<T, shape<Rows, 3>>>();
  test::fill(*other, 5);
  auto const both = std::make_unique<slopes_of_two>();
  *both = {};
  both->first = *start;
  same_bits(*both, [&](auto& to) {
    affine_map_parameters(at, as_const(*other), dy, to.first.weight.data(), to.first.bias.data(),
                          to.weight.data(), to.bias.data());
  });
}

}  // namespace

TEMPLATE_TEST_CASE("shared_product: products by several threads have the bits of one", "", float,
                   double) {
  products<TestType, 130, 70, 67>();
  products<TestType, 7, 301, 517>();
  products<TestType, 1, 700, 801>();
  products<TestType, 501, 260, 5>();
}
TEMPLATE_TEST_CASE("shared_product: affine maps by several threads have the bits of one", "", float,
                   double) {
  affine_maps<TestType, 65, 70, 131>();   // packed
  affine_maps<TestType, 1, 600, 1030>();  // too large for it: a row
  affine_maps<TestType, 5, 530, 600>();   // and by blocks
  affine_maps<TestType, 300, 20, 601>();  // whose slopes have two blocks of rows
}
TEST_CASE("shared_product: convolutions by several threads have the bits of one") {
  using layer = conv2d<13, 19, 3, conv2d_options{.padding = 1}>;
  using image = tensor<float, shape<2, 45, 50, 13>>;
  auto const pass = std::make_unique<differentiation<layer, image>>();
  auto g = torch_generator(1);
  auto const p = std::make_unique<parameters_of<layer, owned<float>>>();
  layer::initialize(*p, g);
  auto const x = std::make_unique<image>();
  test::fill(*x, 1);
  struct outcome {
    tensor<float, shape<2, 45, 50, 19>> y;
    parameters_of<layer, owned<float>> gradient;
  };
  auto const start = std::make_unique<outcome>();
  *start = {};
  same_bits(*start, [&](outcome& to) {
    *pass = {};
    to.y = pass->forward(*p, *x);
    pass->dy = to.y;
    pass->backward(*p, *x);
    to.gradient = pass->gradient;
  });
}
TEST_CASE("shared_product: a small product is nobody else's work") {
  auto a = tensor<float, shape<64, 64>>{};
  test::fill(a, 1);
  auto team = test::backwards(2);
  auto const c = evaluate(matmul(a, a));
  CHECK(team.tasks == 0);
  CHECK(c.size() == a.size());
}
