// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/optim/moments.hpp>

using namespace tessera;

namespace {
using P = parameters_of<sequential<linear<2, 3>, linear<3, 1>>, owned<float>>;

template <class Q> struct average_and_steps {
  Q average;
  std::uint64_t steps;
  TESSERA_PARAMETERS(average, steps)
};
template <class Q> struct history {
  Q past[2];
  average_and_steps<Q> inner;
  double weights[3];
  bool full;
  TESSERA_PARAMETERS(past, inner, weights, full)
};
template <class M> [[nodiscard]] auto paths() -> std::string {
  auto m = std::make_unique<M>();
  auto result = std::string{};
  for_each_moment(*m, [&](path_name const& path, auto& part) {
    result += path.c_str();
    result += std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>> ? " " : "* ";
  });
  return result;
}
}  // namespace

TEST_CASE("moments: every member by its name, structs of parameters as one") {
  CHECK(paths<adam::moments<P>>() == "first* second* steps ");
  CHECK(paths<sgd::moments<P>>() == "velocity* steps ");
  CHECK(paths<gradient_descent::moments<P>>().empty());
  CHECK(paths<average_and_steps<P>>() == "average* steps ");
  CHECK(paths<history<P>>() ==
        "past.0* past.1* inner.average* inner.steps weights.0 weights.1 weights.2 full ");
}
TEST_CASE("moments: visited as they are, const or not") {
  auto const m = std::make_unique<average_and_steps<P>>();
  for_each_moment(*m, [](path_name const&, auto& part) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>>) part = 7;
  });
  CHECK(m->steps == 7);
  auto found = std::uint64_t{0};
  for_each_moment(std::as_const(*m), [&](path_name const&, auto const& part) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>>) found += part;
  });
  CHECK(found == 7);
}
