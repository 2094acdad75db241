// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/optimize/search_space.hpp>

using namespace tessera;

namespace {

auto space() -> search_space {
  return search_space{}
      .uniform("dropout", 0, 0.6)
      .log_uniform("rate", 1e-5, 0.1)
      .integer("layers", 1, 3)
      .choice("model", {"lstm", "gru"});
}

}  // namespace

TEST_CASE("search_space: as text, a line for each parameter") {
  CHECK(space().text() ==
        "parameter.dropout: uniform(0, 0.6)\n"
        "parameter.rate: log_uniform(1e-05, 0.1)\n"
        "parameter.layers: integer(1, 3)\n"
        "parameter.model: choice(lstm, gru)\n");
}
TEST_CASE("search_space: coordinates and values, there and back") {
  auto const point = space().point({0.25, std::log(1e-3), 2.4, 1});
  CHECK(number_of(point, "dropout") == 0.25);
  CHECK(number_of(point, "rate") == Approx(1e-3));
  CHECK(whole_of(point, "layers") == 2);
  CHECK(choice_of(point, "model") == "gru");
  CHECK(space().point(space().coordinates(point)) == point);
}
TEST_CASE("search_space: coordinates outside are brought in") {
  auto const low = space().point({-1, -100, 0.5, 0});
  CHECK(low == search_point{{"dropout", 0.0},
                            {"rate", 1e-5},
                            {"layers", std::int64_t{1}},
                            {"model", std::string{"lstm"}}});
  auto const high = space().point({1, 100, 3.5, 1});
  CHECK(high == search_point{{"dropout", 0.6},
                             {"rate", 0.1},
                             {"layers", std::int64_t{3}},
                             {"model", std::string{"gru"}}});
  CHECK(space().point({0, 0, 2.5, 0}).at("layers") == search_value{std::int64_t{3}});
  CHECK(space().point({0, 0, 1.49, 0}).at("layers") == search_value{std::int64_t{1}});
}
TEST_CASE("search_space: a point of another space") {
  auto const good = space().point({0.25, -3, 2, 1});
  auto const with = [&](char const* name, search_value const& value) {
    auto point = good;
    point[name] = value;
    return point;
  };
  CHECK_THROWS_WITH(space().coordinates(with("dropout", 0.7)),
                    "dropout: expected a value of uniform(0, 0.6), got 0.7");
  CHECK_THROWS_WITH(space().coordinates(with("layers", 2.0)),
                    "layers: expected a value of integer(1, 3), got 2");
  CHECK_THROWS_WITH(space().coordinates(with("model", std::string{"tcn"})),
                    "model: expected a value of choice(lstm, gru), got tcn");
  CHECK_THROWS_WITH(space().coordinates(with("rate", std::nan(""))), Catch::Contains("got nan"));
  CHECK_THROWS_WITH(space().coordinates(with("more", 1.0)), "expected 4 parameters, got 5");
  CHECK_THROWS_WITH(space().coordinates({}), "dropout: expected a value, got none");
  CHECK_THROWS_WITH(number_of(good, "none"), "the search has no parameter none");
  CHECK_THROWS_WITH(number_of(good, "model"), "model: expected a number, got gru");
}
TEST_CASE("search_space: what cannot be searched") {
  CHECK_THROWS_WITH(search_space{}.uniform("x", 1, 1),
                    "x: expected low below high, got uniform(1, 1)");
  CHECK_THROWS_AS(search_space{}.uniform("x", 0, INFINITY), search_error);
  CHECK_THROWS_AS(search_space{}.uniform("x", NAN, 1), search_error);
  CHECK_THROWS_WITH(search_space{}.log_uniform("x", 0, 1), "x: expected low > 0, got 0");
  CHECK_THROWS_AS(search_space{}.integer("x", 3, 2), search_error);
  CHECK_NOTHROW(search_space{}.integer("x", 3, 3));
  CHECK_THROWS_WITH(search_space{}.uniform("x", 0, 1).integer("x", 0, 1),
                    "the parameter x comes twice");
  CHECK_THROWS_AS(search_space{}.uniform("two words", 0, 1), search_error);
  CHECK_THROWS_WITH(search_space{}.choice("x", {}), "x: expected a choice, got none");
  CHECK_THROWS_WITH(search_space{}.choice("x", {"a", "a"}), "x: the choice a comes twice");
  CHECK_THROWS_AS(search_space{}.choice("x", {"a,b"}), search_error);
}
