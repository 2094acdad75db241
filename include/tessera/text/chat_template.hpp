// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/text/detail/jinja_form.hpp>
#include <tessera/text/tokenizer.hpp>

#include <span>
#include <stdexcept>

namespace tessera {

/// What one role says in a conversation: "system", "user", "assistant" or "tool".
struct chat_turn {
  std::string role;
  std::string content;
};

namespace detail {

/// Families of templates; a family whose templates are written in two ways is here twice.
struct chat_style {
  enum class kind { chat_ml, qwen2_5, qwen3, llama_2, llama_3 };

  kind family;
  std::string_view name;
  std::string_view jinja;       ///< "@default@" stands for the default system message
  bool always_answers = false;  ///< begins an answer whether asked to or not
};

inline constexpr auto default_system_mark = std::string_view{"@default@"};
inline constexpr chat_style chat_styles[] = {
    {chat_style::kind::chat_ml, "chatml", R"({% for message in messages %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})"},
    {chat_style::kind::chat_ml, "chatml",
     R"({% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}
{% for message in messages %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})"},
    {chat_style::kind::chat_ml, "chatml", R"({% for message in messages %}
{% if loop.first and messages[0].role != 'system' %}
{{ '<|im_start|>system\n@default@<|im_end|>\n' }}{% endif %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})"},
    {chat_style::kind::qwen2_5, "qwen2.5", R"({% if messages[0].role == 'system' %}
{{ '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}{% else %}
{{ '<|im_start|>system\n@default@<|im_end|>\n' }}{% endif %}
{% for message in messages %}
{% if (message.role == 'user') or (message.role == 'system' and not loop.first)
   or (message.role == 'assistant' and not message.tool_calls) %}
{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- elif message.role == 'assistant' %}
{{ '<|im_start|>' + message.role }}
{%- if message.content %}{{ '\n' + message.content }}{% endif %}
{{ '<|im_end|>\n' }}
{%- elif message.role == 'tool' %}
{% if (loop.index0 == 0) or (messages[loop.index0 - 1].role != 'tool') %}
{{ '<|im_start|>user' }}{% endif %}
{{ '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
{%- if loop.last or (messages[loop.index0 + 1].role != 'tool') %}{{ '<|im_end|>\n' }}{% endif %}
{% endif %}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})"},
    {chat_style::kind::qwen3, "qwen3", R"({% if messages[0].role == 'system' %}
{{ '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}{% endif %}
{% set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{% for message in messages[::-1] %}
{% set index = (messages|length - 1) - loop.index0 %}
{% if ns.multi_step_tool and message.role == 'user' and message.content is string
   and not(message.content.startswith('<tool_response>')
   and message.content.endswith('</tool_response>')) %}
{% set ns.multi_step_tool = false %}{% set ns.last_query_index = index %}{% endif %}{% endfor %}
{% for message in messages %}
{% if message.content is string %}{% set content = message.content %}
{% else %}{% set content = '' %}{% endif %}
{% if (message.role == 'user') or (message.role == 'system' and not loop.first) %}
{{ '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}
{%- elif message.role == 'assistant' %}
{% set reasoning_content = '' %}
{% if message.reasoning_content is string %}
{% set reasoning_content = message.reasoning_content %}
{% else %}{% if '</think>' in content %}
{% set reasoning_content =
   content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
{% set content = content.split('</think>')[-1].lstrip('\n') %}{% endif %}{% endif %}
{% if loop.index0 > ns.last_query_index %}
{% if loop.last or (not loop.last and reasoning_content) %}
{{ '<|im_start|>' + message.role + '\n<think>\n' + reasoning_content.strip('\n')
   + '\n</think>\n\n' + content.lstrip('\n') }}
{%- else %}{{ '<|im_start|>' + message.role + '\n' + content }}{% endif %}
{% else %}{{ '<|im_start|>' + message.role + '\n' + content }}{% endif %}
{{ '<|im_end|>\n' }}
{%- elif message.role == 'tool' %}
{% if loop.first or (messages[loop.index0 - 1].role != 'tool') %}{{ '<|im_start|>user' }}
{%- endif %}{{ '\n<tool_response>\n' + content + '\n</tool_response>' }}
{%- if loop.last or (messages[loop.index0 + 1].role != 'tool') %}{{ '<|im_end|>\n' }}{% endif %}
{% endif %}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %})"},
    {chat_style::kind::llama_2, "llama-2", R"({% if messages[0].role == 'system' %}
{% set loop_messages = messages[1:] %}{% set system_message = messages[0].content %}
{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}
{% for message in loop_messages %}
{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{%- endif %}
{% if loop.index0 == 0 and system_message != false %}
{% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message.content %}
{% else %}{% set content = message.content %}{% endif %}
{% if message.role == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}
{%- elif message.role == 'assistant' %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}
{% endfor %})"},
    {chat_style::kind::llama_3, "llama-3", R"({% set loop_messages = messages %}
{% for message in loop_messages %}
{% set content = '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n'
   + message.content | trim + '<|eot_id|>' %}
{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}
{%- endfor %}
{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %})"},
    {chat_style::kind::llama_3, "llama-3", R"({% set loop_messages = messages %}
{% for message in loop_messages %}
{% set content = '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n'
   + message.content | trim + '<|eot_id|>' %}
{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}
{%- endfor %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }})",
     true},
};

struct chat_match {
  chat_style const* style = nullptr;
  std::optional<std::string> default_system;
};
/// Whether a template says what the style says, any default system message aside.
[[nodiscard]] inline auto matched_style(chat_style const& style, jinja_tokens const& tokens)
    -> std::optional<chat_match> {
  auto const expected = jinja_reader::tokens_of(style.jinja).value();
  if (expected.size() != tokens.size()) return std::nullopt;
  auto result = chat_match{&style, std::nullopt};
  for (auto i = std::size_t{0}; i < tokens.size(); ++i) {
    auto const whole = std::string_view{expected[i].text};
    auto const got = std::string_view{tokens[i].text};
    auto const mark = whole.find(default_system_mark);
    if (expected[i].is_literal != tokens[i].is_literal) return std::nullopt;
    if (mark == std::string_view::npos) {
      if (got != whole) return std::nullopt;
      continue;
    }
    auto const before = whole.substr(0, mark);
    auto const after = whole.substr(mark + default_system_mark.size());
    if (got.size() < before.size() + after.size() || not got.starts_with(before) ||
        not got.ends_with(after))
      return std::nullopt;
    result.default_system = got.substr(before.size(), got.size() - before.size() - after.size());
  }
  return result;
}

/// What Python's strip takes for white space.
inline constexpr std::string_view python_spaces[] = {
    " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\x1C",   "\x1D",
    "\x1E",   "\x1F",   "\u0085", "\u00A0", "\u1680", "\u2000", "\u2001", "\u2002",
    "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200A",
    "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"};
[[nodiscard]] inline auto python_stripped(std::string_view text) -> std::string_view {
  auto const begins = [&](std::string_view space) { return text.starts_with(space); };
  auto const ends = [&](std::string_view space) { return text.ends_with(space); };
  for (auto found = std::ranges::find_if(python_spaces, begins); found != std::end(python_spaces);
       found = std::ranges::find_if(python_spaces, begins))
    text.remove_prefix(found->size());
  for (auto found = std::ranges::find_if(python_spaces, ends); found != std::end(python_spaces);
       found = std::ranges::find_if(python_spaces, ends))
    text.remove_suffix(found->size());
  return text;
}
[[nodiscard]] inline auto without_first_line_feeds(std::string_view text) -> std::string_view {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}
[[nodiscard]] inline auto without_last_line_feeds(std::string_view text) -> std::string_view {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

/// The beginning of a template, in one line of ASCII.
[[nodiscard]] inline auto beginning_of(std::string_view jinja) -> std::string {
  auto result = std::string{jinja.substr(0, 60)};
  for (auto& c : result)
    if (c < ' ' || c > '~') c = c == '\n' ? ' ' : '?';
  return '"' + result + (jinja.size() > 60 ? "...\"" : "\"");
}

}  // namespace detail

/// The text of a conversation, as a model's chat template in Jinja writes it.
///
/// No Jinja runs: a template is known by its whole text. `detail::jinja_reader` brings it into a
/// form without what has no meaning (spaces in tags, quotes, comments, how outputs are cut), and
/// that form, the default system message cut out, must be one of `detail::chat_styles`. There are
/// no tools, tool calls, dates or documents. Encode the text without `add_special_tokens`; content
/// that holds a special token's text becomes that token, as in transformers: `has_special_text`.
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
    switch (match_.style->family) {
      case llama_2:
        return llama_2_text(turns);
      case llama_3:
        return llama_3_text(turns, answer_follows);
      case chat_ml:
        break;
      case qwen2_5:
        break;
      case qwen3:
        break;
    }
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
        content = "<<SYS>>\n" + turns[0].content + "\n<</SYS>>\n\n" + content;
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
      text += "<|start_header_id|>" + role + "<|end_header_id|>\n\n";
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

/// Whether a turn's content holds a token that is special to the model, as an end of turn.
[[nodiscard]] inline auto has_special_text(tokenizer const& words, std::string_view content)
    -> bool {
  auto const found = words.encode(content, {.add_special_tokens = false});
  return std::ranges::any_of(found.ids, [&](std::uint32_t id) { return words.is_special(id); });
}

}  // namespace tessera
