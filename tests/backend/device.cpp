// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/backend/cuda/device.hpp>

#include <algorithm>
#include <string>
#include <typeinfo>

using namespace tessera;

static_assert(device::is_fake && on_device<cuda> && not on_device<reference>);

TEST_CASE("device: memory of zeros, aligned as storage") {
  struct large {
    alignas(storage_alignment) float values[1000];
  };
  auto const check = [](large const& memory) {
    CHECK(reinterpret_cast<std::uintptr_t>(&memory) % storage_alignment == 0);
    CHECK(std::all_of(memory.values, memory.values + 1000, [](float v) { return v == 0; }));
  };
  check(*device::make<large>());
  check(*device::make_on_host<large>());
}
TEST_CASE("device: the fake one has names of its own, beside a GPU's in one program") {
  for (auto const* const name : {typeid(cuda).name(), typeid(device::unique<int>).name()})
    CHECK(std::string{name}.find("fake_device") != std::string::npos);
}
