// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/generate/sentence_model.hpp>
#include <tessera/models/bert.hpp>

using namespace tessera;

TEST_CASE("sentence_model: a sentence has its bits whatever was asked before") {
  constexpr auto options =
      bert_options{.vocabulary = 16, .width = 16, .blocks = 2, .heads = 2, .context = 9};
  using model = sentence_bert<options>;
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
