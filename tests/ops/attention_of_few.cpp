// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/attention_of_few.hpp>

using namespace tessera;

namespace {

template <class T, class K = T> using few = detail::attention_of_few<T, K>;
using by_blocks = kernel_for<detail::attention_fn, simd>;
using slow = kernel_for<detail::attention_fn, reference>;

constexpr auto most = std::size_t{100};

/// What a pass leaves: the outputs, of rows with a number between them, and the logarithms.
template <class T> struct results {
  std::vector<T> y;
  std::vector<T> log_sums;

  explicit results(auto const& head)
      : y(head.queries * head.out, T{7}), log_sums(head.queries, T{7}) {}
};

}  // namespace

// -- contract -------------------------------------------------------------------------------------
static_assert(few<float>::queries_at_once >= by_blocks::few);

// -- laws -----------------------------------------------------------------------------------------
TEMPLATE_TEST_CASE("attention_of_few: the bits of the reference, and of blocks of queries", "",
                   (std::pair<float, float>), (std::pair<double, double>),
                   (std::pair<float, f16>)) {
  using T = typename TestType::first_type;
  using K = typename TestType::second_type;
  constexpr auto width_of_vector = std::size_t{lane::pack<T>::width};
  auto const a = std::make_unique<typename by_blocks::template workspace<T, most, 150>>();
  auto const b = std::make_unique<typename slow::template workspace<T, most, 150>>();
  constexpr auto padded = std::remove_cvref_t<decltype(*a)>::padded;
  auto scores = std::vector<T>(few<T>::queries_at_once * padded);
  for (auto const width : {8U, 16U, 20U, 64U, 150U}) {
    auto const row = width + 3U;
    auto memory = std::vector<T>(3 * most * row);
    test::fill(memory.data(), memory.size(), width);
    auto const stored = std::vector<K>(memory.begin(), memory.end());
    for (auto const keys : {1U, 7U, 15U, 16U, 17U, 33U, 48U, 100U})
      for (auto const queries : {1U, 2U, 3U, 4U, 5U, 9U})
        for (auto const causal : {false, true}) {
          auto const head =
              detail::attention_head<T, K>{.queries = queries,
                                           .keys = keys,
                                           .width = width,
                                           .q_row = row,
                                           .kv_row = row,
                                           .out = width + 1U,
                                           .sum = 1,
                                           .before = keys > queries ? keys - queries : 0,
                                           .causal = causal,
                                           .scale = T{0.25F},
                                           .q = memory.data(),
                                           .k = stored.data() + most * row,
                                           .v = stored.data() + 2 * most * row};
          if (head.seen(0) < width_of_vector) continue;  // a vector of keys is the least
          INFO("queries " << queries << ", keys " << keys << ", width " << width << ", causal "
                          << causal);
          auto want = results<T>(head);
          slow::forward(head, want.y.data(), want.log_sums.data(), *b);
          for (auto const* const next : {static_cast<K const*>(nullptr), head.k}) {
            auto found = results<T>(head);
            few<T, K>{head, scores.data(), padded, next}.run(found.y.data(), found.log_sums.data());
            CHECK(test::same_bits(found.y, want.y));
            CHECK(test::same_bits(found.log_sums, want.log_sums));
            auto without_sums = results<T>(head);
            few<T, K>{head, scores.data(), padded, next}.run(without_sums.y.data(), nullptr);
            CHECK(test::same_bits(without_sums.y, want.y));
          }
          auto blocks = results<T>(head);
          by_blocks::forward(head, blocks.y.data(), blocks.log_sums.data(), *a);
          CHECK(test::same_bits(blocks.y, want.y));
        }
  }
}
