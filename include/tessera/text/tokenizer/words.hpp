// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer/aligned_text.hpp>

namespace tessera::detail {

/// The patterns of well-known models, which are matched here by hand.
inline constexpr auto gpt2_pattern = std::string_view{
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"};
inline constexpr auto llama3_pattern = std::string_view{
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
inline constexpr auto qwen2_pattern = std::string_view{
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

/// Goes over a text by runs of one kind of code point.
class kind_runs {
 public:
  explicit kind_runs(std::string_view text) : text_(text) {}

  [[nodiscard]] auto size() const -> std::uint32_t {
    return static_cast<std::uint32_t>(text_.size());
  }
  [[nodiscard]] auto is(std::uint32_t at, char c) const -> bool {
    return at < text_.size() && text_[at] == c;
  }
  [[nodiscard]] auto kind_at(std::uint32_t at) const -> kind {
    auto const lead = byte_at(text_, at);
    return lead < 128 ? ascii_kinds[lead] : kind_of_any(code_point_at(text_, at).value);
  }
  [[nodiscard]] auto after(std::uint32_t at) const -> std::uint32_t {
    return at + (byte_at(text_, at) < 128 ? 1 : code_point_at(text_, at).bytes);
  }
  /// The end of the code points of kind `K` from `at` on, `most` at most.
  template <kind K>
  [[nodiscard]] auto run(std::uint32_t at, std::uint32_t most = ~0U) const -> std::uint32_t {
    for (; at < text_.size() && most > 0 && kind_at(at) == K; --most) at = after(at);
    return at;
  }
  [[nodiscard]] auto newlines(std::uint32_t at) const -> std::uint32_t {
    while (is(at, '\r') || is(at, '\n')) ++at;
    return at;
  }
  /// \s+(?!\S)|\s+ where the run of spaces ends at `end`: the last one is left for what follows.
  [[nodiscard]] auto spaces(std::uint32_t begin, std::uint32_t end) const -> std::uint32_t {
    if (end == text_.size()) return end;
    auto const last = end - code_point_before(text_, end).bytes;
    return last > begin ? last : end;
  }
  /// The end of 's, 't, 're, 've, 'm, 'll or 'd, whose quote is at `at`; `at` where there is none.
  template <bool AnyCase> [[nodiscard]] auto contraction(std::uint32_t at) const -> std::uint32_t {
    auto const letter = [&](std::uint32_t i) -> unsigned char {
      if (i >= text_.size()) return 0;
      auto const c = byte_at(text_, i);
      return AnyCase && c >= 'A' && c <= 'Z' ? static_cast<unsigned char>(c | 0x20U) : c;
    };
    auto const a = letter(at + 1);
    auto const b = letter(at + 2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
    if ((b == 'e' && (a == 'r' || a == 'v')) || (a == 'l' && b == 'l')) return at + 3;
    // The long s, whose capital is S.
    if (AnyCase && a == 0xC5 && b == 0xBF) return at + 3;
    return at;
  }

 private:
  std::string_view text_;
};

/// The end of the word of GPT-2's pattern that begins at `at`.
[[nodiscard]] inline auto gpt2_word(kind_runs const& text, std::uint32_t at) -> std::uint32_t {
  if (text.is(at, '\'')) {
    if (auto const end = text.contraction<false>(at); end > at) return end;
  }
  auto const first = text.is(at, ' ') && at + 1 < text.size() ? at + 1 : at;
  switch (text.kind_at(first)) {
    case kind::letter:
      return text.run<kind::letter>(first);
    case kind::number:
      return text.run<kind::number>(first);
    case kind::other:
      return text.run<kind::other>(first);
    case kind::space:
      break;
  }
  return text.spaces(at, text.run<kind::space>(at));
}

/// The end of the word of Llama 3's pattern that begins at `at`, with `Digits` in a number at most;
/// Qwen 2's has one.
template <std::uint32_t Digits>
[[nodiscard]] auto llama3_word(kind_runs const& text, std::uint32_t at) -> std::uint32_t {
  if (text.is(at, '\'')) {
    if (auto const end = text.contraction<true>(at); end > at) return end;
  }
  auto const first = text.kind_at(at);
  if (first == kind::letter) return text.run<kind::letter>(at);
  if (first == kind::number) return text.run<kind::number>(at, Digits);
  auto const next = text.after(at);
  auto const newline = text.is(at, '\r') || text.is(at, '\n');
  if (not newline && next < text.size() && text.kind_at(next) == kind::letter)
    return text.run<kind::letter>(next);
  if (first == kind::other) return text.newlines(text.run<kind::other>(at));
  if (text.is(at, ' ') && next < text.size() && text.kind_at(next) == kind::other)
    return text.newlines(text.run<kind::other>(next));
  auto const end = text.run<kind::space>(at);
  for (auto last = end; last > at; --last)
    if (text.is(last - 1, '\r') || text.is(last - 1, '\n')) return last;
  return text.spaces(at, end);
}

}  // namespace tessera::detail
