// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/bpe.hpp>

namespace tessera::detail {

/// The tokens of short words that a text had before, so that a model is not asked again for what
/// comes often.
///
/// The bytes of a word say its place, which is that of the last one that came there.
/// Cost  64 bytes for each place, at most `most` places; none for short texts
class word_cache {
 public:
  static constexpr auto most = std::size_t{8192};
  static constexpr auto least_text = std::size_t{2048};

  /// For a text of so many bytes.
  explicit word_cache(std::size_t text)
      : entries_(text < least_text ? 0 : std::min(most, std::bit_ceil(text / 32))) {}

  /// Appends the tokens of a word, the part `range` of `text`: make(to) appends those that are not
  /// known.
  void put_tokens(std::string_view text, text_range range, std::vector<token_span>& to,
                  auto const& make) {
    auto const size = std::size_t{range.end - range.begin};
    if (size > longest || entries_.empty()) {
      make(to);
      return;
    }
    auto const key = key_of(text, range.begin, size);
    auto& entry = entries_[place_of(key)];
    if (entry.size == size && entry.key == key) {
      for (auto i = std::size_t{0}; i < entry.count; ++i)
        to.push_back({entry.ids[i], {range.begin + entry.begins[i], range.begin + entry.ends[i]}});
      return;
    }
    auto const before = to.size();
    make(to);
    if (to.size() - before > most_tokens) return;
    entry.key = key;
    entry.size = static_cast<std::uint8_t>(size);
    entry.set(std::span{to}.subspan(before), range.begin);
  }

 private:
  static constexpr auto longest = std::size_t{24};
  static constexpr auto most_tokens = std::size_t{5};
  using key_type = std::array<std::uint64_t, longest / 8>;

  struct alignas(64) entry_type {
    key_type key{};
    std::array<std::uint32_t, most_tokens> ids{};
    std::array<std::uint8_t, most_tokens> begins{};
    std::array<std::uint8_t, most_tokens> ends{};
    std::uint8_t count = 0;
    std::uint8_t size = 0;  // of the word

    void set(std::span<token_span const> tokens, std::uint32_t begin) {
      count = static_cast<std::uint8_t>(tokens.size());
      for (auto i = std::size_t{0}; i < tokens.size(); ++i) {
        ids[i] = tokens[i].id;
        begins[i] = static_cast<std::uint8_t>(tokens[i].range.begin - begin);
        ends[i] = static_cast<std::uint8_t>(tokens[i].range.end - begin);
      }
    }
  };

  /// The bytes of the word and zeros.
  [[nodiscard]] static auto key_of(std::string_view text, std::size_t begin, std::size_t size)
      -> key_type {
    auto key = key_type{};
    if (begin + sizeof(key) > text.size()) {
      std::memcpy(key.data(), text.data() + begin, size);
      return key;
    }
    auto mask = key_type{};
    std::memcpy(key.data(), text.data() + begin, sizeof(key));
    std::memcpy(mask.data(), masks.data() + (longest - size), sizeof(mask));
    for (auto i = std::size_t{0}; i < key.size(); ++i) key[i] &= mask[i];
    return key;
  }
  static constexpr auto masks = [] {
    auto result = std::array<char, 2 * sizeof(key_type)>{};
    for (auto i = std::size_t{0}; i < sizeof(key_type); ++i) result[i] = '\xFF';
    return result;
  }();
  [[nodiscard]] auto place_of(key_type const& key) const -> std::size_t {
    auto const hash =
        key[0] * 0x9E3779B97F4A7C15U ^ key[1] * 0xC2B2AE3D27D4EB4FU ^ key[2] * 0x165667B19E3779F9U;
    return mixed(hash >> 29U ^ hash) & (entries_.size() - 1);
  }

  std::vector<entry_type> entries_;
};

}  // namespace tessera::detail
