// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/detail/chat_styles.hpp>
#include <tessera/text/tokenizer.hpp>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

namespace tessera {

/// What one role says in a conversation: "system", "user", "assistant" or "tool".
struct chat_turn {
  std::string role;
  std::string content;
};

/// The text of a conversation, as a model's chat template in Jinja writes it.
///
/// No Jinja runs: a template is known by its whole text. `detail::jinja_reader` brings it into a
/// form without what has no meaning (spaces in tags, quotes, comments, how outputs are cut), and
/// that form, the default system message cut out, must be one of `detail::chat_styles`. There are
/// no tools, tool calls, dates or documents. Encode the text without `add_special_tokens`; content
/// that holds a special token's text becomes that token, as in transformers, unless it goes through
/// `without_special_text`.
/// Cost    one pass over the template; render: one over the conversation
/// Errors  text_error for another template, std::invalid_argument for no turns or roles in an order
///         that the template refuses: tests/text/chat_template.cpp
/// Source  transformers' render_jinja_template: tests/reference/chat_template.py
class chat_template {
 public:
  /// `begin_text` and `end_text`: the tokens of begin and end, which Llama's templates write.
  [[nodiscard]] static auto of(std::string_view jinja, std::string_view begin_text = "",
                               std::string_view end_text = "") -> chat_template {
    if (auto const tokens = detail::jinja_reader::tokens_of(jinja))
      for (auto const& style : detail::chat_styles)
        if (auto match = detail::matched_style(style, *tokens))
          return {std::move(*match), begin_text, end_text};
    auto const dated = jinja.find("date_string") != std::string_view::npos;
    throw text_error(
        "chat template: expected one of the families chatml, qwen2.5, qwen3, llama-2 and llama-3, "
        "got " +
        std::string{dated ? "one that writes a date, as Llama 3.1's does: " : ""} +
        detail::beginning_of(jinja));
  }

  /// "chatml", "qwen2.5", "qwen3", "llama-2" or "llama-3"; Qwen2's and SmolLM2's are "chatml".
  [[nodiscard]] auto family() const -> std::string_view { return match_.style->name; }
  /// What ends a turn of the assistant.
  [[nodiscard]] auto end_of_turn() const -> std::string_view {
    using enum detail::chat_style::kind;
    if (match_.style->family == llama_2) return end_text_;
    return match_.style->family == llama_3 ? "<|eot_id|>" : "<|im_end|>";
  }
  /// What the template writes between texts, for a tokenizer to read as one token each.
  [[nodiscard]] auto marks() const -> std::vector<std::string_view> {
    using enum detail::chat_style::kind;
    auto result = std::vector<std::string_view>{"<|im_start|>", "<|im_end|>"};
    if (match_.style->family == llama_2) result = {begin_text_, end_text_};
    if (match_.style->family == llama_3)
      result = {begin_text_, "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"};
    std::erase(result, std::string_view{});
    return result;
  }
  /// What the system says where a conversation does not begin with it.
  [[nodiscard]] auto default_system() const -> std::optional<std::string> const& {
    return match_.default_system;
  }

  /// `answer_follows`: the text ends with what begins an answer (add_generation_prompt);
  /// `thinks`, for qwen3 alone: without, that answer begins with an empty thought.
  [[nodiscard]] auto render(std::span<chat_turn const> turns, bool answer_follows = true,
                            bool thinks = true) const -> std::string {
    if (turns.empty())
      throw std::invalid_argument("chat template: expected one turn at least, got none");
    answer_follows = answer_follows || match_.style->always_answers;
    using enum detail::chat_style::kind;
    if (match_.style->family == llama_2) return llama_2_text(turns);
    if (match_.style->family == llama_3) return llama_3_text(turns, answer_follows);
    auto text = std::string{};
    if (match_.default_system && turns[0].role != "system")
      append(text, "system", *match_.default_system);
    auto const last_query = last_query_of(turns);
    for (auto i = std::size_t{0}; i < turns.size(); ++i)
      append_turn(text, turns, i, i > last_query);
    if (answer_follows) text += "<|im_start|>assistant\n";
    if (answer_follows && match_.style->family == qwen3 && not thinks)
      text += "<think>\n\n</think>\n\n";
    return text;
  }

