// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/aligned_text.hpp>

namespace tessera::detail {

/// The normal forms of Unicode.
enum class normal_form : std::uint8_t { nfc, nfd, nfkc, nfkd };

/// A code point of a normal form, and how many more (> 0: it is one of several) or fewer (< 0) code
/// points of the text there were for it.
struct changed_code_point {
  char32_t value;
  int change;
};

[[nodiscard]] constexpr auto composes(normal_form form) -> bool {
  return form == normal_form::nfc || form == normal_form::nfkc;
}
/// No form changes it, and none joins it to what is before it.
[[nodiscard]] constexpr auto stays(normal_form form, char32_t c) -> bool {
  if (c < 0xA0 || (c >= 0x3400 && c <= 0x9FFF)) return true;
  if (form != normal_form::nfc) return composes(form) && c >= 0xAC00 && c <= 0xD7A3;
  return c < 0x300 || (c >= 0x400 && c <= 0x482) || (c >= 0xAC00 && c <= 0xD7A3);
}
[[nodiscard]] inline auto combining_class(char32_t c) -> int {
  return c < 0x300 ? 0 : utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}
/// What two code points are joined to, or 0.
[[nodiscard]] inline auto composed(char32_t a, char32_t b) -> char32_t {
  if (b < 0x300 || b == 0x11A7) return 0;  // utf8proc 2.8 takes it for a trailing consonant
  utf8proc_int32_t both[] = {static_cast<utf8proc_int32_t>(a), static_cast<utf8proc_int32_t>(b)};
  auto const form = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  return utf8proc_normalize_utf32(both, 2, form) == 1 ? static_cast<char32_t>(both[0]) : 0;
}

/// Source  Unicode Standard Annex 15; what counts as changed is that of Hugging Face's tokenizers
class normalization {
 public:
  explicit normalization(normal_form form) : form_(form) {}

  void apply(aligned_text& text) {
    auto const view = text.text();
    if (all_stay(view)) return;
    auto const size = static_cast<std::uint32_t>(view.size());
    auto editor = text_editor(text);
    for (auto at = std::uint32_t{0}; at < size;) {
      auto const begin = first_to_change(view, at);
      editor.copy(begin);
      if (begin == size) break;
      at = end_of_change(view, begin);
      form_segment(view.substr(begin, at - begin));
      for (auto const& c : formed_) {
        if (c.change > 0)
          editor.insert(c.value);
        else
          editor.put(c.value, static_cast<std::uint32_t>(-c.change));
      }
    }
    editor.finish(text);
  }

 private:
  [[nodiscard]] auto all_stay(std::string_view text) const -> bool {
    return first_to_change(text, 0) == text.size();
  }
  /// Where a segment that may change begins: with what a mark may follow.
  [[nodiscard]] auto first_to_change(std::string_view text, std::uint32_t at) const
      -> std::uint32_t {
    auto before = at;
    while (at < text.size()) {
      auto const c = code_point_at(text, at);
      if (not stays(form_, c.value)) return before;
      before = at;
      at += c.bytes;
      if (auto const plain = static_cast<std::uint32_t>(ascii_bytes(text, at)); plain > 0) {
        at += plain;
        before = at - 1;
      }
    }
    return at;
  }
  [[nodiscard]] auto end_of_change(std::string_view text, std::uint32_t at) const -> std::uint32_t {
    at += code_point_at(text, at).bytes;
    for (; at < text.size(); at += code_point_at(text, at).bytes)
      if (stays(form_, code_point_at(text, at).value)) break;
    return at;
  }

  void form_segment(std::string_view text) {
    decompose(text);
    order_marks();
    if (composes(form_)) compose();
  }
  void decompose(std::string_view text) {
    formed_.clear();
    auto const compatible = form_ == normal_form::nfkc || form_ == normal_form::nfkd;
    auto const options =
        static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
    auto parts = std::array<utf8proc_int32_t, 32>{};
    for (auto at = std::size_t{0}; at < text.size();) {
      auto const c = code_point_at(text, at);
      at += c.bytes;
      auto boundary = 0;
      auto const count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c.value),
                                                 parts.data(), parts.size(), options, &boundary);
      if (count < 1 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
        formed_.push_back({c.value, 0});
        continue;
      }
      for (auto i = std::size_t{0}; i < static_cast<std::size_t>(count); ++i)
        formed_.push_back({static_cast<char32_t>(parts[i]), i == 0 ? 0 : 1});
    }
  }
  /// Marks between two starters by their class; those of one class keep their order.
  void order_marks() {
    for (auto i = std::size_t{0}; i < formed_.size(); ++i) {
      places_.clear();
      auto const begin = i;
      for (; i < formed_.size(); ++i) {
        auto const own = static_cast<std::uint64_t>(combining_class(formed_[i].value));
        if (own == 0) break;
        places_.push_back(own << 32U | i);
      }
      if (std::ranges::is_sorted(places_)) continue;
      std::ranges::sort(places_);
      auto const before = std::vector(formed_.begin() + static_cast<std::ptrdiff_t>(begin),
                                      formed_.begin() + static_cast<std::ptrdiff_t>(i));
      for (auto k = std::size_t{0}; k < places_.size(); ++k)
        formed_[begin + k] = before[(places_[k] & 0xFFFFFFFFU) - begin];
    }
  }
  void compose() {
    auto const none = formed_.size();
    auto starter = none;
    auto last = 0;  // class of the mark before, 0 directly after the starter
    auto count = std::size_t{0};
    for (auto const c : formed_) {
      auto const own = combining_class(c.value);
      auto const blocked = starter == none || (last != 0 && last >= own);
      if (auto const both = blocked ? 0 : composed(formed_[starter].value, c.value); both != 0) {
        formed_[starter].value = both;
        formed_[starter].change += c.change - 1;
        continue;
      }
      if (own == 0) starter = count;
      last = own;
      formed_[count++] = c;
    }
    formed_.resize(count);
  }

  normal_form form_;
  std::vector<changed_code_point> formed_;
  std::vector<std::uint64_t> places_;
};

}  // namespace tessera::detail
