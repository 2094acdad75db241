// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/slot.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

/// Tokens and the ones that follow them: what a language model learns from.
///
/// Shapes  x and target (time, batch); target[t] is the token after x[t]
namespace tessera {

/// The rows of a batch.
struct token_rows {
  std::size_t length = 1;  ///< tokens of a row
  std::size_t batch = 1;   ///< rows
};

namespace detail {

/// `count` rows that begin at start(i) into a slot.
///
/// Errors  std::invalid_argument for a token that the slot's numbers do not hold
template <class Token, class Slot>
void load_rows(std::span<Token const> tokens, std::size_t length, std::size_t count,
               auto const& start, Slot& to) {
  auto const extents = std::array{length, count};
  auto const x = to.x.resize(extents, "x");
  auto const target = to.target.resize(extents, "target");
  using In = scalar_of<decltype(x)>;
  using Out = scalar_of<decltype(target)>;
  for (auto b = std::size_t{0}; b < count; ++b) {
    auto const row = tokens.subspan(start(b), length + 1);
    for (auto t = std::size_t{0}; t < length; ++t) {
      auto const place = [&] { return "token " + std::to_string(start(b) + t); };
      auto const next = [&] { return "token " + std::to_string(start(b) + t + 1); };
      x.data()[t * count + b] = number_as<In>(row[t], "x", place);
      target.data()[t * count + b] = number_as<Out>(row[t + 1], "target", next);
    }
  }
}

}  // namespace detail

/// Rows that begin anywhere, drawn one after another by a generator that goes on from epoch to
/// epoch.
///
/// Cost    8 bytes for each row of an epoch; an epoch draws those before it again, unless it
///         follows the one that was
/// Errors  std::invalid_argument for tokens too few for a row
template <class Token, class Generator> class random_tokens {
 public:
  static constexpr bool carries = false;
  static constexpr bool epochs_differ = true;

  /// `batches` in all, `per_epoch` of them in an epoch; the last epoch may be shorter. The tokens
  /// are another owner's.
  random_tokens(std::span<Token const> tokens, token_rows rows, std::uint64_t batches,
                std::uint64_t per_epoch, Generator generator)
      : tokens_(tokens),
        rows_(rows),
        batches_(batches),
        per_epoch_(per_epoch),
        start_(generator),
        generator_(generator) {
    if (tokens.size() <= rows.length || rows.length == 0 || rows.batch == 0 || per_epoch == 0)
      throw std::invalid_argument("random_tokens: expected tokens for a row, and rows");
    if (tokens.size() - rows.length > std::numeric_limits<std::uint32_t>::max())
      throw std::invalid_argument(
          "random_tokens: expected less than 2^32 beginnings of a row, got " +
          std::to_string(tokens.size() - rows.length));
  }
  [[nodiscard]] auto size() const -> std::size_t { return size_of(epoch_); }
  [[nodiscard]] auto epochs() const -> std::uint64_t {
    return batches_ / per_epoch_ + (batches_ % per_epoch_ == 0 ? 0 : 1);
  }
  void begin(std::uint64_t epoch) {
    if (epoch + 1 == next_) return;  // its rows are drawn
    if (epoch != next_) {
      generator_ = start_;
      for (auto e = std::uint64_t{0}; e < epoch; ++e) draw(e);
    }
    draw(epoch);
    epoch_ = epoch;
    next_ = epoch + 1;
  }
  template <class Slot>
  void load(std::size_t batch, std::size_t chunk, std::size_t chunks, Slot& to) const {
    auto const [first, count] = share_of(rows_.batch, rows_.batch, chunk, chunks);
    auto const from = batch * rows_.batch + first;
    detail::load_rows(
        tokens_, rows_.length, count, [&](std::size_t i) { return starts_.at(from + i); }, to);
  }

 private:
  [[nodiscard]] auto size_of(std::uint64_t epoch) const -> std::size_t {
    auto const before = epoch > batches_ / per_epoch_ ? batches_ : epoch * per_epoch_;
    return static_cast<std::size_t>(std::min(per_epoch_, batches_ - before));
  }
  void draw(std::uint64_t epoch) {
    auto const choices = static_cast<std::uint32_t>(tokens_.size() - rows_.length);
    starts_.resize(size_of(epoch) * rows_.batch);
    for (auto& start : starts_) start = static_cast<std::size_t>(generator_.randint(choices));
  }

  std::span<Token const> tokens_;
  token_rows rows_;
  std::uint64_t batches_;
  std::uint64_t per_epoch_;
  Generator start_;
  Generator generator_;
  std::uint64_t epoch_ = 0;
  std::uint64_t next_ = 0;  // the epoch that the generator stands before
  std::vector<std::size_t> starts_;
};
template <class Tokens, class Generator>
random_tokens(Tokens const&, token_rows, std::uint64_t, std::uint64_t, Generator)
    -> random_tokens<typename Tokens::value_type, Generator>;

/// Rows that follow each other, each token once, those left out that fill no batch.
///
/// Errors  std::invalid_argument for tokens too few for a batch
template <class Token> class consecutive_tokens {
 public:
  static constexpr bool carries = false;

  consecutive_tokens(std::span<Token const> tokens, token_rows rows)
      : tokens_(tokens), rows_(rows) {
    if (rows.length == 0 || rows.batch == 0 || tokens.empty() ||
        rows.batch > (tokens.size() - 1) / rows.length)
      throw std::invalid_argument("consecutive_tokens: expected tokens for a batch");
  }
  [[nodiscard]] auto size() const -> std::size_t {
    return (tokens_.size() - 1) / (rows_.length * rows_.batch);
  }
  void begin(std::uint64_t) {}
  template <class Slot>
  void load(std::size_t batch, std::size_t chunk, std::size_t chunks, Slot& to) const {
    auto const [first, count] = share_of(rows_.batch, rows_.batch, chunk, chunks);
    auto const from = batch * rows_.batch + first;
    detail::load_rows(
        tokens_, rows_.length, count, [&](std::size_t i) { return (from + i) * rows_.length; }, to);
  }

 private:
  std::span<Token const> tokens_;
  token_rows rows_;
};
template <class Tokens>
consecutive_tokens(Tokens const&, token_rows) -> consecutive_tokens<typename Tokens::value_type>;

}  // namespace tessera
