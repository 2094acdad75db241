// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/text/tokenizer/unicode.hpp>

#include <bit>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace tessera::detail {

constexpr auto no_id = std::numeric_limits<std::uint32_t>::max();

[[nodiscard]] constexpr auto mixed(std::uint64_t x) -> std::uint64_t {
  x *= 0x9E3779B97F4A7C15U;
  return x ^ x >> 32U;
}
/// Where keys lie differs from table to table, so that no file can be made to slow one down. What
/// is found does not depend on it.
[[nodiscard]] inline auto table_seed() -> std::uint64_t {
  auto device = std::random_device{};
  return std::uint64_t{device()} << 32U | device();
}

/// Strings one after another, by their number.
class string_list {
 public:
  void reserve(std::size_t strings, std::size_t bytes) {
    ends_.reserve(strings);
    bytes_.reserve(bytes);
  }
  void push_back(std::string_view text) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  [[nodiscard]] auto size() const -> std::size_t { return ends_.size(); }
  [[nodiscard]] auto operator[](std::size_t i) const -> std::string_view {
    auto const begin = i == 0 ? std::size_t{0} : ends_[i - 1];
    return std::string_view{bytes_}.substr(begin, ends_[i] - begin);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

/// Finds the number of a string of a list: open addressing, a quarter to a half full.
class string_index {
 public:
  string_index() = default;
  explicit string_index(std::size_t strings)
      : slots_(std::bit_ceil(2 * strings + 2)), seed_(table_seed()) {}

  void insert(string_list const& list, std::uint32_t number) {
    auto const hash = hash_of(list[number]);
    auto at = hash & (slots_.size() - 1);
    while (slots_[at].number != no_id) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {static_cast<std::uint32_t>(hash >> 32U), number};
  }
  [[nodiscard]] auto find(string_list const& list, std::string_view text) const -> std::uint32_t {
    if (slots_.empty()) return no_id;
    auto const hash = hash_of(text);
    auto const tag = static_cast<std::uint32_t>(hash >> 32U);
    for (auto at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      auto const [found, number] = slots_[at];
      if (number == no_id || (found == tag && list[number] == text)) return number;
    }
  }

 private:
  struct slot {
    std::uint32_t tag = 0;
    std::uint32_t number = no_id;
  };
  [[nodiscard]] auto hash_of(std::string_view text) const -> std::uint64_t {
    auto hash = seed_ ^ text.size();
    auto word = std::uint64_t{};
    for (; text.size() > 8; text.remove_prefix(8)) {
      std::memcpy(&word, text.data(), 8);
      hash = mixed(hash ^ word);
    }
    word = 0;
    if (not text.empty()) std::memcpy(&word, text.data(), text.size());
    return mixed(mixed(hash ^ word));
  }

  std::vector<slot> slots_;
  std::uint64_t seed_ = 0;
};

/// A number for each of some pairs of numbers.
class pair_table {
 public:
  static constexpr auto none = std::numeric_limits<std::uint64_t>::max();

  pair_table() = default;
  explicit pair_table(std::size_t pairs)
      : slots_(std::bit_ceil(2 * pairs + 2)), seed_(table_seed()) {}

  /// The last number of a pair counts.
  void insert(std::uint32_t a, std::uint32_t b, std::uint64_t value) {
    auto at = place_of(a, b);
    while (slots_[at].value != none && slots_[at].key != key_of(a, b))
      at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {key_of(a, b), value};
  }
  [[nodiscard]] auto find(std::uint32_t a, std::uint32_t b) const -> std::uint64_t {
    if (slots_.empty()) return none;
    auto const key = key_of(a, b);
    for (auto at = place_of(a, b);; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].value == none || slots_[at].key == key) return slots_[at].value;
  }
  [[nodiscard]] auto has(std::uint32_t a, std::uint32_t b) const -> bool {
    return find(a, b) != none;
  }

 private:
  struct slot {
    std::uint64_t key = 0;
    std::uint64_t value = none;
  };
  [[nodiscard]] static auto key_of(std::uint32_t a, std::uint32_t b) -> std::uint64_t {
    return std::uint64_t{a} << 32U | b;
  }
  [[nodiscard]] auto place_of(std::uint32_t a, std::uint32_t b) const -> std::size_t {
    return mixed(mixed(key_of(a, b) ^ seed_)) & (slots_.size() - 1);
  }

  std::vector<slot> slots_;
  std::uint64_t seed_ = 0;
};

/// The tokens of a model by id and by text; ids may leave holes.
class vocabulary {
 public:
  vocabulary() = default;
  /// `texts` by id; holes have no text.
  explicit vocabulary(std::vector<std::optional<std::string_view>> const& texts)
      : index_(texts.size()), present_(texts.size()) {
    auto bytes = std::size_t{0};
    for (auto const& text : texts) bytes += text ? text->size() : 0;
    texts_.reserve(texts.size(), bytes);
    for (auto id = std::size_t{0}; id < texts.size(); ++id) {
      auto const text = texts[id].value_or(std::string_view{});
      texts_.push_back(text);
      present_[id] = texts[id].has_value();
      if (not texts[id]) continue;
      if (find(text) != no_id)
        throw text_error("vocabulary: " + json_text(text) + " has two ids, " +
                         std::to_string(find(text)) + " and " + std::to_string(id));
      index_.insert(texts_, static_cast<std::uint32_t>(id));
    }
  }
  /// One more than the largest id.
  [[nodiscard]] auto size() const -> std::size_t { return texts_.size(); }
  [[nodiscard]] auto contains(std::size_t id) const -> bool {
    return id < present_.size() && present_[id];
  }
  [[nodiscard]] auto text(std::size_t id) const -> std::string_view { return texts_[id]; }
  /// The id, or no_id.
  [[nodiscard]] auto find(std::string_view text) const -> std::uint32_t {
    return index_.find(texts_, text);
  }

 private:
  string_list texts_;
  string_index index_;
  std::vector<bool> present_;
};

/// Bytes as the letters that vocabularies of bytes write them with: printable ones of Latin-1 are
/// themselves, the others are 256 and up in their order.
/// Source  GPT-2's encoder
inline constexpr auto byte_letters = [] {
  auto result = std::array<char32_t, 256>{};
  auto next = char32_t{256};
  for (auto b = char32_t{0}; b < 256; ++b) {
    auto const printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    result[b] = printable ? b : next++;
  }
  return result;
}();
inline constexpr auto letter_bytes = [] {
  auto result = std::array<std::int16_t, 324>{};
  result.fill(-1);
  for (auto b = std::size_t{0}; b < 256; ++b)
    result[byte_letters[b]] = static_cast<std::int16_t>(b);
  return result;
}();
/// The bytes that a token of such a vocabulary stands for; none where it has another letter.
[[nodiscard]] inline auto bytes_of_letters(std::string_view token) -> std::optional<std::string> {
  auto result = std::string{};
  for (auto at = std::size_t{0}; at < token.size();) {
    auto const c = code_point_at(token, at);
    if (c.value >= letter_bytes.size() || letter_bytes[c.value] < 0) return {};
    result += static_cast<char>(letter_bytes[c.value]);
    at += c.bytes;
  }
  return result;
}

}  // namespace tessera::detail