 private:
  chat_template(detail::chat_match match, std::string_view begin_text, std::string_view end_text)
      : match_(std::move(match)), begin_text_(begin_text), end_text_(end_text) {}

  static void append(std::string& text, std::string_view role, std::string_view content) {
    for (auto const piece : {std::string_view{"<|im_start|>"}, role, std::string_view{"\n"},
                             content, std::string_view{"<|im_end|>\n"}})
      text += piece;
  }
  // Those with the marks of ChatML. Qwen's know four roles, and leave others out.
  void append_turn(std::string& text, std::span<chat_turn const> turns, std::size_t i,
                   bool after_query) const {
    using enum detail::chat_style::kind;
    auto const& [role, content] = turns[i];
    auto const qwen3_answer = match_.style->family == qwen3 && role == "assistant";
    if (match_.style->family != chat_ml && role == "tool")
      append_tool(text, turns, i);
    else if (qwen3_answer)
      append_thinking(text, content, after_query, i + 1 == turns.size());
    else if (match_.style->family == chat_ml || role == "user" || role == "system" ||
             role == "assistant")
      append(text, role, content);
  }
  static void append_tool(std::string& text, std::span<chat_turn const> turns, std::size_t i) {
    if (i == 0 || turns[i - 1].role != "tool") text += "<|im_start|>user";
    text += "\n<tool_response>\n" + turns[i].content + "\n</tool_response>";
    if (i + 1 == turns.size() || turns[i + 1].role != "tool") text += "<|im_end|>\n";
  }
  // Thoughts are kept only in answers to the last query.
  static void append_thinking(std::string& text, std::string_view content, bool after_query,
                              bool last) {
    constexpr auto begin = std::string_view{"<think>"};
    constexpr auto end = std::string_view{"</think>"};
    auto thought = std::string_view{};
    if (auto const first = content.find(end); first != std::string_view::npos) {
      thought = detail::without_last_line_feeds(content.substr(0, first));
      if (auto const at = thought.rfind(begin); at != std::string_view::npos)
        thought.remove_prefix(at + begin.size());
      thought = detail::without_first_line_feeds(thought);
      content = detail::without_first_line_feeds(content.substr(content.rfind(end) + end.size()));
    }
    if (not after_query || (not last && thought.empty())) {
      append(text, "assistant", content);
      return;
    }
    auto whole = "<think>\n" + std::string{detail::without_last_line_feeds(thought)};
    whole += "\n</think>\n\n";
    whole += detail::without_first_line_feeds(content);
    append(text, "assistant", whole);
  }
  // The last turn of the user that is not what a tool gave; without one the last turn.
  [[nodiscard]] static auto last_query_of(std::span<chat_turn const> turns) -> std::size_t {
    for (auto i = turns.size(); i-- > 0;) {
      auto const& [role, content] = turns[i];
      if (role == "user" &&
          not(content.starts_with("<tool_response>") && content.ends_with("</tool_response>")))
        return i;
    }
    return turns.size() - 1;
  }

