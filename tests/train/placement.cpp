// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/backend/cuda/queue.hpp>
#include <tessera/tensor/tensor.hpp>
#include <tessera/train/placement.hpp>

#include <algorithm>

using namespace tessera;

namespace {

template <class Backend> using weights = tensor<float, shape<7, 3>, Backend>;

// The host's are as ever; of a device's, no heap is left to free them.
static_assert(std::same_as<placed<int, reference>, std::unique_ptr<int>>);
static_assert(std::same_as<placed<int[], simd>, std::unique_ptr<int[]>>);
static_assert(not std::same_as<placed<int, cuda>, std::unique_ptr<int>>);

template <class Backend> void check_zeros() {
  auto const one = make_placed<weights<Backend>, Backend>();
  auto const on_host = make_placed_on_host<weights<Backend>, Backend>();
  auto const some = make_placed<weights<Backend>[], Backend>(std::size_t{3});
  auto const is_zero = [](auto const& w) {
    return reinterpret_cast<std::uintptr_t>(w.values) % storage_alignment == 0 &&
           std::all_of(w.values, w.values + w.padded, [](float v) { return v == 0; });
  };
  CHECK(is_zero(*one));
  CHECK(is_zero(*on_host));
  for (auto i = std::size_t{0}; i < 3; ++i) CHECK(is_zero(some[i]));
}

}  // namespace

TEST_CASE("placement: objects of zeros, on the heap or where a device sees them") {
  check_zeros<reference>();
  check_zeros<cuda>();
}
TEST_CASE("placement: waiting runs what was launched, in order") {
  auto const numbers = make_placed<int[], cuda>(std::size_t{2});
  auto* const to = numbers.get();
  auto const add = [to](std::size_t i) { to[i] += 3; };
  auto const twice = [to](std::size_t i) { to[i] *= 2; };
  device::current().delay(true);
  device::for_each(2, add);
  device::for_each(2, twice);
  wait_on<reference>();
  CHECK(to[1] == 0);
  wait_on<cuda>();
  CHECK(to[1] == 6);
  device::current().delay(false);
}
