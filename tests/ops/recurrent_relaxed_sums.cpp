// SPDX-License-Identifier: MIT
#include <support/test.hpp>

#include <vector>

using namespace tessera;

namespace {

/// The part and the number of every call, of numbers 1 ... Count that lie at no boundary; 0 stands
/// for a vector whose lanes differ.
template <std::size_t Count, std::size_t Parts> auto broadcasts(bool down) {
  using V = lane::pack<float>;
  float numbers[Count + 1];
  for (auto k = std::size_t{0}; k < Count; ++k) numbers[k + 1] = static_cast<float>(k + 1);
  auto result = std::vector<std::pair<std::size_t, float>>{};
  detail::for_each_broadcast<Count, Parts>(numbers + 1, down, [&](std::size_t part, V v) {
    float lanes[V::width];
    lane::store(lanes, v);
    for (auto const x : lanes)
      if (x != lanes[0]) lanes[0] = 0;
    result.emplace_back(part, lanes[0]);
  });
  return result;
}
template <std::size_t Count, std::size_t Parts> void gives_all_in_order() {
  CAPTURE(Count, Parts);
  for (auto const down : {false, true}) {
    auto const found = broadcasts<Count, Parts>(down);
    REQUIRE(found.size() == Count);
    for (auto k = std::size_t{0}; k < Count; ++k) {
      CHECK(found[k].first == k % Parts);
      CHECK(found[k].second == static_cast<float>(down ? Count - k : k + 1));
    }
  }
}
template <std::size_t Hidden> using order = detail::relaxed_order<lstm_cell, 1, Hidden>;

}  // namespace

TEST_CASE("recurrent_relaxed_sums: every number of h comes once, upwards or downwards") {
  gives_all_in_order<4, 1>();
  gives_all_in_order<20, 1>();
  gives_all_in_order<64, 1>();
  gives_all_in_order<7, 1>();  // not by fours
  gives_all_in_order<1, 1>();
  gives_all_in_order<8, 2>();
  gives_all_in_order<8, 4>();
}

TEST_CASE("recurrent_relaxed_sums: small sums have parts, large weights are read to and fro") {
  static_assert(order<8>::parts == 4 && order<16>::parts == 2 && order<32>::parts == 1);
  static_assert(order<7>::parts == 1 && order<64>::parts == 1);
  static_assert(not order<44>::turns && order<45>::turns);
  CHECK(order<44>::bytes == 45 * 4 * 44 * sizeof(float));
}