  [[nodiscard]] auto llama_2_text(std::span<chat_turn const> turns) const -> std::string {
    auto const has_system = turns[0].role == "system";
    auto const spoken = turns.subspan(has_system ? 1 : 0);
    auto text = std::string{};
    for (auto i = std::size_t{0}; i < spoken.size(); ++i) {
      auto const asks = spoken[i].role == "user";
      if (asks != (i % 2 == 0))
        throw std::invalid_argument("chat template llama-2: turn " +
                                    std::to_string(i + (has_system ? 1 : 0)) + ": expected " +
                                    (asks ? "assistant" : "user") +
                                    ", as user and assistant alternate, got " + spoken[i].role);
      auto content = spoken[i].content;
      if (i == 0 && has_system)
        content.insert(0, "<<SYS>>\n" + turns[0].content + "\n<</SYS>>\n\n");
      auto const stripped = std::string{detail::python_stripped(content)};
      if (asks)
        text += begin_text_ + "[INST] " + stripped + " [/INST]";
      else if (spoken[i].role == "assistant")
        text += " " + stripped + " " + end_text_;
    }
    return text;
  }
  [[nodiscard]] auto llama_3_text(std::span<chat_turn const> turns, bool answer_follows) const
      -> std::string {
    auto text = begin_text_;
    for (auto const& [role, content] : turns) {
      text += "<|start_header_id|>";
      text += role;
      text += "<|end_header_id|>\n\n";
      text += detail::python_stripped(content);
      text += "<|eot_id|>";
    }
    if (answer_follows) text += "<|start_header_id|>assistant<|end_header_id|>\n\n";
    return text;
  }

  detail::chat_match match_;
  std::string begin_text_;
  std::string end_text_;
};

namespace detail {

/// Where in a text tokens that are special to the model, or one of `marks`, are written out: first
/// bytes and ends.
[[nodiscard]] inline auto special_texts_of(tokenizer const& words, std::string_view text,
                                           std::span<std::string const> marks = {})
    -> std::vector<std::pair<std::size_t, std::size_t>> {
  auto letters = std::vector<std::size_t>{};  // where each begins
  for (auto at = std::size_t{0}; at < text.size(); ++at)
    if (not continues(text[at])) letters.push_back(at);
  letters.push_back(text.size());
  auto result = std::vector<std::pair<std::size_t, std::size_t>>{};
  auto const tokens = words.encode(text, {.add_special_tokens = false});
  for (auto i = std::size_t{0}; i < tokens.size(); ++i) {
    auto const name = words.token(tokens.ids[i]).value_or("");
    if (not words.is_special(tokens.ids[i]) && std::ranges::find(marks, name) == marks.end())
      continue;
    auto const begin = letters[tokens.offsets[i].begin];  // it may take spaces around it along
    auto const end = letters[tokens.offsets[i].end];
    auto const at = text.substr(begin, end - begin).find(name);
    if (at != std::string_view::npos)  // else it stands for letters that are unknown
      result.emplace_back(begin + at, begin + at + name.size());
  }
  return result;
}

}  // namespace detail

/// The first of a template's marks that a tokenizer does not read as one token: with it the model
/// sees no turns. Nothing where it reads all.
[[nodiscard]] inline auto mark_in_pieces(chat_template const& form, tokenizer const& words)
    -> std::optional<std::string> {
  for (auto const mark : form.marks())
    if (words.encode(mark, {.add_special_tokens = false}).size() != 1) return std::string{mark};
  return std::nullopt;
}

/// Whether a turn's content holds a token that is special to the model, as an end of turn.
[[nodiscard]] inline auto has_special_text(tokenizer const& words, std::string_view content)
    -> bool {
  return not detail::special_texts_of(words, detail::repaired_utf8(content)).empty();
}

/// A turn's content that holds no token which is special to the model, nor one of the marks of its
/// chat template, which a file may have as a user's: what would be one has a space behind its first
/// letter ("<|im_end|>" is "< |im_end|>"), or is left out where that does not help. For texts of
/// others than the user; bytes that are no UTF-8 are U+FFFD.
///
/// Cost    encodes the content, and once more for each time that something was found
[[nodiscard]] inline auto without_special_text(tokenizer const& words, std::string_view content,
                                               std::span<std::string const> marks = {})
    -> std::string {
  auto result = detail::repaired_utf8(content);
  for (auto breaks = true;; breaks = false) {
    auto const found = detail::special_texts_of(words, result, marks);
    if (found.empty()) return result;
    for (auto i = found.size(); i-- > 0;) {
      auto const [begin, end] = found[i];
      if (breaks)
        result.insert(begin + detail::code_point_at(result, begin).bytes, " ");
      else
        result.erase(begin, end - begin);
    }
  }
}

}  // namespace tessera
