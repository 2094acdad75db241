// SPDX-License-Identifier: MIT
// Macros of other headers, and a using-directive before them, as users' files have them.
#define near
#define far
#define small char
#include <tessera/tessera.hpp>
#undef near
#undef far
#undef small

using namespace tessera;

// Included behind it on purpose. <complex.h> does not go in front: its macro I breaks xsimd and
// Hana.
#include <tessera/bridge/repairs.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xview.hpp>

#include <algorithm>
#include <complex>
#include <map>

#include <complex.h>

namespace user {

struct one {
  int first;
};
template <class T> struct whole {
  T first;
  T part;
};
template <class T> struct piece {
  T whole;
};
constexpr auto all = one{1};
constexpr auto keep = 2;
[[nodiscard]] auto name() -> std::string { return "name"; }
[[nodiscard]] auto written(int memory) -> int { return memory; }

template <class P> [[nodiscard]] auto smaller(P p, int t) -> bool {
  return p.first < t && p.part < t && p.written < t;
}
struct pieces {
  int first;
  int part;
  int written;
};

}  // namespace user

TEST_CASE("config: other headers and a user's names stand beside a using-directive") {
  auto const document = nlohmann::json::parse(R"({"first": [1, 2], "name": "one"})");
  CHECK(document["first"][1] == 2);
  auto const array = xt::xarray<double>{{1, 2}, {3, 4}};
  CHECK(xt::view(array, xt::all(), 1)(1) == 4);
  CHECK(user::smaller(user::pieces{1, 2, 3}, 5));
  CHECK(user::all.first + user::keep + user::written(3) == 6);
  CHECK(user::whole<int>{1, 2}.part == user::piece<int>{2}.whole);
  CHECK(user::name() == "name");
  auto const x =
      evaluate(matmul(tensor<float, shape<1, 2>>{{1, 2}}, tensor<float, shape<2>>{{3, 4}}));
  CHECK(x(0) == 11);
}

// Clang's -Wshadow tells of a local that hides a variable of the namespace a directive names.
TEST_CASE("config: a user's locals hide nothing of the library") {
  auto const sum_of = [](int all, int keep, int attention) {
    auto const [name, part] = std::pair{4, 5};
    auto const context = 6, mode = 7, x = 8, y = 9, data = 10, value = 11;
    auto const call = [](int number) { return number + 1; };
    return all + keep + attention + name + part + context + mode + x + y + data + value + call(11);
  };
  CHECK(sum_of(1, 2, 3) == 12 * 13 / 2);
}
