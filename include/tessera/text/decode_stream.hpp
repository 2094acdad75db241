// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/tokenizer.hpp>

namespace tessera {

/// Tokens to text as they come, never half a code point.
///
/// What `put` and at last `finish` return is together what `decode` gives for all tokens. Where
/// that is known only at the end, as for a decoder that strips the end of the text, `finish`
/// returns all. One exception: a run of byte tokens ("<0x0A>") of which the first are UTF-8 is
/// given as soon as they are; `decode` has U+FFFD for all of the run where a later byte breaks it.
/// State  the tokens whose text is not there yet, and whether there was text before them
class decode_stream {
 public:
  explicit decode_stream(tokenizer const& words, bool skip_special = true)
      : words_(&words), skip_special_(skip_special) {}

  /// The text that is whole with this token, often none.
  [[nodiscard]] auto put(std::uint32_t id) -> std::string {
    auto const& decoding = words_->parts_.decoding;
    if (decoding.is_only_bytes()) return put_bytes(words_->bytes_of(id, skip_special_));
    if (not words_->names_.contains(id) || (skip_special_ && words_->special_[id])) return {};
    waiting_.emplace_back(words_->names_.text(id));
    if (decoding.needs_all()) return {};
    auto text = decoding.text(waiting_, {.first = first_, .last = false});
    auto const open = text.ends_with("\xEF\xBF\xBD") && waiting_.size() < most_waiting;
    if (open || text.empty()) return {};
    first_ = false;
    waiting_.clear();
    return text;
  }
  /// What is left, bytes that are no UTF-8 replaced; the stream begins anew.
  [[nodiscard]] auto finish() -> std::string {
    auto text = detail::repaired_utf8(std::exchange(bytes_, {}));
    if (not waiting_.empty())
      text = words_->parts_.decoding.text(std::exchange(waiting_, {}), {.first = first_});
    first_ = true;
    return text;
  }

 private:
  // Tokens that may still become a code point; bytes alone are four at most.
  static constexpr auto most_waiting = std::size_t{16};

  [[nodiscard]] auto put_bytes(std::string_view more) -> std::string {
    bytes_ += more;
    auto const whole = detail::whole_code_points(bytes_);
    auto text = detail::repaired_utf8(std::string_view{bytes_}.substr(0, whole));
    bytes_.erase(0, whole);
    return text;
  }

  tokenizer const* words_;
  bool skip_special_;
  bool first_ = true;
  detail::token_texts waiting_;
  std::string bytes_;
};

}  // namespace tessera
