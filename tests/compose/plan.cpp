// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/compose/plan.hpp>
#include <tessera/random/mt19937.hpp>

using namespace tessera;

static_assert(aligned(0) == 0);
static_assert(aligned(1) == storage_alignment);
static_assert(aligned(storage_alignment) == storage_alignment);
static_assert(place_pieces(std::array{plan_piece{100, 0, 0}, plan_piece{100, 1, 1}}).bytes ==
              aligned(100));
static_assert(place_pieces(std::array{plan_piece{100, 0, 1}, plan_piece{100, 1, 1}}).bytes ==
              2 * aligned(100));
static_assert(place_pieces(std::array{plan_piece{0, 0, 9}, plan_piece{0, 0, 9}}).bytes == 0);
static_assert(std::is_empty_v<work_arena<0>>);

TEST_CASE("plan: what is alive together never overlaps, and the arena is no larger than the sum") {
  auto random = mt19937(1);
  for (auto round = 0; round < 500; ++round) {
    auto pieces = std::array<plan_piece, 12>{};
    auto sum = std::size_t{0};
    for (auto& p : pieces) {
      auto const first = std::size_t{random() % 8};
      p = {std::size_t{random() % 4} * 100, first, first + random() % 4};
      sum += aligned(p.bytes);
    }
    auto const plan = place_pieces(pieces);
    CHECK(plan.bytes <= sum);
    for (auto i = std::size_t{0}; i < pieces.size(); ++i) {
      CHECK(plan.offset[i] + pieces[i].bytes <= std::max(plan.bytes, pieces[i].bytes));
      for (auto k = std::size_t{0}; k < i; ++k) {
        auto const& a = pieces[i];
        auto const& b = pieces[k];
        if (a.bytes == 0 || b.bytes == 0 || a.last < b.first || b.last < a.first) continue;
        CHECK((plan.offset[i] + a.bytes <= plan.offset[k] ||
               plan.offset[k] + b.bytes <= plan.offset[i]));
      }
    }
  }
}
TEST_CASE("plan: an arena lends aligned objects that keep what is written") {
  auto memory = work_arena<256>{};
  memory.at<int>(64) = 7;
  memory.at<double>(128) = 2.5;
  CHECK(memory.at<int>(64) == 7);
  CHECK(reinterpret_cast<std::uintptr_t>(&memory.at<double>(128)) % storage_alignment == 0);
}
