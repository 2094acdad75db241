// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/train/described.hpp>
#include <tessera/train/parts.hpp>

using namespace tessera;

namespace {
using P = parameters_of<linear<2, 2>, owned<double>>;
struct empty_part {};
struct counts_terms {
  [[nodiscard]] static auto terms(std::size_t n) -> std::size_t { return 2 * n; }
};
static_assert(detail::is_part<norm_clipping, P> && detail::is_part<value_clipping, P> &&
              detail::is_part<averaging<P>, P> && detail::is_part<counts_terms, P>);
static_assert(not detail::is_part<empty_part, P>);
}  // namespace

TEST_CASE("parts: clipping by the norm changes what clip_norm changes") {
  auto a = P{};
  auto b = P{};
  test::fill_parameters(a, 1, 4);
  b = a;
  auto norm = global_norm(a);
  norm_clipping{.most = 0.5}.adjust(a, norm);
  CHECK(clip_norm(b, 0.5) > 0.5);
  CHECK(test::same_parameters(a, b));
  CHECK(norm == Approx(0.5).epsilon(1e-5));
  CHECK(global_norm(a) == Approx(norm));
  auto const before = a;
  norm_clipping{.most = 100}.adjust(a, norm);
  CHECK(test::same_parameters(a, before));
  CHECK(norm == Approx(0.5).epsilon(1e-5));
}
TEST_CASE("parts: clipping every number, and the norm that is left") {
  auto g = P{};
  test::fill_parameters(g, 1, 4);
  auto norm = global_norm(g);
  value_clipping{.most = 0.5}.adjust(g, norm);
  for (auto const v : g.weight) CHECK(std::abs(v) <= 0.5);
  CHECK(norm == global_norm(g));
  CHECK_THROWS_AS((value_clipping{.most = -1}.adjust(g, norm)), std::invalid_argument);
  CHECK_THROWS_AS((norm_clipping{.most = NAN}.adjust(g, norm)), std::invalid_argument);
}
TEST_CASE("parts: an average begins with the first parameters, and follows its rule") {
  auto p = P{};
  test::fill_parameters(p, 1);
  auto part = averaging<P>({.decay = 0.9});
  part.begin(p);
  CHECK(test::same_parameters(part.average(), p));
  auto want = p;
  test::fill_parameters(p, 5);
  exponential_average{.decay = 0.9}.update(want, p, 3);
  part.updated(p, 3);
  CHECK(test::same_parameters(part.average(), want));
  auto names = std::string{};
  part.memory([&](char const* name, auto& memory) {
    names += name;
    CHECK(test::same_parameters(memory, want));
  });
  CHECK(names == "average");
  CHECK(described(part) == "averaging(exponential_average(0.9))");
}
