// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/json_text.hpp>
#include <tessera/text/tokenizer/aligned_text.hpp>
#include <tessera/text/tokenizer/oniguruma.hpp>

// The component defines PCRE2_CODE_UNIT_WIDTH, without which this stops.
#include <memory>

#include <pcre2.h>

namespace tessera::detail {

/// A regular expression of a tokenizer.json over code points, by PCRE2.
///
/// Errors  text_error for a pattern that is longer than `longest`, cannot be translated, is not
///         known to PCRE2, or takes more steps on a text than PCRE2's limits
class regex {
 public:
  static constexpr auto longest = std::size_t{10'000};

  explicit regex(std::string_view pattern) : pattern_(pattern) {
    if (pattern.size() > longest)
      throw text_error("pattern: expected at most " + std::to_string(longest) + " bytes, got " +
                       std::to_string(pattern.size()));
    auto const settings =
        std::unique_ptr<pcre2_compile_context, freed<pcre2_compile_context_free_8>>(
            pcre2_compile_context_create_8(nullptr));
    if (settings == nullptr) throw std::bad_alloc{};
    pcre2_set_parens_nest_limit_8(settings.get(), 80);
    pcre2_set_newline_8(settings.get(), PCRE2_NEWLINE_LF);
    auto const own = oniguruma_pattern::translated(pattern, is_script);
    auto error = 0;
    auto at = PCRE2_SIZE{0};
    code_ = {compiled(own, error, at, settings.get()), pcre2_code_free_8};
    if (code_ == nullptr)
      throw text_error("pattern " + json_text(pattern_) + ": " + reason(error) + " at byte " +
                       std::to_string(at) + (own == pattern ? "" : " of " + json_text(own)));
    // Without it, or where it is not built in, matching is slower and else the same.
    (void)pcre2_jit_compile_8(code_.get(), PCRE2_JIT_COMPLETE);
  }

  /// Calls found(begin, end) for each match in the text, which is UTF-8. An empty match does not
  /// follow another one at once, and an empty text has none.
  void for_each_match(std::string_view text, auto const& found) const {
    auto const match = std::unique_ptr<pcre2_match_data, freed<pcre2_match_data_free_8>>(
        pcre2_match_data_create_8(1, nullptr));
    if (match == nullptr) throw std::bad_alloc{};
    if (text.empty()) return;
    auto before = text.size() + 1;
    for (auto at = std::size_t{0}; at <= text.size();) {
      if (not search(text, at, match.get())) return;
      auto const* const range = pcre2_get_ovector_pointer_8(match.get());
      if (range[0] == range[1] && range[1] == before) {
        if (at == text.size()) return;
        at += code_point_at(text, at).bytes;
        continue;
      }
      found(static_cast<std::uint32_t>(range[0]), static_cast<std::uint32_t>(range[1]));
      at = before = range[1];
    }
  }

 private:
  [[nodiscard]] auto search(std::string_view text, std::size_t at, pcre2_match_data* match) const
      -> bool {
    auto const run = [&](std::uint32_t how) {
      return pcre2_match_8(code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()), text.size(), at,
                           PCRE2_NO_UTF_CHECK | how, match, nullptr);
    };
    auto count = run(0);
    // Compiled patterns have 32 KiB to remember where they may go on; the others have memory.
    if (count == PCRE2_ERROR_JIT_STACKLIMIT) count = run(PCRE2_NO_JIT);
    if (count < 0 && count != PCRE2_ERROR_NOMATCH)
      throw text_error("pattern " + json_text(pattern_) + ": " + reason(count));
    return count >= 0;
  }
  template <auto Free> struct freed {
    void operator()(auto* p) const { Free(p); }
  };
  [[nodiscard]] static auto compiled(std::string_view pattern, int& error, PCRE2_SIZE& at,
                                     pcre2_compile_context* settings) -> pcre2_code* {
    // PCRE2 10.42 loses matches by two of its optimizations: of negated properties that follow each
    // other, and of what begins behind a lookahead.
    constexpr auto options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C |
                             PCRE2_NO_AUTO_POSSESS | PCRE2_NO_START_OPTIMIZE;
    return pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(), options,
                           &error, &at, settings);
  }
  /// False before PCRE2 10.40, in which a script is what letters are of anyway.
  [[nodiscard]] static auto is_script(std::string_view name) -> bool {
    auto error = 0;
    auto at = PCRE2_SIZE{0};
    auto const pattern = "\\p{sc:" + std::string{name} + '}';
    return std::unique_ptr<pcre2_code, freed<pcre2_code_free_8>>(
               compiled(pattern, error, at, nullptr)) != nullptr;
  }
  [[nodiscard]] static auto reason(int error) -> std::string {
    auto text = std::array<PCRE2_UCHAR8, 256>{};
    (void)pcre2_get_error_message_8(error, text.data(), text.size());
    return reinterpret_cast<char const*>(text.data());
  }

  std::string pattern_;
  std::shared_ptr<pcre2_code> code_;
};

}  // namespace tessera::detail
