// SPDX-License-Identifier: MIT
#include <support/golden.hpp>
#include <support/test.hpp>
#include <tessera/generate/sentence_model.hpp>
#include <tessera/layers/embedding.hpp>
#include <tessera/models/bert.hpp>

using namespace tessera;

TEST_CASE("sentence_model: a sentence has its bits whatever was asked before") {
  constexpr auto options =
      bert_options{.vocabulary = 16, .width = 16, .blocks = 2, .heads = 2, .context = 9};
  using model = bert<options>;
  using P = parameters_of<model, owned<float>>;
  auto p = std::make_unique<P>();
  test::fill_parameters(*p, 2, 0.4);
  auto made = compiled_sentences<model, 16, 9, P>(std::move(p));
  auto const of = [&](std::vector<std::uint32_t> const& tokens) {
    auto to = std::vector<float>(made.width());
    made.embed(tokens, to);
    return to;
  };
  auto const one = of({5});
  auto const all = of({1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(one != all);
  CHECK(of({5}) == one);
  CHECK(of({5, 5}) != one);
  CHECK(of({1, 2, 3, 4, 5, 6, 7, 8, 9}) == all);
}
TEST_CASE("sentence_model: the pooling of sentence-transformers") {
  auto const g = test::golden("sentence_pooling");
  using model = embedding<3, 4>;  // token t has row t of x
  using P = parameters_of<model, owned<float>>;
  for (auto const first : {false, true})
    for (auto const unit : {false, true}) {
      auto p = std::make_unique<P>();
      std::ranges::transform(g["x"], p->weight.data(),
                             [](double v) { return static_cast<float>(v); });
      auto const name = std::string{unit ? "" : "plain_"} + (first ? "cls" : "mean");
      INFO(name);
      auto made = compiled_sentences<model, 3, 5, P>(std::move(p), {first, unit});
      auto y = std::vector<float>(made.width());
      made.embed(std::vector<std::uint32_t>{0, 1, 2}, y);
      auto const& want = g[name + ".y"];
      REQUIRE(want.size() == y.size());
      for (auto i = std::size_t{0}; i < y.size(); ++i) CHECK(y[i] == Approx(want[i]).margin(1e-6));
    }
}
