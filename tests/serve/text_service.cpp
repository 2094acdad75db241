// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/text_service.hpp>

using namespace tessera;

namespace {

class only_texts final : public text_service {
 public:
  auto generate(text_request request, piece_function piece, done_function done)
      -> generation_ticket override {
    piece({request.prompt});
    done({});
    return generation_ticket{admission::accepted};
  }
};

}  // namespace

TEST_CASE("text_service: one that generates says that it has no embeddings") {
  auto service = only_texts{};
  CHECK(service.generates());
  CHECK(not service.embeds());
  auto text = std::string{};
  auto ends = 0;
  CHECK(service.generate(
      {.prompt = "hi"}, [&](auto const& piece) { text += piece.text; },
      [&](auto const&) { ++ends; }));
  CHECK(text == "hi");
  CHECK(ends == 1);
  auto got = embedding_result{};
  CHECK(service.embed({.texts = {"a"}}, [&](embedding_result result) {
    got = std::move(result);
  }) == admission::accepted);
  CHECK(got.vectors.empty());
  CHECK(got.error == "this model has no embeddings");
}
