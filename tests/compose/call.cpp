// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include <set>

using namespace tessera;

TEST_CASE("call: every place of a model has a stream of its own") {
  auto paths = std::set<std::uint32_t>{};
  auto const root = random_context{.seed = 3, .step = 4, .chunk = 5, .dropout = 0.5F};
  auto places = std::size_t{0};
  for (auto i = std::size_t{0}; i < 40; ++i) {
    paths.insert(root.stream_inside(i).path);
    ++places;
    for (auto j = std::size_t{0}; j < 40; ++j) {
      paths.insert(root.stream_inside(i).stream_inside(j).path);
      ++places;
    }
  }
  CHECK(paths.size() == places);
  CHECK(root.stream_inside(2).seed == 3);
  CHECK(root.stream_inside(2).step == 4);
  CHECK(root.stream_inside(2).chunk == 5);
  CHECK(root.stream_inside(2).dropout == 0.5F);
}
TEST_CASE("call: two dropout layers of a model do not drop the same, a step not as the next") {
  using model = sequential<dropout<0.5>, dropout<0.5>>;
  using X = tensor<float, shape<1, 1000>>;
  auto const pass = std::make_unique<differentiation<model, X>>();
  *pass = {};
  auto x = X{};
  x = 1.0F;
  auto const p = parameters_of<model, owned<float>>{};
  auto const kept = [&](std::uint64_t step) {
    auto const y = pass->forward(p, x, random_context{.seed = 1, .step = step});
    auto which = std::vector<bool>{};
    for (auto const v : y) which.push_back(v != 0);
    return which;
  };
  auto const first_step = kept(0);
  auto const n = std::count(first_step.begin(), first_step.end(), true);
  CHECK(n > 200);  // a quarter: alike they would keep a half
  CHECK(n < 300);
  CHECK(kept(1) != first_step);
  CHECK(kept(0) == first_step);
}
TEST_CASE("call: an input goes along inside, with the stream that it was given to") {
  using C = tensor<float, shape<at_most(3), 2>>;
  auto c = C{};
  auto slope = C{};
  auto const outer = random_context{.seed = 7, .step = 3};
  auto const context = given(c.sized(2), slope.sized(2), outer);
  using given_context = std::remove_const_t<decltype(context)>;
  static_assert(std::same_as<given_context::type_of_input<tag::condition>, C>);
  static_assert(given_context::covers<call_for<call_mode::training, given_as<tag::condition, C>>>);
  static_assert(not given_context::covers<call_for<call_mode::training, given_as<tag::memory, C>>>);
  auto const inner = context.inside(4).inside(1);
  CHECK(inner.value<tag::condition>().data() == c.data());
  CHECK(inner.value<tag::condition>().size() == 4);
  CHECK(inner.slope<tag::condition>().data() == slope.data());
  CHECK(inner.seed == 7);
  CHECK(inner.path == outer.stream_inside(4).stream_inside(1).path);
  CHECK_FALSE(given(c.sized(2)).slope<tag::condition>().has_memory());
}
TEST_CASE("call: inputs are told apart by their tags, and one takes the place of another") {
  auto memory = tensor<float, shape<2, 5>>{};
  auto lengths = tensor<std::int32_t, shape<2>>{};
  auto other = tensor<float, shape<3>>{};
  auto const context = given<tag::lengths>(lengths, given<tag::memory>(memory));
  CHECK(context.value<tag::memory>().data() == memory.data());
  CHECK(context.value<tag::lengths>().data() == lengths.data());
  using both = call_for<call_mode::training, given_as<tag::memory, tensor<float, shape<2, 5>>>,
                        given_as<tag::lengths, tensor<std::int32_t, shape<2>>>>;
  static_assert(gives<both, tag::memory> && gives<both, tag::lengths>);
  static_assert(not gives<both, tag::condition> &&
                not gives<call_without<both, tag::memory>, tag::memory>);
  using mapped = call_with<both, tag::memory, tensor<float, shape<3>>>;
  static_assert(std::same_as<given_type<mapped, tag::memory>, tensor<float, shape<3>>>);
  auto const again =
      context.as<mapped>(detail::entry<tag::memory, tensor<float, shape<3>>>{as_const(other), {}});
  CHECK(again.value<tag::memory>().data() == other.data());
  CHECK(again.value<tag::lengths>().data() == lengths.data());
}
