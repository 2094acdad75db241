// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/vocabulary.hpp>

#include <algorithm>
#include <queue>
#include <span>

namespace tessera::detail {

/// A token of a word that is being built, and how many bytes of the word it stands for.
struct symbol {
  std::uint32_t id;
  std::uint32_t length;
};

/// The merges of a model of byte pairs, by their ranks.
///
/// Cost  n^2 steps for a word of up to `few` symbols, n log n above
class bpe_merges {
 public:
  static constexpr auto few = std::size_t{64};

  explicit bpe_merges(std::size_t merges) : ranks_(merges) {}

  void insert(std::uint32_t a, std::uint32_t b, std::size_t rank, std::uint32_t joined) {
    ranks_.insert(a, b, std::uint64_t{rank} << 32U | joined);
  }
  /// Joins what can be joined, and says how many symbols are left at the begin.
  [[nodiscard]] auto apply(std::span<symbol> s) const -> std::size_t {
    return s.size() <= few ? merge_few(s) : merge_many(s);
  }

 private:
  /// The rank of the merge of two neighbours and what it gives; the largest number where none is.
  [[nodiscard]] auto merge_of(symbol a, symbol b) const -> std::uint64_t {
    return ranks_.find(a.id, b.id);
  }
  [[nodiscard]] auto merge_few(std::span<symbol> s) const -> std::size_t {
    auto n = s.size();
    auto merges = std::array<std::uint64_t, few>{};
    for (auto i = std::size_t{0}; i + 1 < n; ++i) merges[i] = merge_of(s[i], s[i + 1]);
    while (n > 1) {
      auto best = std::size_t{0};
      for (auto i = std::size_t{1}; i + 1 < n; ++i)
        if (merges[i] < merges[best]) best = i;
      if (merges[best] == pair_table::none) break;
      s[best] = {static_cast<std::uint32_t>(merges[best]), s[best].length + s[best + 1].length};
      for (auto i = best + 1; i + 1 < n; ++i) {
        s[i] = s[i + 1];
        merges[i] = merges[i + 1];
      }
      --n;
      if (best > 0) merges[best - 1] = merge_of(s[best - 1], s[best]);
      if (best + 1 < n) merges[best] = merge_of(s[best], s[best + 1]);
    }
    return n;
  }
  [[nodiscard]] auto merge_many(std::span<symbol> s) const -> std::size_t {
    struct candidate {
      std::uint64_t joins;
      std::uint32_t at;
      std::uint32_t length;  // of both: another one where a neighbour has grown
      auto operator>(candidate const& b) const -> bool {
        return std::pair{joins >> 32U, at} > std::pair{b.joins >> 32U, b.at};
      }
    };
    auto const n = static_cast<std::uint32_t>(s.size());
    auto next = std::vector<std::uint32_t>(n);
    auto before = std::vector<std::uint32_t>(n);
    auto queue = std::priority_queue<candidate, std::vector<candidate>, std::greater<>>{};
    auto const offer = [&](std::uint32_t a, std::uint32_t b) {
      auto const joins = merge_of(s[a], s[b]);
      if (joins != pair_table::none) queue.push({joins, a, s[a].length + s[b].length});
    };
    for (auto i = std::uint32_t{0}; i < n; ++i) {
      next[i] = i + 1;
      before[i] = i - 1;
      if (i > 0) offer(i - 1, i);
    }
    for (; not queue.empty();) {
      auto const best = queue.top();
      queue.pop();
      auto const a = best.at;
      auto const b = next[a];
      if (s[a].length == 0 || b == n || s[a].length + s[b].length != best.length) continue;
      s[a] = {static_cast<std::uint32_t>(best.joins), best.length};
      s[b].length = 0;
      next[a] = next[b];
      if (next[a] < n) {
        before[next[a]] = a;
        offer(a, next[a]);
      }
      if (before[a] < n) offer(before[a], a);
    }
    auto const joined = [](symbol const& one) { return one.length == 0; };
    return n - std::ranges::remove_if(s, joined).size();
  }

  pair_table ranks_;
};

}  // namespace tessera::detail
