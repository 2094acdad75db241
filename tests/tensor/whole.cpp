// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

namespace {

template <class Backend> struct pair_of_tensors {
  tensor<float, shape<3>, Backend> first;
  tensor<float, shape<2, 2>, Backend> second;
};
template <class Backend> void clears_and_copies(auto& a, auto& b) {
  a.first.values[2] = 5;
  a.second.values[3] = 7;
  copy_on<Backend>(b, a);
  CHECK(b.first.values[2] == 5);
  CHECK(b.second.values[3] == 7);
  clear_on<Backend>(a);
  CHECK(a.first.values[2] == 0);
  CHECK(a.second.values[3] == 0);
  CHECK(b.second.values[3] == 7);
}

/// What a layer remembers, with the samples that the host counts, within compositions.
struct cache {
  tensor<float, shape<3>, cuda> first;
  std::size_t length;
  tensor<float, shape<2, 2>, cuda> second;
  constexpr void each_count(auto const& f) { f(length); }
};
using caches = members<cache, nothing, equal_members<cache, 2>>;
void each_cache(caches& all, auto const& f) {
  f(get<0>(all));
  for (auto& one : get<2>(all).each) f(one);
}
void fill(caches& all) {
  each_cache(all, [](cache& one) {
    one.first.values[2] = 5;
    one.second.values[3] = 7;
    one.length = 3;
  });
}
void has(caches& all, float first, float second, std::size_t length) {
  each_cache(all, [&](cache const& one) {
    CHECK(one.first.values[2] == first);
    CHECK(one.second.values[3] == second);
    CHECK(one.length == length);
  });
}

}  // namespace

TEST_CASE("whole: objects of numbers are cleared and copied where they are") {
  auto a = pair_of_tensors<simd>{};
  auto b = pair_of_tensors<simd>{};
  clears_and_copies<simd>(a, b);
  auto const c = device::make<pair_of_tensors<cuda>>();
  auto const d = device::make<pair_of_tensors<cuda>>();
  clears_and_copies<cuda>(*c, *d);
  auto none = nothing{};
  clear_on<cuda>(none);
}
TEST_CASE("whole: what the host counts is cleared and copied at once where a graph is recorded") {
  auto const a = device::make<caches>();
  auto const b = device::make<caches>();
  auto const c = device::make<caches>();
  auto step = device::graph([&] {
    copy_on<cuda>(*b, *a);
    each_cache(*b, [](cache const& one) { CHECK(one.length == 3); });
    for (auto const samples : {4UL, 2UL}) {
      clear_on<cuda>(*a);
      each_cache(*a, [&](cache& one) {
        CHECK(one.length == 0);
        one.length += samples;
      });
    }
    copy_on<cuda>(*c, *a);
  });
  for (auto run = 0; run < 3; ++run) {
    fill(*a);
    step();
    has(*a, 0, 0, 2);
    has(*b, 5, 7, 3);
    has(*c, 0, 0, 2);
  }
}
TEST_CASE("whole: what the host counts in is there when a copy returns") {
  auto const a = device::make<caches>();
  auto const b = device::make<caches>();
  fill(*a);
  device::current().delay(true);
  copy_on<cuda>(*b, *a);
  has(*b, 5, 7, 3);
  clear_on<cuda>(*a);
  has(*a, 0, 0, 0);
  device::current().delay(false);
}
